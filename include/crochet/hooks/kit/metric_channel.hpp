// SPDX-License-Identifier: Apache-2.0
// MetricChannel: an evaluator's metrics, for the hooks that act on them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/hooks/kit/metric_history.hpp>

namespace crochet {

/// The history of named metrics. Evaluators publish; stop_if_*, BestCheckpoint and ReduceOnMetricPlateau read.
///   MetricChannel metrics;
///   HookChain{Evaluate{fetches<"accuracy">, data, {.every_steps = 500, .then = metrics}},
///             stop_if_no_increase(metrics, "accuracy", 5000)}
/// - Copies share one channel. Thread-safe.
/// - It outlives sessions, like the event files that TensorFlow reads for every check. Another training needs another
///   channel.
/// - Checkpoints contain the history: the first hook of the chain that has the channel saves it (MetricCursor).
/// - Cost: publishing takes a lock and a map lookup; version() is one load.
class MetricChannel {
 public:
  struct Entry {
    std::int64_t step;
    double value;
  };

  MetricChannel() : shared_(std::make_shared<Shared>()) {}

  /// A later value of a step replaces an earlier one.
  void publish(std::string_view name, std::int64_t step, double value) const {
    const std::lock_guard lock(shared_->mutex);
    shared_->metrics[std::string(name)][step] = value;
    ++shared_->version;
  }
  /// Makes the name known before its first value, for evaluators in `begin`. Reading it is then no error.
  void announce(std::string_view name) const {
    const std::lock_guard lock(shared_->mutex);
    shared_->metrics.try_emplace(std::string(name));
  }
  /// Removes the values of later steps, whose weights a restored session does not have. Metrics keep their names.
  void forget_after(std::int64_t step) const {
    const std::lock_guard lock(shared_->mutex);
    for (auto& [name, values] : shared_->metrics) values.erase(values.upper_bound(step), values.end());
  }
  /// Publishes all values of an Evaluation atomically, for `.then = metrics`.
  template <template <class...> class Result, class... N>
  void operator()(const Result<N...>& result) const {
    const std::array<double, sizeof...(N)> values{result[N{}]...};
    [[maybe_unused]] std::size_t i = 0;
    const std::lock_guard lock(shared_->mutex);
    ((shared_->metrics[std::string(N::view())][result.step] = values[i++]), ...);
    shared_->version += sizeof...(N);
  }

  /// Number of publications; a changed number means new values.
  [[nodiscard]] std::uint64_t version() const { return shared_->version.load(); }
  [[nodiscard]] bool empty() const { return version() == 0; }

  /// Calls `visit(step, value)` in the order of steps; not at all before the first publication. Throws LogicError if
  /// the channel has metrics but not this one: a misspelt name, or a metric that the evaluator does not compute.
  /// `visit` must not publish.
  template <class Visit>
  void for_each(std::string_view name, Visit visit) const {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->version.load() == 0) return;
    for (const auto& [step, value] : find(name)) visit(step, value);
  }
  /// The history as a list.
  [[nodiscard]] std::vector<Entry> history(std::string_view name) const {
    std::vector<Entry> all;
    for_each(name, [&](std::int64_t step, double value) { all.push_back({step, value}); });
    return all;
  }
  /// The value of the highest step.
  [[nodiscard]] std::optional<Entry> latest(std::string_view name) const {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->version.load() == 0) return {};
    const Values& values = find(name);
    if (values.empty()) return {};
    return Entry{values.rbegin()->first, values.rbegin()->second};
  }

  /// Saves the whole history, for a hook's save_state; nothing if another hook of the chain has saved it (StateWriter).
  void save_history(auto& out) const {
    detail::MetricHistory history;
    if (detail::writes_first(out, shared_.get())) {
      const std::lock_guard lock(shared_->mutex);
      for (const auto& [name, values] : shared_->metrics) history.add(name, values);
    }
    history.save_state(out);
  }
  /// Adds a saved history. Throws DataLossError if its lists are inconsistent.
  void load_history(auto& in) const {
    const detail::MetricHistory history = detail::MetricHistory::loaded(in);
    if (history.names.empty()) return;
    const std::lock_guard lock(shared_->mutex);
    history.for_each([&](const std::string& name) -> Values& { return shared_->metrics[name]; });
    if (!history.values.empty()) ++shared_->version;  // names alone are announced, not published
  }

 private:
  using Values = std::map<std::int64_t, double>;
  struct Shared {
    std::mutex mutex;
    std::map<std::string, Values, std::less<>> metrics;
    std::atomic<std::uint64_t> version{0};
  };

  [[nodiscard]] const Values& find(std::string_view name) const {
    const auto found = shared_->metrics.find(name);
    if (found != shared_->metrics.end()) return found->second;
    std::string known;
    for (const auto& [other, values] : shared_->metrics) (known += known.empty() ? "" : ", ") += other;
    throw LogicError("crochet: no metric \"" + std::string(name) + "\" is published; there are: " + known);
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace crochet
