// SPDX-License-Identifier: Apache-2.0
// Prefetch: the next items of the data are made by a thread of their own while the step runs. What the original's
// queue runners are for.
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

#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/session/clean_stop.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/threads.hpp>

namespace crochet {

/// A bounded queue of items and the thread that fills it, which a hook starts with each session:
///
///   cr::Prefetch<cr::BufferedBatch> batches{[&](cr::BufferedBatch& next) { next.take_from(data); }};
///   cr::HookChain chain{batches.hook(), ...};
///   ... session.run("train"_n, as_feeds(batches.next().batch)) ...
///
/// The loop sees exactly what it would see if it made the items itself: the same items in the same order, and an
/// exception (OutOfRangeError at the end of the data, or any other) in place of the item for which it was thrown, from
/// then on with every call; a PreemptionError until the session has recovered from it. Without its thread (before the
/// session is created, after it stops) an item is made by the caller of next(). A thread that is told to stop finishes
/// the item at hand; nothing is lost over a recovery. Memory: depth + 1 items, which are made once and filled again and
/// again; a call of next() allocates nothing.
template <class Item>
class Prefetch {
 public:
  /// `fill(item)` makes the next item in place; the item holds what was in it some calls before. `depth`: how many
  /// items may lie ready, at least 1. Throws LogicError if it is 0.
  explicit Prefetch(std::function<void(Item&)> fill, std::size_t depth = 2)
      : fill_(std::move(fill)), slots_(depth + 1) {
    if (depth == 0) throw LogicError("crochet: a Prefetch of no items; ask for at least 1");
  }
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// The next item, valid until the next call. Waits until there is one. Throws what `fill` threw. One thread at a
  /// time.
  const Item& next() {
    std::unique_lock lock{mutex_};
    if (taken_) taken_ = false, advance(first_);
    changed_.notify_all();  // there is room
    const auto wait_is_over = [&] { return ready_ > 0 || over_ || !running_; };
    while (!changed_.wait_for(lock, std::chrono::milliseconds(50), wait_is_over)) {
      if (coordinator_->should_stop()) throw StopIteration("crochet: asked to stop while waiting for the next item");
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

  /// Forgets what lies ready and calls `change()`, which may change what `fill` will make: to go to another place in
  /// the data. The item last returned by next() is gone. Not while another thread is in next().
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

  /// How many items lie ready.
  [[nodiscard]] std::size_t ready() const {
    std::scoped_lock lock{mutex_};
    return ready_;
  }

  /// Starts the thread; it ends with the coordinator. Does nothing if one runs. A PreemptionError of `fill` is
  /// forgotten: a new session tries again. Throws ResourceExhaustedError if the system starts no further thread; next()
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
  /// For the chain. This object must outlive the session.
  [[nodiscard]] Hook hook() { return Hook{this}; }

 private:
  void advance(std::size_t& index) const { index = index + 1 == slots_.size() ? 0 : index + 1; }

  /// In the thread.
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
      fill_(slots_[filled_]);  // belongs to nobody else until it is ready
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
  std::vector<Item> slots_;  // [first_] is the next to be taken, or taken; [filled_] the next to be filled
  std::mutex fill_mutex_;    // taken first
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t first_ = 0, filled_ = 0, ready_ = 0;
  bool taken_ = false;  // [first_] is in the caller's hands
  bool running_ = false;
  const Coordinator* coordinator_ = nullptr;  // while running_
  std::exception_ptr over_;
};

}  // namespace crochet
