// SPDX-License-Identifier: Apache-2.0
// RestoreBest: restores the best of ranked checkpoints at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hooks/kit/aim.hpp>
#include <crochet/hooks/kit/saves_checkpoints.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// A checkpoint and its metric.
struct RankedCheckpoint {
  std::string path;
  double value;
  std::int64_t step;
};

namespace detail {

/// Restores the variables of the checkpoint. Hooks keep their state if the saver can restore variables alone.
CROCHET_COLD void restore_weights(auto& saver, auto& session, const std::string& path) {
  if constexpr (requires { saver.restore_variables(session, path); }) {
    saver.restore_variables(session, path);
  } else {
    saver.restore(session, path);
  }
}
/// "PATH: best accuracy 0.91 (highest) at step 3200"; for a rank above 0 "PATH: accuracy 0.9 (highest but 1) at step
/// 2800".
// As a float: the mean of floats has no more digits that mean anything.
inline std::string ranked_text(const RankedCheckpoint& c, const std::string& metric, Aim aim, std::ptrdiff_t rank) {
  const std::string but = rank == 0 ? ")" : " but " + std::to_string(rank) + ")";
  return c.path + (rank == 0 ? ": best " : ": ") + metric + " " + value_text(static_cast<float>(c.value)) + " (" +
         std::string(aim.text()) + but + " at step " + std::to_string(c.step);
}

}  // namespace detail

/// Restores the variables of the best checkpoint in `end`. Made by BestCheckpoint::restore_at_end.
/// - List it behind the CheckpointSaver, which would save the older weights as the newest: a chain with it in front
/// does
///   not compile. A MonitoredTrainingSession saves last, so it cannot have it.
/// - Fires: at the end, if there is a best checkpoint.
/// - Fetches: nothing.
/// - The global step: restored if it is a variable of the executor. Otherwise Saver sets the session's step, and
///   MemorySaver leaves it unchanged.
/// - A missing or damaged checkpoint is reported, and the next best is restored. If none is left, `end` throws the
///   error of the last one. A CheckpointMismatchError propagates at once.
/// - On several ranks: rank 0 restores, and all ranks get its variables and step.
/// - Cost: one restore, and on several ranks a broadcast.
template <class Saver>
struct RestoreBest {
  using handles = Phases<phase::end>;
  using after = Hooks<SavesCheckpoints>;

  Saver saver;
  std::shared_ptr<const std::vector<RankedCheckpoint>> kept;
  std::string metric;
  Aim aim;
  Sink sink{};

  void end(auto& session) {
    if constexpr (requires { session.executor().ranks(); }) {
      auto& ranks = session.executor().ranks();
      if (ranks.is_chief()) restore(session);
      ranks.share_weights(session);
    } else {
      restore(session);
    }
  }

  [[nodiscard]] std::string cadence() const { return "at the end"; }

 private:
  void restore(auto& session) {
    for (std::size_t rank = 0; rank < kept->size(); ++rank) {
      const RankedCheckpoint& checkpoint = (*kept)[rank];
      try {
        detail::restore_weights(saver, session, checkpoint.path);
        sink("crochet: restored " + detail::ranked_text(checkpoint, metric, aim, static_cast<std::ptrdiff_t>(rank)));
        return;
      } catch (const CheckpointMismatchError&) {
        throw;  // another model: the other checkpoints have the same mismatch
      } catch (const Error& error) {
        sink("crochet: RestoreBest: " + checkpoint.path + " cannot be restored: " + error.what());
        if (rank + 1 == kept->size()) throw;
      }
    }
  }
};

}  // namespace crochet
