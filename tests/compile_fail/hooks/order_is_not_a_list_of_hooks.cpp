// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::states_its_order_by_something_that_is_not_a_list_of_hooks<Plateau, Counter, crochet::error::expected<crochet::Hooks<Counter> *> *>
// `after` is a hook instead of Hooks<...>.
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  using after = crochet::Hooks<Counter>;
#else
  using after = Counter;
#endif
  void begin() {}
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}
