// SPDX-License-Identifier: Apache-2.0
// expect-error: summary::Scalar needs a scalar; summary::Histogram takes a tensor
// at-most-bytes: 5500
// A tensor is saved as a scalar.
#include <crochet/executor/cpu.hpp>

#include <crochet/crochet.hpp>
#include <crochet/hooks/summary_saver.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto w = g.variable<float>("w", {3}, crochet::constant_initializer(1));
    g.name("train", minimize(reduce_mean(square(w)), crochet::SGD{}));
  }
};

void train() {
#ifdef CROCHET_FIXED
  using Item = crochet::summary::Histogram<"w">;
#else
  using Item = crochet::summary::Scalar<"w">;
#endif
  auto executor = crochet::Cpu{}.compile<Model>();
  crochet::run(executor, crochet::HookChain{crochet::SummarySaver<Item>{.every_steps = 1}});
}
