// SPDX-License-Identifier: Apache-2.0
// ThreadChoice: the number of threads for the runs of one plan with the same sizes, found by measurement. Arithmetic
// only: the caller runs, and takes the times.
#pragma once
#include <cstdint>

#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The number of threads, from 1 to a limit, with which runs take the least time.
/// - After some runs it tries its number, then half of it, and so on while that is not slower, then one. If none was as
///   fast, it tries the double and so on while that is faster. A number's time is the least of a few runs. Of equal
///   times it takes the smaller number.
/// - Then one run in 64 is timed. If several in sequence take longer than the tries let expect, it tries again: the
///   threads may have moved to cores that are far apart, or share their cores with others. Such tries cost at most a
///   twentieth of the time, and less while they change nothing.
/// - It also tries again after a second or 4,096 runs, whichever is less but at least 64 runs: a core may have become
///   free. Such tries cost at most a 200th of the time.
class ThreadChoice {
 public:
  /// `start`: the number of the first runs. `runs_before`: the number of runs before the first tries.
  ThreadChoice(int limit, int start, int runs_before = 2)
      : limit_(limit), chosen_(start), now_(start), untimed_(runs_before) {}

  /// The number of threads for the next run.
  int threads() const { return now_; }
  /// The number of threads of runs that are no tries.
  int chosen() const { return chosen_; }
  bool trying() const { return state_ != State::waits; }

  /// Called before each run. Returns whether the run is to be timed; took() is called after it. If it is not called,
  /// because the run failed, the next run is timed.
  bool times_next() {
    if (untimed_ == 0) [[unlikely]]
      return true;
    --untimed_;
    return false;
  }
  /// `ns`: the time of the run in nanoseconds.
  [[gnu::noinline]] void took(std::int64_t ns) {
    if (state_ != State::waits) {
      add_try(ns);
    } else if (expected_ == 0) {
      start_tries();
      add_try(ns);
    } else {
      watch(ns);
    }
  }

 private:
  enum class State : std::uint8_t { waits, tries_chosen, tries_fewer, tries_one, tries_more };
  static constexpr int between = 63;                                ///< runs without a time between two with
  static constexpr int seldom = 64;                                 ///< timed runs between two tries, at least
  static constexpr std::int64_t seldom_ns = 1'000'000'000;          ///< or the time of all runs between them
  static constexpr int least_patience = 8, most_patience = 1024;    ///< slow runs in sequence before it tries again
  static constexpr std::int64_t budget = 200, budget_of_slow = 20;  ///< the time for each unit of time that tries cost

  int half(int n) const {
    int power = 1;
    while (2 * power < n) power *= 2;
    return power;
  }
  int twice(int n) const { return 2 * n < limit_ ? 2 * n : limit_; }

  void start_tries() {
    best_ = chosen_;
    best_time_ = 0;
    tries_time_ = tries_ = 0;
    try_out(State::tries_chosen, chosen_);
  }
  void try_out(State state, int threads) {
    state_ = state;
    now_ = threads;
    runs_ = 0;
    sum_ = 0;
  }

  void add_try(std::int64_t ns) {
    least_ = runs_ == 0 || ns < least_ ? ns : least_;
    ++runs_;
    sum_ += ns;
    if (!is_known()) return;
    tries_time_ += time_of_tries();
    tries_ += runs_;
    next();
  }
  /// The time of the runs of one number, without what an interruption adds (a signal that stops the program): that is
  /// no cost of the tries, and would put off the next ones for many times as long.
  std::int64_t time_of_tries() const {
    constexpr std::int64_t ms = 1'000'000;
    const std::int64_t most = runs_ * (4 * least_ + ms);
    return sum_ < most ? sum_ : most;
  }
  /// Whether the time of the number that is tried is known well enough. Short runs are tried more often. The first run
  /// may wait for threads that block, and for data of another core.
  bool is_known() const {
    constexpr std::int64_t us = 1000;
    if (runs_ >= 16 || (runs_ >= 4 && sum_ >= 200 * us) || (runs_ >= 2 && sum_ >= 40'000 * us)) return true;
    return runs_ >= 3 && best_time_ > 0 && least_ > best_time_ + best_time_ / 2;
  }
  /// Ends the tries of one number.
  void next() {
    if (state_ == State::tries_chosen) {
      best_time_ = least_;
      return chosen_ > 1 ? try_out(State::tries_fewer, half(chosen_)) : try_more();
    }
    const bool accepted = accept();
    if (state_ == State::tries_more) {
      return accepted && now_ < limit_ ? try_out(State::tries_more, twice(now_)) : settle();
    }
    if (accepted) return now_ > 1 ? try_out(State::tries_fewer, half(now_)) : settle();
    // One thread has no barriers, so it may be faster although two are slower. Not where barriers cost little.
    if (state_ == State::tries_fewer && now_ > 1 && best_time_ < 1'000'000) return try_out(State::tries_one, 1);
    best_ == chosen_ ? try_more() : settle();
  }
  void try_more() { chosen_ < limit_ ? try_out(State::tries_more, twice(chosen_)) : settle(); }
  /// Whether the number is better than the best so far: fewer threads and not slower, or more and faster.
  bool accept() {
    const std::int64_t margin = best_time_ / 50;
    if (now_ < best_ ? least_ > best_time_ + margin : least_ >= best_time_ - margin) return false;
    best_ = now_;
    best_time_ = least_ < best_time_ ? least_ : best_time_;
    return true;
  }
  void settle() {
    // Slow runs that the tries do not explain will be slow after the next tries, too.
    patience_ = best_ != chosen_ ? patience_ / 2 : (slow_ > 0 ? patience_ * 2 : 0);
    patience_ = patience_ < least_patience ? least_patience : (patience_ > most_patience ? most_patience : patience_);
    chosen_ = now_ = best_;
    expected_ = best_time_ < 1 ? 1 : best_time_;
    cost_ = tries_time_ - tries_ * expected_;
    state_ = State::waits;
    slow_ = timed_ = 0;
    time_ = 0;
    untimed_ = between;
  }

  /// Compares a run with the time that the tries let expect.
  void watch(std::int64_t ns) {
    untimed_ = between;
    slow_ = ns > expected_ + expected_ / 4 ? slow_ + 1 : 0;
    ++timed_;
    time_ += (ns < 2 * expected_ ? ns : 2 * expected_) * (between + 1);
    const bool slower = slow_ >= patience_ && time_ / budget_of_slow >= cost_;
    const bool soon = timed_ < seldom && time_ < seldom_ns;
    if (!slower && (soon || time_ / budget < cost_)) return;
    start_tries();
    untimed_ = 0;
  }

  int limit_, chosen_, now_;
  int untimed_;  ///< runs before the next that is timed
  State state_ = State::waits;

  int best_ = 1, runs_ = 0, tries_ = 0;  ///< of the tries: the best number; runs of the current number; all runs
  std::int64_t best_time_ = 0, least_ = 0, sum_ = 0, tries_time_ = 0;

  std::int64_t expected_ = 0;  ///< the least time of a run with the chosen number; 0 before the first tries
  std::int64_t cost_ = 0;      ///< the time that the last tries took longer than as many expected runs
  std::int64_t time_ = 0;      ///< of all runs since
  int timed_ = 0, slow_ = 0;   ///< the timed runs since, and the last of them that were slow
  int patience_ = least_patience;
};

}  // namespace crochet::cpu::CROCHET_ISA
