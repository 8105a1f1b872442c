// SPDX-License-Identifier: Apache-2.0
// expect-error: makes_a_run_of_all_ranks_on_one_rank<.*Tests.*OnRank<0, .*Tests
// at-most-bytes: 9000
// A hook on rank 0 runs the step function by itself, which may exchange with the other ranks.
#include <crochet/crochet.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace cr = crochet;

struct Tests {
  static constexpr auto runs_on = cr::RunsOn::chief;
#ifdef CROCHET_FIXED
  auto before_run(auto& /*run*/) { return cr::RunArgs{cr::fetches<"energy">}; }  // all ranks compute it
  void after_run(auto& /*run*/, const auto& /*values*/) {}
#else
  void after_run(auto& run, const auto& /*values*/) { run.session().run(cr::fetches<"energy">); }
#endif
};

void simulate(cr::testing::ThreadRank rank) {
  cr::StepExecutor step{[](auto&) {}, cr::output<double, "energy">};
  cr::MonitoredSession session{cr::Parallel{step, rank}, cr::HookChain{Tests{}}};
  session.run();
}
