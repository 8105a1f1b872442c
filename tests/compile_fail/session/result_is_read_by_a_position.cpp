// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::this_is_no_name<int> ?>
// The result of a run is read by a position; structured bindings have positions.
#include "../hooks/toy.hpp"

float train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain<>{}};
  const auto result = session.run(crochet::targets<"train">, crochet::fetches<"loss">);
#ifdef CROCHET_FIXED
  const auto [loss] = result;
  return loss;
#else
  return result[0];
#endif
}
