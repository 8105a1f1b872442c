// SPDX-License-Identifier: Apache-2.0
// BestCheckpoint: keeps the checkpoints with the best values of a metric, and can end with the best of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <crochet/config.hpp>
#include <crochet/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hooks/early_stopping.hpp>
#include <crochet/hooks/metric_channel.hpp>
#include <crochet/hooks/sink.hpp>
#include <crochet/hooks/value_text.hpp>

namespace crochet {

/// A checkpoint and what it is worth.
struct RankedCheckpoint {
  std::string path;
  double value;
  std::int64_t step;
};

struct BestCheckpointOptions {
  std::int64_t keep = 1;
  Aim mode = Aim::highest;
  bool restore_at_end = false;
  Sink sink{};
};

/// Saves after an evaluation whose metric is among the best, and removes the checkpoint that falls out:
///   BestCheckpoint{saver, metrics, "accuracy", {.keep = 3, .restore_at_end = true}}
///   saver           -            has save(session, step), which returns the path, restore(session, path), remove(path)
///   metrics         -            the channel to which the evaluator publishes; it must stand before this hook
///   metric          -            its name there; after_run throws LogicError if others are published, but not this one
///   keep            1            so many checkpoints; at least 1, else begin throws LogicError
///   mode            highest      which values are the better ones; of equal ones the earlier; NaN is never kept
///   restore_at_end  false        `end` puts the best one's variables back, for hooks behind this one and the program
///   sink            std. error   is told of each save and of the restore
/// Fires: after a run in which the metric was published for that step; one of another step belongs to weights that are
/// gone: it is reported once and not saved. Fetches: nothing. Cost: one load; a save now and then. State: the kept
/// paths, their values and steps. Throws what the saver throws; what is kept already stays. A path is removed only when
/// a better one is saved. The original has it as BestExporter, for exports after an evaluation.
template <class Saver>
class BestCheckpoint {
 public:
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run, phase::end, phase::save_state,
                         phase::load_state>;

  BestCheckpoint(Saver saver, MetricChannel metrics, std::string metric, BestCheckpointOptions options = {})
      : saver_(std::move(saver)),
        metrics_(std::move(metrics)),
        metric_(std::move(metric)),
        options_(std::move(options)) {}

  /// What is kept, the best first.
  [[nodiscard]] const std::vector<RankedCheckpoint>& kept() const { return kept_; }
  [[nodiscard]] Saver& saver() { return saver_; }

  void begin() {
    if (options_.keep < 1) throw LogicError("crochet: BestCheckpoint: keep has to be at least 1");
    kept_.clear();
    seen_ = metrics_.version();
    complained_ = false;
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    if (metrics_.version() != seen_) look(session);  // published by an evaluation when the session was created
  }
  void after_run(auto& run, const auto& /*values*/) {
    if (metrics_.version() != seen_) [[unlikely]] {
      look(run.session());
    }
  }
  void end(auto& session) {
    if (metrics_.version() != seen_) look(session);  // published by an evaluation at the end
    if (!options_.restore_at_end || kept_.empty()) return;
    if constexpr (requires { saver_.restore_variables(session, kept_.front().path); }) {
      saver_.restore_variables(session, kept_.front().path);  // hooks keep the state that they have
    } else {
      saver_.restore(session, kept_.front().path);
    }
    options_.sink("crochet: restored " + text(kept_.front()));
  }

  void save_state(auto& out) const {
    std::vector<std::string> paths;
    std::vector<double> values;
    std::vector<std::int64_t> steps;
    for (const RankedCheckpoint& c : kept_) {
      paths.push_back(c.path);
      values.push_back(c.value);
      steps.push_back(c.step);
    }
    out.put("paths", paths);
    out.put("values", values);
    out.put("steps", steps);
  }
  void load_state(auto& in) {
    std::vector<std::string> paths;
    std::vector<double> values;
    std::vector<std::int64_t> steps;
    if (!in.get("paths", paths) || !in.get("values", values) || !in.get("steps", steps)) return;
    kept_.clear();
    for (std::size_t i = 0; i < std::min({paths.size(), values.size(), steps.size()}); ++i) {
      kept_.push_back({paths[i], values[i], steps[i]});
    }
  }

  [[nodiscard]] std::string cadence() const { return "when " + metric_ + " is published"; }

 private:
  CROCHET_COLD void look(auto& session) {
    seen_ = metrics_.version();
    const auto news = metrics_.latest(metric_);
    if (!news || ranked(news->step)) return;
    if (news->step != session.step()) return complain(news->step, session.step());
    const auto rank = rank_of(news->value);
    if (rank >= options_.keep) return;
    RankedCheckpoint saved{path_text(saver_.save(session, news->step)), news->value, news->step};
    options_.sink("crochet: saved " + text(saved));
    kept_.insert(kept_.begin() + rank, std::move(saved));
    drop_worst();
  }
  void drop_worst() {
    while (static_cast<std::int64_t>(kept_.size()) > options_.keep) {
      const std::string path = std::move(kept_.back().path);
      kept_.pop_back();
      saver_.remove(path);
    }
  }
  [[nodiscard]] bool ranked(std::int64_t step) const {
    return std::any_of(kept_.begin(), kept_.end(), [&](const auto& c) { return c.step == step; });
  }
  [[nodiscard]] std::ptrdiff_t rank_of(double value) const {
    if (value != value) return options_.keep;
    const auto worse = [&](const RankedCheckpoint& c) {
      return options_.mode == Aim::highest ? c.value < value : c.value > value;
    };
    return std::find_if(kept_.begin(), kept_.end(), worse) - kept_.begin();
  }
  void complain(std::int64_t published, std::int64_t step) {
    if (std::exchange(complained_, true)) return;
    options_.sink("crochet: BestCheckpoint: " + metric_ + " of step " + std::to_string(published) +
                  " is seen at step " + std::to_string(step) +
                  ", when those weights are gone; put the evaluator before this hook");
  }
  template <class Path>
  static std::string path_text(const Path& path) {
    if constexpr (requires { path.string(); }) {
      return path.string();
    } else {
      return std::string(path);
    }
  }
  [[nodiscard]] std::string text(const RankedCheckpoint& c) const {
    return c.path + ", " + metric_ + " = " + detail::value_text(c.value) + " of step " + std::to_string(c.step);
  }

  Saver saver_;
  MetricChannel metrics_;
  std::string metric_;
  BestCheckpointOptions options_;
  std::vector<RankedCheckpoint> kept_;
  std::uint64_t seen_ = 0;
  bool complained_ = false;
};

}  // namespace crochet
