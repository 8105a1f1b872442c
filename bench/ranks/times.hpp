// SPDX-License-Identifier: Apache-2.0
// Times of something that all ranks do together.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

#include <crochet/ranks/mpi.hpp>

namespace bench {

/// In microseconds, of this rank; each begins when all ranks are there.
class Times {
 public:
  template <class F>
  void add(F f) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = std::chrono::steady_clock::now();
    f();
    times_.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  double median() { return at(0.5); }
  double decile() { return at(0.1); }

 private:
  double at(double share) {
    std::ranges::sort(times_);
    return times_[static_cast<std::size_t>(share * static_cast<double>(times_.size()))];
  }

  std::vector<double> times_;
};

/// Two cells of a table: the microseconds of one of `at_once` steps, and the share of them that steps side by side
/// take. Medians, first deciles in brackets.
inline void print_beside(Times& times, Times& beside, int at_once) {
  std::printf(" %.0f (%.0f) | %.2f (%.2f) |", times.median() / at_once, times.decile() / at_once,
              beside.median() / times.median(), beside.decile() / times.decile());
}

}  // namespace bench
