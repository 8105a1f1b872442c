// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::needs_a_placeholder_that_nobody_feeds<
// expect-error: "labels"|'l', 'a', 'b', 'e', 'l', 's'
// expect-error: feed_is_forgotten.cpp:1[0-9]
// The loss needs labels; only images are fed.
#include "program.hpp"

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks()};
  cr::run_session(session, [&](auto& s) {
    const auto images = cr::feed<"images">(batch.images);
#ifdef CROCHET_FIXED
    while (!s.should_stop()) s.run("train"_n, images, cr::feed<"labels">(batch.labels));
#else
    while (!s.should_stop()) s.run("train"_n, images);
#endif
  });
}
