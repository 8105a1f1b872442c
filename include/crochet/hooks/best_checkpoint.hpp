// SPDX-License-Identifier: Apache-2.0
// BestCheckpoint: keeps the checkpoints with the best values of a metric.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/kit/aim.hpp>
#include <crochet/hooks/kit/metric_cursor.hpp>
#include <crochet/hooks/kit/restore_best.hpp>

namespace crochet {

struct BestCheckpointOptions {
  Aim aim;  ///< required
  std::int64_t keep = 1;
  Sink sink{};
};

/// Saves after an evaluation whose metric is among the best, and removes the checkpoint that drops out of the ranking:
///   BestCheckpoint best{Saver{"out/best", {.max_to_keep = 0}}, metrics, "accuracy",
///                       {.aim = Aim::highest, .keep = 3}};
///   HookChain{Evaluate{..., {.then = metrics}}, best, CheckpointSaver{...}, best.restore_at_end()}
///   saver    -          has save(session, step), which returns the path, restore(session, path), remove(path) and
///                       optionally has(path), make_latest(path), so that a Predictor takes the best; a saver of its
///                       own with a folder of its own, which keeps every save: begin throws LogicError if its
///                       options().max_to_keep is set and not above `keep`
///   metrics  -          the channel to which the evaluator publishes; the evaluator stands before this hook, else the
///                       chain does not compile
///   metric   -          its name in the channel; after_run throws LogicError if only other metrics are published
///   aim      -          required: Aim::highest for an accuracy, Aim::lowest for a loss; of equal values the earlier is
///                       the better; NaN is never kept
///   keep     1          number of checkpoints to keep; below 1, begin throws LogicError
///   sink     std. error receives a line for each save
/// - Fires: after a run, when the session is created, and in `end`, if the metric was published for the current step
///   since the last check. A metric of another step is reported once and not saved, since the weights of that step no
///   longer exist.
/// - Fetches: nothing.
/// - Cost: one load per run; a save for each ranked value.
/// - State: the kept paths, their values and steps, and the channel's history (MetricCursor). A checkpoint that does
///   not exist when the state is loaded is reported and dropped. An interrupted and resumed session ranks the same
///   steps as an uninterrupted one. After a recovery that initializes anew the checkpoints of the lost training stay
///   ranked; at the step of one of them a better value replaces it.
/// - Throws: what the saver throws; checkpoints kept before stay. A path is removed only after a better one is saved.
/// - Copies share the kept checkpoints, as they share the folder.
/// - TensorFlow: BestExporter, for exports after an evaluation.
template <class Saver>
class BestCheckpoint {
 public:
  static constexpr auto runs_on = RunsOn::chief;
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run, phase::end, phase::save_state,
                         phase::load_state>;
  using after = Hooks<PublishesMetrics>;

  BestCheckpoint(Saver saver, MetricChannel metrics, std::string metric, BestCheckpointOptions options)
      : saver_(std::move(saver)),
        metrics_(std::move(metrics)),
        metric_(std::move(metric)),
        options_(std::move(options)) {}
  /// The options are required.
  BestCheckpoint(Saver, MetricChannel, std::string) = delete;  // crochet: set .aim: Aim::lowest or Aim::highest
  /// The kept checkpoints, the best first.
  [[nodiscard]] const std::vector<RankedCheckpoint>& kept() const { return *kept_; }
  /// Returns the hook that restores the best checkpoint at the end.
  [[nodiscard]] RestoreBest<Saver> restore_at_end() const {
    return {saver_, kept_, metric_, options_.aim, options_.sink};
  }
  [[nodiscard]] Saver& saver() { return saver_; }
  [[nodiscard]] const std::string& metric() const { return metric_; }
  [[nodiscard]] Aim aim() const { return options_.aim; }

  void begin() {
    if (options_.keep < 1) throw LogicError("crochet: BestCheckpoint: keep has to be at least 1");
    require_room();
    kept_->clear();
    lost_.clear();
    cursor_.begin(metrics_);
    complained_ = false;
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    cursor_.open(metrics_, session);
    note_lost(session.step());
    drop_worst();  // fewer are kept than in an earlier session
    // Published by an evaluation when the session was created, or by an earlier session.
    if (cursor_.has_news(metrics_)) look(session, [](auto, auto) {});
  }
  void after_run(auto& run, const auto& /*values*/) {
    if (cursor_.has_news(metrics_)) [[unlikely]] {
      look(run.session());
    }
  }
  void end(auto& session) {
    if (cursor_.has_news(metrics_)) look(session);  // published by an evaluation at the end
  }

  void save_state(auto& out) const {
    std::vector<std::string> paths;
    std::vector<double> values;
    std::vector<std::int64_t> steps;
    for (const RankedCheckpoint& c : *kept_) {
      paths.push_back(c.path);
      values.push_back(c.value);
      steps.push_back(c.step);
    }
    out.put("metric", metric_);
    out.put("paths", paths);
    out.put("values", values);
    out.put("steps", steps);
    cursor_.save_state(metrics_, out);
  }
  void load_state(auto& in) {
    std::vector<std::string> paths;
    std::vector<double> values;
    std::vector<std::int64_t> steps;
    cursor_.load_state(metrics_, in);
    std::string metric = metric_;  // of a checkpoint without it: this one
    in.get("metric", metric);
    if (!in.get("paths", paths) || !in.get("values", values) || !in.get("steps", steps)) return;
    kept_->clear();
    if (metric != metric_)
      return options_.sink("crochet: BestCheckpoint: those of " + metric + " are not ranked by " + metric_);
    for (std::size_t i = 0; i < std::min({paths.size(), values.size(), steps.size()}); ++i) {
      if constexpr (requires { saver_.here(paths[i]); }) paths[i] = path_text(saver_.here(paths[i]));
      keep_again({paths[i], values[i], steps[i]});
    }
  }

