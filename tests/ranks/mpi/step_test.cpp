// SPDX-License-Identifier: Apache-2.0
// Step functions of processes: with MPI calls of their own, and state of which each rank has a part.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/ranks/mpi.hpp>
#include <crochet/ranks/parallel.hpp>

namespace step_test {

namespace cr = crochet;
using namespace cr::literals;

/// Passes a number around the ring of all ranks.
struct Ring {
  int rank, size;
  std::int64_t number = rank, steps = 0;

  void turn() {
    std::int64_t mine = number;
    MPI_Sendrecv(&mine, 1, MPI_INT64_T, (rank + 1) % size, 7, &number, 1, MPI_INT64_T, (rank + size - 1) % size, 7,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ++steps;
  }
};

struct StopsOnTheLastRank {
  bool is_last;
  void after_run(auto& run, const auto& /*values*/) const {
    if (is_last && run.step() == 5) run.request_stop("enough");
  }
};

TEST(RankStepsOfMpi, ExchangeByThemselvesAndStopTogether) {
  cr::Mpi ranks{MPI_COMM_WORLD, {.abort_after_secs = 30}};
  Ring ring{ranks.rank(), ranks.size()};
  std::int64_t sum = -1;
  cr::StepExecutor step{[&](auto& out) {
                          ring.turn();
                          sum = out.sum_over_ranks(ring.number);
                        },
                        cr::variable<"steps">(ring.steps), cr::variable_of_rank<"number">(ring.number)};
  cr::run(cr::Parallel{step, ranks}, cr::HookChain{StopsOnTheLastRank{ranks.rank() + 1 == ranks.size()}});
  EXPECT_EQ(ring.steps, 5);
  EXPECT_EQ(ring.number, ((ring.rank - 5) % ring.size + ring.size) % ring.size);
  EXPECT_EQ(sum, static_cast<std::int64_t>(ring.size) * (ring.size - 1) / 2);
}

/// Adds one to the numbers of all ranks, on one of them.
struct AddsOne {
  void after_run(auto& run, const auto& /*values*/) const {
    run.session().executor().for_each_variable([](std::string_view, auto elements, auto /*shape*/) {
      for (auto& x : elements) x += 1;
    });
  }
};

TEST(RankStepsOfMpi, HaveTheirPartsReadAndWrittenByOneRank) {
  cr::Mpi ranks{MPI_COMM_WORLD, {.abort_after_secs = 30}};
  for (const int who : {0, 1}) {
    if (who == ranks.size()) continue;
    std::vector<double> rows(static_cast<std::size_t>(ranks.rank()) * 100'000 + 3, ranks.rank());
    cr::StepExecutor step{[](auto&) {}, cr::variable_by_rows<"rows">(rows)};
    const cr::StopAtStep three{.last_step = 3};
    if (who == 0) {
      cr::run(cr::Parallel{step, ranks}, cr::HookChain{cr::OnRank<0, AddsOne>{}, three});
    } else {
      cr::run(cr::Parallel{step, ranks}, cr::HookChain{cr::OnRank<1, AddsOne>{}, three});
    }
    EXPECT_EQ(rows, std::vector<double>(rows.size(), ranks.rank() + 3));
  }
}

TEST(RankStepsOfMpi, FailWithOneRank) {
  cr::Mpi ranks{MPI_COMM_WORLD, {.abort_after_secs = 30}};
  std::string error;
  const int who = ranks.size() - 1;
  try {
    cr::run(cr::Parallel{cr::StepExecutor{[&](auto& out) {
                           if (ranks.rank() == who) throw std::runtime_error("out of paper");
                           static_cast<void>(out.max_over_ranks(1.0));
                         }},
                         ranks},
            cr::HookChain{});
  } catch (const std::exception& e) {
    error = e.what();
  }
  const std::string peers = "crochet: rank " + std::to_string(who) + " failed: out of paper";
  EXPECT_EQ(error, ranks.rank() == who ? "out of paper" : peers);
}

}  // namespace step_test
