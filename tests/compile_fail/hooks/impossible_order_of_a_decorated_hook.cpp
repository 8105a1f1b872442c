// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::is_listed_before_a_hook_that_must_come_first<crochet::EveryN<10, Plateau>, Counter>
// A decorated hook has the order that the hook inside states.
#include "toy.hpp"

#include <crochet/hooks/every_n.hpp>

struct Plateau {
  using after = crochet::Hooks<Counter>;
  void begin() {}
};
#ifdef CROCHET_FIXED
crochet::HookChain chain{Counter{}, crochet::EveryN<10, Plateau>{}};
#else
crochet::HookChain chain{crochet::EveryN<10, Plateau>{}, Counter{}};
#endif

void train() {
  crochet::MonitoredSession session{Toy{}, std::move(chain)};
  session.run(crochet::targets<"train">);
}
