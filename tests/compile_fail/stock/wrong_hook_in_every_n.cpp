// SPDX-License-Identifier: Apache-2.0
// expect-error: has_this_member_but_the_session_cannot_call_it<Plateau, crochet::phase::after_run
// The mistake is in the hook inside two stock decorators; the error names that hook.
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/isolated.hpp>

#include "../hooks/toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  void after_run(auto& run, const auto&) { run.request_stop(); }
#else
  void after_run(auto& run) { run.request_stop(); }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{crochet::EveryN<10, crochet::Isolated<Plateau>>{}}};
  session.run(crochet::targets<"train">);
}
