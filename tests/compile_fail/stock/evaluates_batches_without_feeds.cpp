// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::these_data_give_no_feeds<
// The batches of labelled images are no feeds: a function makes feeds of each.
#include <crochet/crochet.hpp>
#include <crochet/data/batches.hpp>
#include <crochet/hooks/evaluate.hpp>

#include "../hooks/toy.hpp"

void train(const crochet::Batches& batches) {
#ifdef CROCHET_FIXED
  auto data = crochet::passes_over(batches, [](const crochet::Batch&) { return crochet::feed<"rate">(1.0F); });
#else
  const crochet::Batches& data = batches;
#endif
  crochet::MonitoredSession session{
      Toy{}, crochet::HookChain{crochet::Evaluate{crochet::fetches<"loss">, data, {.every_steps = 2}}}};
  session.run("train"_n);
}
