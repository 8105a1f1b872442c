// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::a_text_is_a_name_with_the_suffix_n<(const )?char ?
// The result of a run is read by a text; a name has the suffix _n.
#include "../hooks/toy.hpp"

using namespace crochet::literals;

float train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain<>{}};
  const auto result = session.run(crochet::targets<"train">, crochet::fetches<"loss">);
#ifdef CROCHET_FIXED
  return result["loss"_n];
#else
  return result["loss"];
#endif
}
