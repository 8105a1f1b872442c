// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<3, crochet::error::has_fetches_that_are_not_a_list_of_names<Plateau, crochet::error::given<(char const|const char) ?\*>
// `fetches` is a string.
#include "program.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  static constexpr auto fetches = cr::fetches<"loss">;
#else
  static constexpr auto fetches = "loss";
#endif
  void after_run(auto& run, const auto& values) {
    const float loss = values["loss"_n];
    if (loss < best) run.request_stop("no improvement");
  }
  float best = 0;
};

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{.threads = 2}.compile<Classifier>(), cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, Plateau{}}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, feeds_of(batch));
  });
}
