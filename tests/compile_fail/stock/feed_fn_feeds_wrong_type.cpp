// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::feeds_a_value_of_the_wrong_type<
// A function that returns a double for a float placeholder.
#include <crochet/hooks/feed_fn.hpp>

#include "../hooks/toy.hpp"

#ifdef CROCHET_FIXED
constexpr float rate = 0.1f;
#else
constexpr double rate = 0.1;
#endif

auto next_rate() { return crochet::feed<"rate">(rate); }

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{crochet::FeedFn{&next_rate}}};
  session.run(crochet::targets<"train">);
}
