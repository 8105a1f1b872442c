// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::int8_products_are_for_inference_but_a_run_changes<
// expect-error: "dense/kernel"|'d', 'e', 'n', 's', 'e'
// A step of training with products for inference.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu/int8.hpp>

#include <vector>

namespace cr = crochet;

struct Fitted {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    g.name("train", minimize(g.name("loss", reduce_mean(square(dense(x, 2, "dense")))), cr::SGD{0.1}));
  }
};

float train_once(const std::vector<float>& x) {
#ifdef CROCHET_FIXED
  cr::MonitoredSession session{cr::Cpu{}.compile<Fitted>(), cr::HookChain{}};
#else
  cr::MonitoredSession session{cr::Int8Cpu{}.compile<Fitted>(), cr::HookChain{}};
#endif
  const auto [loss] = session.run(cr::fetches<"loss">, cr::targets<"train">, cr::feed<"x">(x));
  return loss;
}
