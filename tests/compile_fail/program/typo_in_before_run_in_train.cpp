// SPDX-License-Identifier: Apache-2.0
// expect-error: stpe
// expect-error: typo_in_before_run[a-z_]*.cpp:1[0-9]
// The body of a before_run with a deduced return type. Through train.
#include "program.hpp"

struct Plateau {
  auto before_run(auto& run) {
#ifdef CROCHET_FIXED
    return run.step() % 100 == 0 ? std::optional{cr::RunArgs{cr::fetches<"loss">}} : std::nullopt;
#else
    return run.stpe() % 100 == 0 ? std::optional{cr::RunArgs{cr::fetches<"loss">}} : std::nullopt;
#endif
  }
};

void train(const Batch& batch) {
  cr::train<Classifier>(
      cr::Cpu{.threads = 2}, [&] { return feeds_of(batch); }, cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, Plateau{}});
}
