// SPDX-License-Identifier: Apache-2.0
// expect-error: boundaries_of_a_piecewise_schedule_must_ascend
// A schedule of two boundaries in the wrong order. g++ names the schedule, not the line of the call.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto w = g.variable<float>("w", {3}, crochet::ones());
    const auto loss = reduce_mean(square(w));
    // clang-format off
#ifdef CROCHET_FIXED
    minimize(loss, crochet::SGD{.learning_rate = crochet::PiecewiseConstant{.boundaries = {10, 20}, .values = {3, 2, 1}}});
#else
    minimize(loss, crochet::SGD{.learning_rate = crochet::PiecewiseConstant{.boundaries = {20, 10}, .values = {3, 2, 1}}});
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();
