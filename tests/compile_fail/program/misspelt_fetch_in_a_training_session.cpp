// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<3, crochet::error::fetches_a_name_that_is_not_in_the_graph<Plateau
// expect-error: did_you_mean<.*("loss"|'l', 'o', 's', 's')
// expect-error: misspelt_fetch_in_a_training_session.cpp:2[0-9]
// A hook of the user's own under MonitoredTrainingSession, which adds hooks of its own behind it.
#include "program.hpp"

#include <crochet/checkpoint/monitored_training_session.hpp>

struct Plateau {
#ifdef CROCHET_FIXED
  static constexpr auto fetches = cr::fetches<"loss">;
#else
  static constexpr auto fetches = cr::fetches<"los">;
#endif
  void after_run(auto& /*run*/, const auto& /*values*/) {}
};

void train(const Batch& batch) {
  cr::MonitoredTrainingSession session{cr::Cpu{.threads = 2}.compile<Classifier>(),
                                       cr::HookChain{cr::StopAtStep{.last_step = 500},
                                                     cr::LoggingTensor<"loss">{.every_steps = 100},
                                                     cr::NanTensor<"loss">{}, Plateau{}},
                                       cr::MonitoredTrainingOptions{.checkpoint_dir = "run"}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}
