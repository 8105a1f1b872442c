// SPDX-License-Identifier: Apache-2.0
// Updates fused into the products that compute the gradients: one small network per optimizer, against the Oracle.
// Every variable and slot is compared after every step.
#include "against_oracle.hpp"

namespace crochet {
namespace optimizer_networks_test {

struct Names {
  std::string_view scope, hidden, out, loss, train;
};

/// One network for each optimizer, on the same data.
template <class T>
struct Networks {
  template <class Optimizer>
  static constexpr void learn(GraphBuilder& g, const Names& names, const Optimizer& optimizer,
                              Function<void(VariableGradients&)> clip = {}) {
    const Tensor h = tanh(dense(g["x"], 19, names.hidden, he_normal()));
    const Tensor loss = g.name(names.loss, reduce_mean(square(dense(h, 5, names.out) - g["y"])));
    g.name(names.train, minimize(loss, optimizer, {.scope = names.scope, .count_step = false, .clip = clip}));
  }
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    g.placeholder<T>("x", {batch, 37});
    g.placeholder<T>("y", {batch, 5});
    learn(g, {"a/", "a/hidden", "a/out", "a/loss", "a/train"}, Nesterov{.learning_rate = 0.05});
    learn(g, {"b/", "b/hidden", "b/out", "b/loss", "b/train"},
          RMSProp{.learning_rate = 0.01, .momentum = 0.5, .epsilon = 1e-3, .centered = true}, ClipByNorm{0.5});
    learn(g, {"c/", "c/hidden", "c/out", "c/loss", "c/train"},
          AdamW{.learning_rate = LinearWarmup{.steps = 3, .then = 0.01}, .epsilon = 1e-4, .decays = only_matrices},
          ClipByGlobalNorm{0.5});
  }
};

template <class T>
void train(double tolerance) {
  using Losses = crochet::Names<Name<"a/loss">, Name<"b/loss">, Name<"c/loss">>;
  using Targets = crochet::Names<Name<"a/train">, Name<"b/train">, Name<"c/train">>;
  for (int threads = 1; threads <= 2; ++threads) {
    SCOPED_TRACE(threads);
    AgainstOracle<Networks<T>> both(threads, tolerance);
    for (std::int64_t batch : {33, 64, 1, 17}) both.run(Losses{}, Targets{}, {batch});
  }
}

TEST(OptimizerNetworks, InDouble) { train<double>(1e-10); }

}  // namespace optimizer_networks_test
}  // namespace crochet