  [[nodiscard]] std::string cadence() const {
    return "when " + metric_ + " is published (best: " + std::string(options_.aim.text()) + ")";
  }

 private:
  /// A save comes before the removal of the worst, so there is one checkpoint more for a moment.
  void require_room() const {
    if constexpr (requires { saver_.options().max_to_keep; }) {
      if (saver_.options().max_to_keep <= 0 || saver_.options().max_to_keep > options_.keep) return;
      throw LogicError(
          "crochet: BestCheckpoint: the saver would remove checkpoints of the ranking; give it max_to_keep = 0");
    }
  }
  CROCHET_COLD void look(auto& session) {
    look(session, [this](std::int64_t published, std::int64_t step) { complain(published, step); });
  }
  CROCHET_COLD void look(auto& session, auto is_late) {
    const auto news = cursor_.next(metrics_, metric_);
    if (!news || ranked(*news)) return;
    if (news->step != session.step()) return is_late(news->step, session.step());
    const auto rank = rank_of(news->value);
    if (rank >= options_.keep) return;
    RankedCheckpoint saved{path_text(saver_.save(session, news->step)), news->value, news->step};
    drop_lost(saved);
    options_.sink("crochet: saved " + detail::ranked_text(saved, metric_, options_.aim, rank));
    kept_->insert(kept_->begin() + rank, std::move(saved));
    if (rank != 0) make_latest(kept_->front().path);
    drop_worst();
  }
  /// A reader of the folder, such as a Predictor, takes the latest checkpoint: that is the best, not the last save.
  void make_latest(const std::string& path) {
    if constexpr (requires { saver_.make_latest(path); }) saver_.make_latest(path);
  }
  /// Ranks a checkpoint of an earlier session by the aim of this one.
  void keep_again(RankedCheckpoint checkpoint) {
    if (!there(checkpoint.path)) {
      options_.sink("crochet: BestCheckpoint: " + checkpoint.path + " is not there any more");
    } else if (checkpoint.value == checkpoint.value) {
      kept_->insert(kept_->begin() + place_of(checkpoint.value), std::move(checkpoint));
    }
  }
  /// A killed run may have removed the file after its state was saved. True if the saver has no `has`.
  [[nodiscard]] bool there(const std::string& path) const {
    if constexpr (requires { saver_.has(path); }) {
      return saver_.has(path);
    } else {
      return true;
    }
  }
  void drop_worst() {
    while (static_cast<std::int64_t>(kept_->size()) > options_.keep) {
      const std::string path = std::move(kept_->back().path);
      kept_->pop_back();
      saver_.remove(path);
    }
  }
  /// Whether the step is ranked: by this training, or by a lost one with a value that is not worse.
  [[nodiscard]] bool ranked(const MetricChannel::Entry& news) const {
    const auto decides = [&](const RankedCheckpoint& c) {
      return c.step == news.step && !(lost(c.step) && options_.aim.better(news.value, c.value));
    };
    return std::any_of(kept_->begin(), kept_->end(), decides);
  }
  /// After a recovery: the ranked steps that the session has not reached are those of the lost training.
  void note_lost(std::int64_t step) {
    lost_.clear();
    for (const RankedCheckpoint& c : *kept_) {
      if (c.step > step) lost_.push_back(c.step);
    }
  }
  [[nodiscard]] bool lost(std::int64_t step) const {
    return std::find(lost_.begin(), lost_.end(), step) != lost_.end();
  }
  /// Removes the lost checkpoint of the step that was saved again. It is worse, so it stands behind the new rank.
  void drop_lost(const RankedCheckpoint& saved) {
    const auto old = std::find_if(kept_->begin(), kept_->end(), [&](const auto& c) { return c.step == saved.step; });
    if (old == kept_->end()) return;
    const std::string path = std::move(old->path);
    kept_->erase(old);
    lost_.erase(std::find(lost_.begin(), lost_.end(), saved.step));
    if (path != saved.path) saver_.remove(path);
  }
  [[nodiscard]] std::ptrdiff_t rank_of(double value) const {
    return value == value ? place_of(value) : static_cast<std::ptrdiff_t>(options_.keep);
  }
  /// The position before the first worse checkpoint: of equal values the earlier is the better.
  [[nodiscard]] std::ptrdiff_t place_of(double value) const {
    const auto worse = [&](const RankedCheckpoint& c) { return options_.aim.better(value, c.value); };
    return std::find_if(kept_->begin(), kept_->end(), worse) - kept_->begin();
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

  Saver saver_;
  MetricChannel metrics_;
  std::string metric_;
  BestCheckpointOptions options_;
  std::shared_ptr<std::vector<RankedCheckpoint>> kept_ = std::make_shared<std::vector<RankedCheckpoint>>();
  MetricCursor cursor_;
  std::vector<std::int64_t> lost_;  // ranked steps of a training that was lost
  bool complained_ = false;
};

}  // namespace crochet
