// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::feeds_the_same_name_twice<crochet::error::the_caller, 
// The same placeholder twice in one call.
#include "../hooks/toy.hpp"

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}}};
#ifdef CROCHET_FIXED
  session.run("train"_n, crochet::feed<"rate">(1.0f));
#else
  session.run("train"_n, crochet::feed<"rate">(1.0f), crochet::feed<"rate">(2.0f));
#endif
}
