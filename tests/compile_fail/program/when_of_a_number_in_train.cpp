// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<3, crochet::error::has_a_condition_that_is_neither_a_bool_nor_a_function<crochet::When<42, crochet::Progress<.*crochet::error::given<(const )?int>
// A number is not a condition. Through train.
#include <crochet/hooks/when.hpp>

#include "program.hpp"


void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  cr::train<Classifier>(
      cr::Cpu{.threads = 2}, [&] { return feeds_of(batch); }, cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, cr::When<true, cr::ProgressBar>{{.total = 500}}});
#else
  cr::train<Classifier>(
      cr::Cpu{.threads = 2}, [&] { return feeds_of(batch); }, cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, cr::When<42, cr::ProgressBar>{{.total = 500}}});
#endif
}
