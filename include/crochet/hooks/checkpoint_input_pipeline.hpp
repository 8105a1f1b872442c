// SPDX-License-Identifier: Apache-2.0
// CheckpointInputPipeline: saves the position of the data source in checkpoints.
#pragma once

#include <crochet/base/config.hpp>

#include <cstdint>
#include <utility>

#include <crochet/hook/epochs.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// Saves and restores the position of a data source with the session, so that a resumed run gets the same batches:
///   Batches data = fashion_mnist("train").batch(128).shuffle(1).repeat();
///   HookChain{CheckpointInputPipeline{data}, ..., CheckpointSaver{saver, {.save_secs = 600}}}
/// - source: borrowed, must outlive the hook. It has `position()` with `epoch` and `batch`, and `seek(position)`, as
///   Batches has; or its own save_state and load_state.
/// - The saved position is the one after the run's batch was taken. Take each batch right before its run, on the same
///   thread. In a session that recovers, take it inside run_step_fn() or FeedFn: a repeated run() has the batch that
///   the caller passed (docs/sessions.md, Recovery).
/// - A recovery that restores no checkpoint and begins the training anew, at an earlier step, sets the source to the
///   position of the first session; not a source without position().
/// - The session counts the epochs of the source: `.every_epochs` of other hooks, StopAtEpoch, run.epoch().
/// - On several ranks a rank may have taken a batch for a run that the others do not make, because one of them ends the
///   loop. The saved position is then the one before that batch.
/// - Fires: only in save_state, in load_state and when a session is created; on several ranks also after a run.
/// - Fetches: nothing. Cost: none.
/// - Throws: what the source throws; LogicError if the saved position is outside the data.
/// - TensorFlow's hook of this name saves an iterator into separate files.
template <class Source>
class CheckpointInputPipeline {
 public:
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::after_run, phase::save_state, phase::load_state>;

  explicit(false) CheckpointInputPipeline(Source& source) : source_(&source) {}

  /// The source, for the session's count of epochs.
  [[nodiscard]] EpochSource epoch_source() const requires CountsEpochs<Source> { return EpochSource{*source_}; }

  void begin() {
    if constexpr (has_position) applied_.session = nullptr, first_ = {};  // of an earlier session
  }
  template <class Session>
  void after_create_session(Session& session, auto& /*coordinator*/) {
    if constexpr (has_position) begin_at(session);
    if constexpr (on_ranks<Session> && has_position) {
      applied_.session = &session;
      applied_.step_of = [](const void* s) { return static_cast<const Session*>(s)->step(); };
      applied_.note(session.step(), source_->position());
    }
  }
  template <class Run>
  void after_run(Run& run, auto& /*values*/) {
    if constexpr (on_ranks<decltype(run.session())> && has_position) applied_.note(run.step(), source_->position());
  }

  void save_state(auto& out) const {
    if constexpr (has_position) {
      const auto position = applied_.is_current() ? applied_.position : source_->position();
      out.put("epoch", position.epoch);
      out.put("batch", position.batch);
    } else {
      std::as_const(*source_).save_state(out);
    }
  }
  void load_state(auto& in) {
    if constexpr (has_position) {
      auto position = source_->position();
      if (in.get("epoch", position.epoch) && in.get("batch", position.batch)) {
        source_->seek(position);
        first_.loaded = true;
      }
    } else {
      source_->load_state(in);
    }
  }

 private:
  static constexpr bool has_position = requires(Source & source) { source.position(); };
  template <class Session>
  static constexpr bool on_ranks = requires(Session& session) {
    session.executor().ranks();
  };

  /// The position behind the last run. Current unless a further run is over.
  template <class Position>
  struct Applied {
    const void* session = nullptr;
    std::int64_t (*step_of)(const void*) = nullptr;
    std::int64_t step = 0;
    Position position{};

    void note(std::int64_t at, const Position& behind) { step = at, position = behind; }
    [[nodiscard]] bool is_current() const { return session != nullptr && step_of(session) == step; }
  };
  /// The position of the first session, at its step.
  template <class Position>
  struct First {
    bool known = false, loaded = false;  ///< loaded: a checkpoint, for the session that is created
    std::int64_t step = 0;
    Position position{};
  };
  template <class Position>
  struct NoPosition {};
  template <template <class> class Kept>
  static constexpr auto kept() {
    if constexpr (has_position) {
      return Kept<decltype(std::declval<Source&>().position())>{};
    } else {
      return NoPosition<Source>{};
    }
  }

  /// A session that begins at the step of the first one, without a checkpoint and behind one that was lost later, has
  /// the data of that step.
  template <class Session>
  CROCHET_COLD void begin_at(Session& session) {
    const bool restored = session.creation() > 1 && is_loaded(session);
    if (!first_.known) {
      first_ = {.known = true, .step = session.step(), .position = source_->position()};
    } else if (session.step() == first_.step && session.lost_at() > first_.step && !restored) {
      source_->seek(first_.position);
    }
    first_.loaded = false;
  }
  /// On several ranks, collective: rank 0 restores, and passes its state to the others.
  template <class Session>
  [[nodiscard]] bool is_loaded(Session& session) const {
    if constexpr (on_ranks<Session>) {
      auto& ranks = session.executor().ranks();
      return ranks.any_of(ranks.is_chief() && first_.loaded ? 1 : 0) != 0;
    } else {
      return first_.loaded;
    }
  }

  Source* source_;
  CROCHET_NO_UNIQUE_ADDRESS decltype(kept<Applied>()) applied_{};
  CROCHET_NO_UNIQUE_ADDRESS decltype(kept<First>()) first_{};
};

}  // namespace crochet
