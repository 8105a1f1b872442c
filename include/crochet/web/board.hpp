// SPDX-License-Identifier: Apache-2.0
// Board: what a live page shows. The training writes it, the thread of the server reads it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/mutex.hpp>
#include <crochet/web/bars.hpp>
#include <crochet/web/series.hpp>

namespace crochet::web {

/// How far the training is.
struct Progress {
  std::int64_t step = 0;
  std::optional<std::int64_t> total{};  ///< the step at which it ends
  double rate = 0;                      ///< steps per second; 0: not measured
  double elapsed = 0;                   ///< seconds since the session was created
};

/// The measured calls of a phase.
struct CallTime {
  std::int64_t calls = 0;
  double seconds = 0;  ///< of all of them
};

/// The measured calls of a hook, or of several of one type.
struct HookCost {
  std::string hook;  ///< its type
  CallTime before_run{}, after_run{};
};

/// The limits of a board. What is above them is left out, or replaces older entries.
struct BoardLimits {
  std::size_t curves = 64, histograms = 64, lines = 200, line_bytes = 500, points = 512;
};

/// A line of text, and the version of the board with it.
struct BoardLine {
  std::string text;
  std::uint64_t version = 0;
};

/// A part of a board: what has changed after a version.
struct BoardChanges {
  struct Curve {
    std::string name;
    std::size_t from = 0;  ///< replaces the buckets from here on
    std::int64_t stride = 1;
    std::vector<Bucket> buckets;
  };

  std::uint64_t version = 0;
  Progress progress{};
  std::string state;  ///< "running", or why it has ended
  bool running = true;
  bool stopping = false;
  std::vector<Curve> curves{};
  std::vector<std::pair<std::string, Bars>> histograms{};
  std::vector<std::string> lines{};
  std::optional<std::string> chain{};
  std::optional<std::vector<HookCost>> hooks{};
};

/// The curves, histograms, lines, costs and progress of one training.
/// - Any thread may call any member. Each holds a lock while it copies; nothing is formatted or sent under the lock.
/// - Memory: bounded by BoardLimits; 2.1 MB with the default limits and all of them reached.
class Board {
 public:
  explicit Board(const BoardLimits& limits = {}) : limits_(limits) {}

  /// A point of the curve `name`.
  void scalar(std::string_view name, std::int64_t step, double value) {
    const detail::MutexLock lock{mutex_};
    if (Series* series = entry(curves_, name, limits_.curves, Series(limits_.points))) {
      series->add(step, value, ++version_);
    }
  }
  /// The latest distribution of `name`.
  void histogram(std::string_view name, Bars bars) {
    const detail::MutexLock lock{mutex_};
    bars.version = ++version_;
    if (Bars* kept = entry(histograms_, name, limits_.histograms, Bars{})) *kept = bars;
  }
  /// A line of text, cut off at BoardLimits::line_bytes.
  void line(std::string_view text) {
    const detail::MutexLock lock{mutex_};
    if (lines_.size() >= limits_.lines && !lines_.empty()) lines_.pop_front();
    if (limits_.lines > 0) lines_.push_back({std::string(text.substr(0, limits_.line_bytes)), ++version_});
  }
  void progress(const Progress& progress) {
    const detail::MutexLock lock{mutex_};
    progress_ = progress;
    ++version_;
  }
  /// A description of the chain, a text of several lines.
  void chain(std::string text) {
    const detail::MutexLock lock{mutex_};
    chain_ = std::move(text);
    chain_version_ = ++version_;
  }
  void hooks(std::vector<HookCost> costs) {
    const detail::MutexLock lock{mutex_};
    hooks_ = std::move(costs);
    hooks_version_ = ++version_;
  }
  /// A session begins: running until ended(). Withdraws a stop that was requested before.
  void begin() {
    const detail::MutexLock lock{mutex_};
    state_ = "running";
    running_ = true;
    stop_.store(false, std::memory_order_relaxed);
    ++version_;
  }
  void ended(std::string why) {
    const detail::MutexLock lock{mutex_};
    state_ = std::move(why);
    running_ = false;
    ++version_;
  }

  void request_stop() { stop_.store(true, std::memory_order_relaxed); }
  /// Cost: one load.
  [[nodiscard]] bool stop_requested() const { return stop_.load(std::memory_order_relaxed); }

  /// A copy of what has changed after `version`; everything for 0.
  [[nodiscard]] BoardChanges changes(std::uint64_t since) const;

 private:
  /// The entry of that name, made if there are fewer than `limit`; else nullptr.
  template <class T>
  static T* entry(std::map<std::string, T, std::less<>>& all, std::string_view name, std::size_t limit,
                  const std::type_identity_t<T>& first) {
    const auto found = all.find(name);
    if (found != all.end()) return &found->second;
    if (all.size() >= limit) return nullptr;
    return &all.emplace(std::string(name), first).first->second;
  }

  BoardLimits limits_;
  std::atomic<bool> stop_{false};
  mutable detail::Mutex mutex_;
  std::uint64_t version_ = 1;  // of the last change
  Progress progress_;
  std::string state_ = "not started";
  bool running_ = true;
  std::map<std::string, Series, std::less<>> curves_;
  std::map<std::string, Bars, std::less<>> histograms_;
  std::deque<BoardLine> lines_;
  std::string chain_;
  std::vector<HookCost> hooks_;
  std::uint64_t chain_version_ = 0, hooks_version_ = 0;
};

inline BoardChanges Board::changes(std::uint64_t since) const {
  const detail::MutexLock lock{mutex_};
  BoardChanges all{.version = version_, .progress = progress_, .state = state_, .running = running_};
  all.stopping = stop_requested();
  for (const auto& [name, series] : curves_) {
    const std::size_t from = series.first_after(since);
    const auto& buckets = series.buckets();
    if (from == buckets.size()) continue;
    all.curves.push_back(
        {name, from, series.stride(), {buckets.begin() + static_cast<std::ptrdiff_t>(from), buckets.end()}});
  }
  for (const auto& [name, bars] : histograms_) {
    if (bars.version > since) all.histograms.emplace_back(name, bars);
  }
  for (const BoardLine& line : lines_) {
    if (line.version > since) all.lines.push_back(line.text);
  }
  if (chain_version_ > since) all.chain = chain_;
  if (hooks_version_ > since) all.hooks = hooks_;
  return all;
}

}  // namespace crochet::web
