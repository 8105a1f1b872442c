// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::returns_the_wrong_type<Plateau, crochet::phase::after_run, bool
// after_run returns whether to stop, as callbacks of other libraries do.
#include "toy.hpp"

struct Plateau {
  static constexpr auto fetches = crochet::fetches<"loss">;
#ifdef CROCHET_FIXED
  void after_run(auto& run, const auto& values) {
    if (values["loss"_n] < 0.1f) run.request_stop();
  }
#else
  bool after_run(auto&, const auto& values) { return values["loss"_n] < 0.1f; }
#endif
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}
