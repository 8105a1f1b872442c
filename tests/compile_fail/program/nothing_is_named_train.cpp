// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::runs_a_target_that_is_not_in_the_graph<crochet::error::the_training_loop,
// expect-error: there_are<
// expect-error: nothing_is_named_train.cpp:2[0-9]
// A model without any name is not a step function: `run` has nothing to run. (The corrected one has a target of another
// name, which its data request.)
#include "program.hpp"

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto w = g.variable<float>("", {}, cr::constant_initializer(0));
    [[maybe_unused]] const auto step = minimize(reduce_mean(square(w)), cr::SGD{});
#ifdef CROCHET_FIXED
    g.name("update", step);
#endif
  }
};

void train() {
  auto executor = cr::Cpu{}.compile<Model>();
#ifdef CROCHET_FIXED
  cr::run(executor, cr::HookChain{cr::StopAtStep{.last_step = 9}}, [] { return cr::RunArgs{cr::targets<"update">}; });
#else
  cr::run(executor, cr::HookChain{cr::StopAtStep{.last_step = 9}});
#endif
}
