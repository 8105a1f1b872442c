// SPDX-License-Identifier: Apache-2.0
// A before_run with a deduced return type and an additional parameter: its body is not compiled.
// expect-error: hook_is_usable<0, crochet::error::has_this_member_but_the_session_cannot_call_it<Plateau, crochet::phase::before_run, crochet::error::called_as<void ?.crochet::error::any_run
// expect-error: near_miss_signature_of_before_run.cpp:2[0-9]
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  auto before_run(auto& run) {
    return run.step() % 10 == 0 ? std::optional{crochet::RunArgs{crochet::fetches<"loss">}} : std::nullopt;
  }
#else
  auto before_run(auto& run, auto& values) {
    return values.step() + run.step() == 0 ? std::optional{crochet::RunArgs{crochet::fetches<"loss">}} : std::nullopt;
  }
#endif
};

int main() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Plateau{}}};
  session.run();
}
