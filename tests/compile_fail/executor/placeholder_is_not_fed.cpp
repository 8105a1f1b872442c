// SPDX-License-Identifier: Apache-2.0
// expect-error: needs_a_placeholder_that_nobody_feeds<
// expect-error: "labels"|'l', 'a', 'b', 'e', 'l', 's'
// The loss needs labels; only images are fed.
#include <crochet/executor/cpu.hpp>

#include <crochet/crochet.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto images = g.placeholder<float>("images", {8});
    const auto labels = g.placeholder<float>("labels", {8});
    g.name("loss", reduce_mean(square(images - labels)));
  }
};

float loss(const float (&x)[8], [[maybe_unused]] const float (&y)[8]) {
  crochet::MonitoredSession session{crochet::Cpu{}.compile<Model>(), crochet::HookChain{}};
  const auto images = crochet::feed<"images">(x);
#ifdef CROCHET_FIXED
  const auto [value] = session.run(crochet::fetches<"loss">, images, crochet::feed<"labels">(y));
#else
  const auto [value] = session.run(crochet::fetches<"loss">, images);
#endif
  return value;
}
