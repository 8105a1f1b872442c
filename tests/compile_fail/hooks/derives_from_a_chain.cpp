// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::derives_from_a_chain<Mine, crochet::HookChain<Counter
// The hooks of a class derived from a chain would not be called.
#include "toy.hpp"

#ifdef CROCHET_FIXED
using Mine = crochet::HookChain<Counter>;
#else
struct Mine : crochet::HookChain<Counter> {
  using crochet::HookChain<Counter>::HookChain;
};
#endif

struct Begins {
  void begin() {}
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Begins{}, Mine{}}};
  session.run(crochet::targets<"train">);
}
