// SPDX-License-Identifier: Apache-2.0
// at-most-bytes: 3400
// expect-error: hook_reads_what_it_lists<3(UL)?, crochet::error::reads_a_value_that_it_does_not_list<Plateau, .*("logits"|'l', 'o', 'g', 'i', 't', 's')
// expect-error: program/reads_a_value_that_it_does_not_list[a-z_]*.cpp:1[0-9]
// The hook reads a value not listed in `fetches`. g++ also prints the types of run, values and chain. Through train.
#include "program.hpp"

struct Plateau {
#ifdef CROCHET_FIXED
  static constexpr auto fetches = cr::fetches<"loss", "logits">;
#else
  static constexpr auto fetches = cr::fetches<"loss">;
#endif
  void after_run(auto& run, const auto& values) {
    const auto logits = values["logits"_n];
    if (logits.size() > best) run.request_stop("no improvement");
  }
  std::size_t best = 0;
};

void train(const Batch& batch) {
  cr::train<Classifier>(
      cr::Cpu{.threads = 2}, [&] { return feeds_of(batch); }, cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, Plateau{}});
}
