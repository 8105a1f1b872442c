// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::fetches_a_name_that_is_not_in_the_graph<Plateau, .*("lose"|'l', 'o', 's', 'e')
// The hook fetches only if the caller runs "train": the error belongs to that call of run.
#include "toy.hpp"

struct Plateau {
  template <class Run>
  auto before_run(Run&) {
    if constexpr (crochet::runs_target<Run, crochet::Name<"train">>) {
#ifdef CROCHET_FIXED
      return crochet::RunArgs{crochet::fetches<"loss">};
#else
      return crochet::RunArgs{crochet::fetches<"lose">};
#endif
    } else {
      return crochet::RunArgs{};
    }
  }
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::fetches<"accuracy">);
  session.run(crochet::targets<"train">);
}
