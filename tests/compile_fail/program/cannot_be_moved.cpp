// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<3, crochet::error::cannot_be_moved<Plateau>
// A hook with a mutex.
#include "program.hpp"

#include <mutex>
struct Plateau {
  void after_run(auto& run, const auto&) {
    const std::lock_guard lock{mutex};
    if (++runs == 7) run.request_stop();
  }
  int runs = 0;
#ifdef CROCHET_FIXED
  std::mutex& mutex;
#else
  std::mutex mutex;
#endif
};
std::mutex mutex;

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{cr::Cpu{.threads = 2}.compile<Classifier>(), cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, Plateau{0, mutex}}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
#else
  cr::MonitoredSession session{cr::Cpu{.threads = 2}.compile<Classifier>(), cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, Plateau{}}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
#endif
}
