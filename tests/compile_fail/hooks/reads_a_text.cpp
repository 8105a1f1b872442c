// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::a_text_is_a_name_with_the_suffix_n<(const )?char ?
// A hook reads a value by a text; a name has the suffix _n.
#include "toy.hpp"

using namespace crochet::literals;

struct Watches {
  static constexpr auto fetches = crochet::fetches<"loss">;
#ifdef CROCHET_FIXED
  void after_run(auto&, const auto& values) { seen = values["loss"_n]; }
#else
  void after_run(auto&, const auto& values) { seen = values["loss"]; }
#endif
  float seen = 0;
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Watches{}}};
  session.run(crochet::targets<"train">);
}
