// SPDX-License-Identifier: Apache-2.0
// expect-error: only_minimize_accumulates_over_runs
// apply_gradients with the option accumulate, which it would not obey.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto loss = reduce_mean(square(g.variable<float>("w", {3}, crochet::ones())));
#ifdef CROCHET_FIXED
    minimize(loss, crochet::SGD{.learning_rate = 0.1}, {.accumulate = {.steps = 4}});
#else
    apply_gradients(crochet::SGD{.learning_rate = 0.1}, compute_gradients(loss), {.accumulate = {.steps = 4}});
#endif
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();
