// SPDX-License-Identifier: Apache-2.0
// Prefetch: a thread of its own makes the next items of the data while the step runs. Replaces TensorFlow's queue
// runners.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/prefetch_slots.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/session/clean_stop.hpp>
#include <crochet/session/coordinated.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/threads.hpp>

namespace crochet {

/// A bounded queue of items and the thread that fills it, which a hook starts with each session:
///
///   cr::Prefetch<cr::BufferedBatch> batches{[&](cr::BufferedBatch& next) { next.take_from(data); }};
///   cr::HookChain chain{batches.hook(), ...};
///   ... const auto draw = [&](auto&) { return as_feeds(batches.next().batch); };
///   ... session.run("train"_n, session.run_step_fn(draw)) ...
///
/// - `run_step_fn` recovers from a machine that is lost during a wait; `run` and `train`, which take the data as a
///   function, call it.
/// - The items and their order are the same as without the thread. An exception (OutOfRangeError at the end of the
///   data, or any other) replaces the item for which it was thrown, and is thrown again by each later call; a
///   PreemptionError until the session has recovered from it.
/// - Without its thread (before the session is created, after it stops) the caller of next() makes the item.
/// - A thread that is stopped completes its current item; a recovery loses no item.
/// - Memory: depth + 1 items, allocated once and reused. A call of next() does not allocate.
template <class Item>
class Prefetch {
 public:
  /// `fill(item)` makes the next item in place; the item still holds the contents of an earlier one. `depth`: the
  /// number of items that may be ready, 1 to 2^20. Throws LogicError for another one.
  explicit Prefetch(std::function<void(Item&)> fill, std::size_t depth = 2)
      : fill_(std::move(fill)), slots_(detail::prefetch_slots(depth, "crochet: a Prefetch")) {}
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// The next item, valid until the next call. Waits until one is ready. One thread at a time.
  /// - Throws the exception of `fill`. If the coordinator should stop during the wait: StopIteration, or the
  ///   PreemptionError that a thread has reported, from which run_step_fn recovers.
  const Item& next() {
    std::unique_lock lock{mutex_};
    if (taken_) taken_ = false, advance(first_);
    changed_.notify_all();  // a slot is free
    const auto wait_is_over = [&] { return ready_ > 0 || over_ || !running_; };
    while (!changed_.wait_for(lock, std::chrono::milliseconds(50), wait_is_over)) {
      if (coordinator_->should_stop()) stop_waiting();
    }
    if (ready_ == 0 && !over_) {
      lock.unlock();
      fill_one();
      lock.lock();
    }
    if (ready_ == 0) std::rethrow_exception(over_);
    --ready_;
    taken_ = true;
    return slots_[first_];
  }

  /// Discards the ready items and calls `change()`, which may change the items that `fill` makes: to seek in the data.
  /// Invalidates the item last returned by next(). Not while another thread is in next().
  template <class Change>
  void restart(Change&& change) {
    std::scoped_lock filling{fill_mutex_};
    std::scoped_lock lock{mutex_};
    first_ = filled_ = 0;
    ready_ = 0;
    taken_ = false;
    over_ = nullptr;
    std::forward<Change>(change)();
    changed_.notify_all();
  }

  /// The number of ready items.
  [[nodiscard]] std::size_t ready() const {
    std::scoped_lock lock{mutex_};
    return ready_;
  }

  /// Starts the thread; it ends with the coordinator. Does nothing if it is already running. Clears a PreemptionError
  /// of `fill`: a new session tries again. Throws ResourceExhaustedError if the system cannot start a thread; next()
  /// then makes items itself.
  void start(Coordinator& coordinator) {
    {
      std::scoped_lock lock{mutex_};
      if (running_) return;
      if (over_ && is_any_of<PreemptionError>(over_)) over_ = nullptr;
      running_ = true;
      coordinator_ = &coordinator;
    }
    try {
      start_thread(coordinator, "prefetch", [this](const std::stop_token& stop) { fill_ahead(stop); });
    } catch (...) {
      std::scoped_lock lock{mutex_};
      running_ = false;
      changed_.notify_all();
      throw;
    }
  }

  /// Starts the thread with each session.
  struct Hook {
    using handles = Phases<phase::after_create_session>;
    Prefetch* prefetch;
    void after_create_session(auto& /*session*/, Coordinator& coordinator) { prefetch->start(coordinator); }
  };
  /// The hook for the chain. This object must outlive the session.
  [[nodiscard]] Hook hook() { return Hook{this}; }

 private:
  [[noreturn]] CROCHET_COLD void stop_waiting() const {
    const std::exception_ptr error = coordinator_->error();
    if (detail::is_preemption(error)) std::rethrow_exception(error);
    throw StopIteration("crochet: stop requested while waiting for the next item");
  }
  void advance(std::size_t& index) const { index = index + 1 == slots_.size() ? 0 : index + 1; }

  /// The body of the thread.
  void fill_ahead(const std::stop_token& stop) {
    std::stop_callback wake{stop, [this] {
                              std::scoped_lock lock{mutex_};
                              changed_.notify_all();
                            }};
    for (;;) {
      {
        std::unique_lock lock{mutex_};
        const auto room = [&] { return ready_ + (taken_ ? 1 : 0) < slots_.size(); };
        changed_.wait(lock, [&] { return stop.stop_requested() || (room() && !over_); });
        if (stop.stop_requested()) {
          running_ = false;
          changed_.notify_all();
          return;
        }
      }
      fill_one();
    }
  }
  void fill_one() {
    std::scoped_lock filling{fill_mutex_};
    std::exception_ptr error;
    try {
      fill_(slots_[filled_]);  // no other thread uses this slot until it is ready
    } catch (...) {
      error = std::current_exception();
    }
    std::scoped_lock lock{mutex_};
    if (error) {
      over_ = error;
    } else {
      ++ready_;
      advance(filled_);
    }
    changed_.notify_all();
  }

  std::function<void(Item&)> fill_;
  std::vector<Item> slots_;  // [first_] is the next to take, or taken; [filled_] is the next to fill
  std::mutex fill_mutex_;    // locked before mutex_
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t first_ = 0, filled_ = 0, ready_ = 0;
  bool taken_ = false;  // the caller uses [first_]
  bool running_ = false;
  const Coordinator* coordinator_ = nullptr;  // valid while running_
  std::exception_ptr over_;
};

}  // namespace crochet
