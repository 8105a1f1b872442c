// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::a_text_is_a_name_with_the_suffix_n<(const )?char ?
// A step function sets an output by a text; a name has the suffix _n.
#include <crochet/crochet.hpp>

using namespace crochet::literals;

void solve() {
#ifdef CROCHET_FIXED
  crochet::StepExecutor step{[](auto& out) { out["residual"_n] = 1.0; }, crochet::output<double, "residual">};
#else
  crochet::StepExecutor step{[](auto& out) { out["residual"] = 1.0; }, crochet::output<double, "residual">};
#endif
  crochet::MonitoredSession session{step};
  crochet::run_session(session, [](auto& s) { s.run(crochet::fetches<"residual">); });
}
