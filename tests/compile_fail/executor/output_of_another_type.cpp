// SPDX-License-Identifier: Apache-2.0
// expect-error: sets_an_output_to_a_value_of_the_wrong_type<
// A step function sets an output to a value that does not convert to its type.
#include <crochet/crochet.hpp>

#include <string>

using namespace crochet::literals;

void solve() {
#ifdef CROCHET_FIXED
  crochet::StepExecutor step{[](auto& out) { out["residual"_n] = std::stod("1"); }, crochet::output<double, "residual">};
#else
  crochet::StepExecutor step{[](auto& out) { out["residual"_n] = std::string("1"); }, crochet::output<double, "residual">};
#endif
  crochet::MonitoredSession session{step};
  crochet::run_session(session, [](auto& s) { s.run(crochet::fetches<"residual">); });
}
