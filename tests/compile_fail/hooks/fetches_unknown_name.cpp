// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<1, crochet::error::fetches_a_name_that_is_not_in_the_graph<Plateau, .*("lose"|'l', 'o', 's', 'e').*did_you_mean.*("loss"|'l', 'o', 's', 's')
// "lose".
#include "toy.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  static constexpr auto fetches = crochet::fetches<"loss">;
#else
  static constexpr auto fetches = crochet::fetches<"lose">;
#endif
  void after_run(auto& run, const auto& values) {
    const float loss = values[typename decltype(name(fetches))::type{}];
    if (loss < 0.1f) run.request_stop();
  }
  template <class N>
  static std::type_identity<N> name(crochet::Fetches<N>);
};

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, Plateau{}}};
  session.run(crochet::targets<"train">);
}
