// SPDX-License-Identifier: Apache-2.0
// State of step functions that differs between ranks: one checkpoint has all of it, of one step, and a restart goes on
// with the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/checkpoint/monitored_training_session.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/moving_average.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/same_on_all_ranks.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "../io/temporary_folder.hpp"

namespace ranks_step_state_test {

namespace cr = crochet;
namespace fs = std::filesystem;
using namespace cr::literals;
using cr::testing::run_ranks;
using cr::testing::ThreadRank;
using crochet::test::TemporaryFolder;

constexpr std::int64_t rows = 13, columns = 3;

/// A field of 13 rows, of which each rank has some, and a number that each rank draws for itself.
struct Solver {
  explicit Solver(int rank, int size)
      : first(rows * rank / size), here(rows * (rank + 1) / size - first), u(static_cast<std::size_t>(here * columns)) {
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = static_cast<double>(first * columns) + static_cast<double>(i);
    random = static_cast<std::uint64_t>(rank) + 88172645463325252U;
  }
  /// A step that depends on the sum over all ranks; with `draws` also on the random number of the rank.
  void advance(auto& out, bool draws) {
    std::vector<double> sum(1);
    for (const double x : u) sum[0] += x;
    out.sum_over_ranks(std::span{sum});
    random ^= random << 13U, random ^= random >> 7U, random ^= random << 17U;
    const double noise = draws ? static_cast<double>(random % 1000) / 1000 : 0;
    for (double& x : u) x += 0.25 * (std::round(sum[0]) / (rows * columns) - x) + noise;
    time += 0.5;
  }

  std::int64_t first, here;
  std::vector<double> u;
  double time = 0;
  std::int64_t random_bits() const { return static_cast<std::int64_t>(random); }
  std::uint64_t random;
};

}  // namespace ranks_step_state_test
