// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<3, crochet::error::states_its_order_by_something_that_is_not_a_list_of_hooks<Plateau, crochet::StopAtStep, crochet::error::expected<crochet::Hooks<
// `after` without Hooks<...>. Through train.
#include "program.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  using after = cr::Hooks<cr::StopAtStep>;
#else
  using after = cr::StopAtStep;
#endif
  void begin() {}
};

void train(const Batch& batch) {
  cr::train<Classifier>(
      cr::Cpu{.threads = 2}, [&] { return feeds_of(batch); }, cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, Plateau{}});
}
