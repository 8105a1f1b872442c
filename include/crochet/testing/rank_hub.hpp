// SPDX-License-Identifier: Apache-2.0
// RankHub: where the ranks of thread_ranks.hpp meet, and the schedule in which they run.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace crochet::testing::detail {

/// What the ranks of one group share. A collective call has two phases: all arrive with their memory, then all have
/// copied what they need.
class RankHub {
 public:
  enum class Call : unsigned char { none, all_gather, all_to_all, broadcast };
  struct Post {
    std::span<const std::byte> from;
    std::span<std::byte> to;
  };

  /// `seed`: only one rank runs at a time, and at each call the next one is drawn; 0: all run freely.
  explicit RankHub(int size, std::uint64_t seed = 0)
      : changed_(seed == 0 ? 1 : static_cast<std::size_t>(size)),
        posts_(static_cast<std::size_t>(size)),
        waits_(static_cast<std::size_t>(size), false),
        ended_(static_cast<std::size_t>(size), false),
        live_(size),
        seed_(seed),
        checked_(static_cast<std::size_t>(size), 0) {
    for (Lane& lane : lanes_) lane.next.assign(posts_.size(), 0);
  }

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
    wait_for_all(lock, rank);
    copy(std::span<const Post>{posts_});
    wait_for_all(lock, rank);
  }

  /// A call that returns at once. The one with the same number on the same lane is that of the other ranks.
  struct Ticket {
    int lane = -1;
    std::size_t number = 0;
  };
  Ticket start(int rank, int lane, Call call, const Post& mine) {
    std::unique_lock lock(mutex_);
    Lane& l = lanes_[static_cast<std::size_t>(lane)];
    const std::size_t number = l.next[static_cast<std::size_t>(rank)]++;
    if (number == l.started.size())
      l.started.push_back({call, mine.from.size(), std::vector<Post>(posts_.size()), 0, {}});
    Started& s = l.started[number];
    if (s.call != call || s.bytes != mine.from.size()) break_off(lock, "two ranks start different calls on a lane");
    s.posts[static_cast<std::size_t>(rank)] = mine;
    ++s.arrived;
    note_change();
    return {lane, number};
  }
  /// Whether all ranks have copied; copy(call, posts) fills this rank's `to`. A true result empties the ticket.
  template <class Copy>
  bool test(int rank, Ticket& t, Copy copy) {
    std::unique_lock lock(mutex_);
    return has_ended(rank, t, copy);
  }
  template <class Copy>
  void wait(int rank, Ticket& t, Copy copy) {
    std::unique_lock lock(mutex_);
    while (!has_ended(rank, t, copy)) {
      if (broken_) throw std::logic_error("ThreadRanks: " + reason_);
      if (live_ < size()) break_off(lock, "a rank waits for one that has ended");
      const auto seen = changes_;
      checked_[static_cast<std::size_t>(rank)] = seen;
      if (all_wait()) break_off(lock, "all ranks wait");
      draw_turn();
      if (seed_ != 0) wake();
      changed_of(rank).wait(lock, [&] { return broken_ || (seed_ == 0 ? changes_ != seen : has_turn(rank)); });
      checked_[static_cast<std::size_t>(rank)] = 0;
    }
  }

  /// Before a rank's first call.
  void begin(int rank) {
    std::unique_lock lock(mutex_);
    changed_of(rank).wait(lock, [&] { return has_turn(rank); });
  }
  /// This rank makes no further calls.
  void leave(int rank) {
    std::unique_lock lock(mutex_);
    --live_;
    ended_[static_cast<std::size_t>(rank)] = true;
    if (arrived_ > 0 && !broken_) broken_ = true, reason_ = "a rank has ended while others wait for it";
    draw_turn();
    note_change();
  }

 private:
  struct Started {
    Call call;
    std::size_t bytes;
    std::vector<Post> posts;
    int arrived;
    std::vector<bool> copied;
  };
  struct Lane {
    std::vector<Started> started;
    std::vector<std::size_t> next;  ///< by rank
  };

  template <class Copy>
  bool has_ended(int rank, Ticket& t, Copy copy) {
    if (t.lane < 0) return true;
    Started& s = lanes_[static_cast<std::size_t>(t.lane)].started[t.number];
    if (s.arrived < size()) return false;
    if (s.copied.empty()) s.copied.assign(posts_.size(), false);
    if (!s.copied[static_cast<std::size_t>(rank)]) {
      copy(s.call, std::span<const Post>{s.posts});
      s.copied[static_cast<std::size_t>(rank)] = true;
      note_change();
    }
    if (std::find(s.copied.begin(), s.copied.end(), false) != s.copied.end()) return false;
    t = {};
    return true;
  }
  void note_change() {
    ++changes_;
    wake();
  }
  /// Wakes the rank whose turn it is, where only one runs at a time: to wake all of them took most of the time of
  /// tests.
  void wake() {
    if (seed_ != 0 && turn_ >= 0 && !broken_) {
      changed_[static_cast<std::size_t>(turn_)].notify_one();
    } else {
      for (std::condition_variable& changed : changed_) changed.notify_all();
    }
  }
  [[nodiscard]] std::condition_variable& changed_of(int rank) {
    return changed_[seed_ == 0 ? 0 : static_cast<std::size_t>(rank)];
  }
  /// Whether each rank is in a call that only a change by another rank can end.
  [[nodiscard]] bool all_wait() const {
    for (std::size_t r = 0; r < posts_.size(); ++r) {
      if (!waits_[r] && checked_[r] != changes_) return false;
    }
    return true;
  }

  void wait_for_all(std::unique_lock<std::mutex>& lock, int rank) {
    const auto round = round_;
    if (live_ < size()) break_off(lock, "a rank waits for one that has ended");
    waits_[static_cast<std::size_t>(rank)] = true;
    if (++arrived_ == size()) {
      arrived_ = 0, ++round_;
      waits_.assign(waits_.size(), false);
      ++changes_;
    }
    if (all_wait()) break_off(lock, "all ranks wait");
    draw_turn();
    wake();
    changed_of(rank).wait(lock, [&] { return broken_ || (round_ != round && has_turn(rank)); });
    if (round_ == round) throw std::logic_error("ThreadRanks: " + reason_);
  }
  [[nodiscard]] bool has_turn(int rank) const { return seed_ == 0 || turn_ < 0 || turn_ == rank; }
  /// The next rank to run, among those that neither wait nor have ended: a draw of xorshift64 (Marsaglia 2003).
  void draw_turn() {
    if (seed_ == 0) return;
    seed_ ^= seed_ << 13U, seed_ ^= seed_ >> 7U, seed_ ^= seed_ << 17U;
    auto left = static_cast<int>(seed_ % posts_.size());
    turn_ = -1;
    for (int tried = 0; tried < size() && turn_ < 0; ++tried) {
      const auto rank = static_cast<std::size_t>((left + tried) % size());
      if (!waits_[rank] && !ended_[rank]) turn_ = static_cast<int>(rank);
    }
  }
  [[noreturn]] void break_off(std::unique_lock<std::mutex>&, const std::string& reason) {
    if (!broken_) reason_ = reason;
    broken_ = true;
    wake();
    throw std::logic_error("ThreadRanks: " + reason_);
  }

  std::mutex mutex_;
  std::vector<std::condition_variable> changed_;  ///< one, or with a seed one of each rank
  std::vector<Post> posts_;
  std::array<Lane, 2> lanes_;
  std::vector<bool> waits_, ended_;
  int live_, arrived_ = 0, root_ = 0, turn_ = -1;
  std::uint64_t seed_;
  std::uint64_t round_ = 0;
  std::uint64_t changes_ = 1;           ///< by which a waiting rank may go on
  std::vector<std::uint64_t> checked_;  ///< by rank: the changes that its waiting call has seen; 0: it is in none
  std::size_t bytes_ = 0;
  Call call_ = Call::none;
  bool broken_ = false;
  std::string reason_;
};

}  // namespace crochet::testing::detail
