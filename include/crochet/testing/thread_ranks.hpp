// SPDX-License-Identifier: Apache-2.0
// ThreadRanks: ranks that are threads of one process, for tests. A rank that would wait for ever is an error and no hang.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <crochet/ranks/communicator.hpp>

namespace crochet::testing {

namespace detail {

/// What the ranks of one group share. A collective call has two phases: all arrive with their memory, then all have
/// copied what they need.
class RankHub {
 public:
  enum class Call : unsigned char { none, all_gather, all_to_all, broadcast };
  struct Post {
    std::span<const std::byte> from;
    std::span<std::byte> to;
  };

  explicit RankHub(int size) : posts_(static_cast<std::size_t>(size)), live_(size) {}

  [[nodiscard]] int size() const { return static_cast<int>(posts_.size()); }

  /// All ranks come with a call of the same kind and the same sizes; copy(posts) fills this rank's `to`.
  template <class Copy>
  void meet(int rank, Call call, int root, const Post& mine, Copy copy) {
    std::unique_lock lock(mutex_);
    if (arrived_ == 0) {
      call_ = call, root_ = root, bytes_ = mine.from.size();
    } else if (call_ != call || root_ != root || bytes_ != mine.from.size()) {
      break_off(lock, "two ranks make different collective calls");
    }
    posts_[static_cast<std::size_t>(rank)] = mine;
    wait_for_all(lock);
    copy(std::span<const Post>{posts_});
    wait_for_all(lock);
  }

  /// This rank makes no further calls.
  void leave() {
    std::unique_lock lock(mutex_);
    --live_;
    if (arrived_ > 0 && !broken_) broken_ = true, reason_ = "a rank has ended while others wait for it";
    changed_.notify_all();
  }

 private:
  void wait_for_all(std::unique_lock<std::mutex>& lock) {
    const auto round = round_;
    if (live_ < size()) break_off(lock, "a rank waits for one that has ended");
    if (++arrived_ == size()) {
      arrived_ = 0, ++round_;
      changed_.notify_all();
      return;
    }
    changed_.wait(lock, [&] { return round_ != round || broken_; });
    if (round_ == round) throw std::logic_error("ThreadRanks: " + reason_);
  }
  [[noreturn]] void break_off(std::unique_lock<std::mutex>&, const std::string& reason) {
    if (!broken_) reason_ = reason;
    broken_ = true;
    changed_.notify_all();
    throw std::logic_error("ThreadRanks: " + reason_);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Post> posts_;
  int live_, arrived_ = 0, root_ = 0;
  std::uint64_t round_ = 0;
  std::size_t bytes_ = 0;
  Call call_ = Call::none;
  bool broken_ = false;
  std::string reason_;
};

}  // namespace detail

/// One rank's handle.
class ThreadRank {
 public:
  ThreadRank(detail::RankHub& hub, int rank) : hub_(&hub), rank_(rank) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return hub_->size(); }

  void all_gather(std::span<const std::byte> from, std::span<std::byte> to) {
    hub_->meet(rank_, Hub::Call::all_gather, 0, {from, to}, [&](auto posts) {
      for (std::size_t r = 0; r < posts.size(); ++r) copy(posts[r].from, to.subspan(r * from.size()));
    });
  }
  void all_to_all(std::span<const std::byte> from, std::span<std::byte> to) {
    const std::size_t part = from.size() / static_cast<std::size_t>(size());
    hub_->meet(rank_, Hub::Call::all_to_all, 0, {from, to}, [&](auto posts) {
      for (std::size_t r = 0; r < posts.size(); ++r)
        copy(posts[r].from.subspan(static_cast<std::size_t>(rank_) * part, part), to.subspan(r * part));
    });
  }
  void broadcast(std::span<std::byte> bytes, int root) {
    hub_->meet(rank_, Hub::Call::broadcast, root, {bytes, bytes}, [&](auto posts) {
      if (root != rank_) copy(posts[static_cast<std::size_t>(root)].from, bytes);
    });
  }
  [[noreturn]] void abort(std::string_view reason) { throw std::logic_error("ThreadRanks: " + std::string(reason)); }

 private:
  using Hub = detail::RankHub;
  static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    std::copy(from.begin(), from.end(), to.begin());
  }

  Hub* hub_;
  int rank_;
};
static_assert(Communicator<ThreadRank>);

/// Calls body(ThreadRank) in `size` threads, one for each rank. Returns when all have ended; then throws the first
/// exception, in the order of ranks. A rank that ends while another waits for it, and calls that differ, are a
/// std::logic_error in every rank that waits.
template <class Body>
void run_ranks(int size, Body body) {
  detail::RankHub hub(size);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int r = 0; r < size; ++r) {
      threads.emplace_back([&, r] {
        try {
          body(ThreadRank{hub, r});
        } catch (...) {
          errors[static_cast<std::size_t>(r)] = std::current_exception();
        }
        hub.leave();
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace crochet::testing
