// SPDX-License-Identifier: Apache-2.0
// expect-error: is_not_in_this_chain_exactly_once<Begins, crochet::error::given<crochet::HookChain<Counter
// get<Hook>() of a chain that has no such hook.
#include "toy.hpp"

struct Begins {
  void begin() {}
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}}};
#ifdef CROCHET_FIXED
  static_cast<void>(session.hooks().get<Counter>());
#else
  static_cast<void>(session.hooks().get<Begins>());
#endif
}
