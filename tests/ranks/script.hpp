// SPDX-License-Identifier: Apache-2.0
// Scripts of what ranks do alone, for tests that draw them. At: an enumeration of moments, Does: of what happens, with
// `throws` and `is_preempted`; has_no_step(At): whether a moment has no step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <crochet/base/error.hpp>

namespace ranks_script {

/// Draws numbers below n.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
  int operator()(int n) {
    state_ ^= state_ << 13U, state_ ^= state_ >> 7U, state_ ^= state_ << 17U;
    return static_cast<int>((state_ >> 33U) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

template <class At, class Does>
struct Event {
  int rank;
  At at;
  std::int64_t step;
  Does does;
};

/// The events of one rank that have not happened yet.
template <class At, class Does>
class Script {
 public:
  Script(const std::vector<Event<At, Does>>& all, int rank) {
    for (const auto& e : all) {
      if (e.rank == rank) left_.push_back(e);
    }
  }
  /// Whether the rank does `does` here.
  bool happens(At at, std::int64_t step, Does does) {
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const auto e = left_[i];
      if (e.at != at || e.does != does || (!has_no_step(at) && e.step != step)) continue;
      left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }
  /// Throws if the rank fails here, or loses its session.
  void fail(At at, std::int64_t step) {
    if (happens(at, step, Does::throws)) throw std::runtime_error("scripted");
    if (happens(at, step, Does::is_preempted)) throw crochet::AbortedError("scripted");
  }

 private:
  std::vector<Event<At, Does>> left_;
};

}  // namespace ranks_script
