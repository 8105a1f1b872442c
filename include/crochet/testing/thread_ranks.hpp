// SPDX-License-Identifier: Apache-2.0
// ThreadRanks: ranks that are threads of one process, for tests. A rank that would wait for ever is an error and no
// hang.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <crochet/ranks/communicator.hpp>
#include <crochet/testing/rank_hub.hpp>

namespace crochet::testing {

/// One rank's handle.
class ThreadRank {
 public:
  ThreadRank(detail::RankHub& hub, int rank) : hub_(&hub), rank_(rank) {}

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return hub_->size(); }

  void all_gather(std::span<const std::byte> from, std::span<std::byte> to) {
    hub_->meet(rank_, Hub::Call::all_gather, 0, {from, to}, [&](auto posts) { gather(posts); });
  }
  void all_to_all(std::span<const std::byte> from, std::span<std::byte> to) {
    hub_->meet(rank_, Hub::Call::all_to_all, 0, {from, to}, [&](auto posts) { distribute(posts); });
  }
  void broadcast(std::span<std::byte> bytes, int root) {
    hub_->meet(rank_, Hub::Call::broadcast, root, {bytes, bytes}, [&](auto posts) {
      if (root != rank_) copy(posts[static_cast<std::size_t>(root)].from, bytes);
    });
  }

  using Request = detail::RankHub::Ticket;
  void open_lanes() {}
  [[nodiscard]] Request start_all_gather(int lane, std::span<const std::byte> from, std::span<std::byte> to) {
    return hub_->start(rank_, lane, Hub::Call::all_gather, {from, to});
  }
  [[nodiscard]] Request start_all_to_all(int lane, std::span<const std::byte> from, std::span<std::byte> to) {
    return hub_->start(rank_, lane, Hub::Call::all_to_all, {from, to});
  }
  [[nodiscard]] bool test(Request& request) {
    return hub_->test(rank_, request, [&](Hub::Call call, auto posts) { copy_all(call, posts); });
  }
  void wait(Request& request) {
    hub_->wait(rank_, request, [&](Hub::Call call, auto posts) { copy_all(call, posts); });
  }

  [[noreturn]] void abort(std::string_view reason) { throw std::logic_error("ThreadRanks: " + std::string(reason)); }

 private:
  using Hub = detail::RankHub;
  using Posts = std::span<const Hub::Post>;
  void copy_all(Hub::Call call, Posts posts) const {
    if (call == Hub::Call::all_gather) {
      gather(posts);
    } else {
      distribute(posts);
    }
  }
  [[nodiscard]] const Hub::Post& mine(Posts posts) const { return posts[static_cast<std::size_t>(rank_)]; }
  void gather(Posts posts) const {
    for (std::size_t r = 0; r < posts.size(); ++r) {
      copy(posts[r].from, mine(posts).to.subspan(r * posts[r].from.size()));
    }
  }
  void distribute(Posts posts) const {
    const std::size_t part = mine(posts).from.size() / posts.size();
    for (std::size_t r = 0; r < posts.size(); ++r) {
      copy(posts[r].from.subspan(static_cast<std::size_t>(rank_) * part, part), mine(posts).to.subspan(r * part));
    }
  }
  static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.data() != to.data()) std::copy(from.begin(), from.end(), to.begin());
  }

  Hub* hub_;
  int rank_;
};
static_assert(NonblockingCommunicator<ThreadRank>);

namespace detail {

/// Starts rank(r) in a thread for each rank of the hub. Returns the error of the first one that the system refuses:
/// then no rank waits for those without a thread.
template <class Thread, class Rank>
std::exception_ptr start_ranks(std::vector<Thread>& threads, RankHub& hub, const Rank& rank) {
  int r = 0;
  try {
    threads.reserve(static_cast<std::size_t>(hub.size()));
    for (; r < hub.size(); ++r) threads.emplace_back([&rank, r] { rank(r); });
    return nullptr;
  } catch (...) {
    for (; r < hub.size(); ++r) hub.leave(r);
    return std::current_exception();
  }
}

}  // namespace detail

/// Calls body(ThreadRank) in `size` threads, one for each rank. Returns when all have ended; then throws the first
/// exception, in the order of ranks. A rank that ends while another waits for it, and calls that differ, are a
/// std::logic_error in every rank that waits. A thread that the system refuses is a std::system_error. `seed`: not 0 to
/// run one rank at a time, in an order that is drawn.
template <class Thread = std::jthread, class Body>
void run_ranks(int size, Body body, std::uint64_t seed = 0) {
  detail::RankHub hub(size, seed);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size) + 1);  // first: that of a thread
  const auto rank = [&](int r) {
    hub.begin(r);
    try {
      body(ThreadRank{hub, r});
    } catch (...) {
      errors[static_cast<std::size_t>(r) + 1] = std::current_exception();
    }
    hub.leave(r);
  };
  {
    std::vector<Thread> threads;
    errors[0] = detail::start_ranks(threads, hub, rank);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace crochet::testing
