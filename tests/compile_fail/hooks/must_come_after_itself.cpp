// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::is_ordered_relative_to_itself<Plateau>
// The hook lists itself in `after`.
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  using after = crochet::Hooks<Counter>;
#else
  using after = crochet::Hooks<Plateau>;
#endif
  void begin() {}
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}
