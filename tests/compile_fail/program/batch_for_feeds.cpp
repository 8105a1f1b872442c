// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::this_is_no_part_of_a_request<Batch>
// expect-error: batch_for_feeds.cpp:1[0-9]
// A batch has no names of placeholders.
#include "program.hpp"

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks()};
#ifdef CROCHET_FIXED
  const auto [loss] = session.run(cr::fetches<"loss">, "train"_n, feeds_of(batch));
#else
  const auto [loss] = session.run(cr::fetches<"loss">, "train"_n, batch);
#endif
}
