// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<3, crochet::error::has_a_condition_that_is_neither_a_bool_nor_a_function<crochet::When<42, crochet::Progress<.*crochet::error::given<(const )?int>
// A number is not a condition.
#include <crochet/hooks/when.hpp>

#include "program.hpp"


void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{cr::Cpu{.threads = 2}.compile<Classifier>(), cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, cr::When<true, cr::ProgressBar>{{.total = 500}}}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
#else
  cr::MonitoredSession session{cr::Cpu{.threads = 2}.compile<Classifier>(), cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, cr::When<42, cr::ProgressBar>{{.total = 500}}}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
#endif
}
