// SPDX-License-Identifier: Apache-2.0
// at-most-bytes: 3500
// reason-within-bytes: 600
// expect-error: (usable_hook|hook_is_usable)<8(UL)?, crochet::error::has_this_member_but_the_session_cannot_call_it<Plateau
// Thirteen hooks, most of them decorated, and one mistake.
#include <crochet/hooks.hpp>

#include "program.hpp"

struct Plateau {
  static constexpr auto fetches = cr::fetches<"loss">;
#ifdef CROCHET_FIXED
  void after_run(auto& run, const auto& values) {
    if (values["loss"_n] < 0.1F) run.request_stop();
  }
#else
  void after_run(auto& run) { run.request_stop(); }
#endif
};
inline bool verbose = true;
inline bool is_verbose() { return verbose; }

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{.threads = 2}.compile<Classifier>(), cr::HookChain{cr::StopOnSignal{}, cr::StopAtStep{.last_step = 2345}, cr::NanTensor<"loss">{}, cr::Switched<cr::StepCounter>{{}, {.on = verbose}},
                    cr::Isolated<cr::LoggingTensor<"loss">>{{}}, cr::EveryN<10, cr::LoggingTensor<"loss", "logits">>{{}},
                    cr::When<is_verbose, cr::MemoryMonitor>{{}}, cr::Isolated<cr::EveryN<100, cr::TerminateOnTime>>{{{}}},
                    cr::EveryN<100, Plateau>{{}}, cr::Switched<cr::ProgressBar>{{.total = 2345}}, cr::Timed<cr::StopAtStep>{{.last_step = 9}},
                    cr::OnlyIn<"train", cr::StopAtStep>{{.last_step = 99}}, cr::Switched<cr::Isolated<cr::Snapshot<"loss">>>{{{}}}}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}
