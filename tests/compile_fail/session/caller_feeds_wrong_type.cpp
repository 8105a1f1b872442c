// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::feeds_a_value_of_the_wrong_type<crochet::error::the_caller, .*crochet::error::given<int>, crochet::error::wanted<float>
// An int for a float.
#include "../hooks/toy.hpp"

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}}};
#ifdef CROCHET_FIXED
  session.run("train"_n, crochet::feed<"rate">(1.0f));
#else
  session.run("train"_n, crochet::feed<"rate">(1));
#endif
}
