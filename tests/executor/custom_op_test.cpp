// SPDX-License-Identifier: Apache-2.0
// An operation defined outside the library: the example of CONTRIBUTING.md.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>

#include <vector>

#include "device_under_test.hpp"

namespace custom_op_test {

constexpr crochet::TypedShape infer_square_plus(const crochet::OpInputs& in) {
  in.want_floating(0);
  return in[0];
}
constexpr void gradient_of_square_plus(crochet::GradientScope& s) { s.give(0, s.upstream() * (s.input(0) * 2)); }

inline constexpr crochet::Op square_plus{"square_plus", crochet::OpKind::elementwise, infer_square_plus,
                                         gradient_of_square_plus};

constexpr crochet::Tensor squared_plus_one(crochet::Tensor x) { return x.graph->apply(square_plus, x); }
}  // namespace custom_op_test

template <>
struct crochet::Elementwise<&custom_op_test::square_plus> {
  template <class T, class V>
  static V apply(const V& a) {
    return static_cast<V>(a * a + T(1));
  }
};

namespace custom_op_test {

using namespace crochet::literals;

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("n")});
    const auto w = g.variable<float>("w", {}, crochet::constant_initializer(3));
    g.name("y", squared_plus_one(x) + 1);
    const auto loss = g.name("loss", squared_plus_one(w));
    g.name("train", minimize(loss, crochet::SGD{.learning_rate = 0.125}));
  }
};

TEST(CustomOp, ComputesVectorsAndTails) {
  crochet::MonitoredSession session{crochet::DeviceUnderTest{}.compile<Model>(), crochet::HookChain{}};
  std::vector<float> x(37);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 5;
  const auto [y] = session.run(crochet::fetches<"y">, crochet::feed<"x">(x));
  ASSERT_EQ(y.size(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_FLOAT_EQ(y[i], x[i] * x[i] + 2) << i;
  session.close();
}

TEST(CustomOp, HasAGradient) {
  crochet::MonitoredSession session{crochet::DeviceUnderTest{}.compile<Model>(), crochet::HookChain{}};
  const auto [loss] = session.run(crochet::fetches<"loss">, crochet::targets<"train">);
  EXPECT_FLOAT_EQ(loss, 10);
  EXPECT_FLOAT_EQ(session.executor().variable("w"_n)[0], 3 - 0.125F * 6);
  session.close();
}

}  // namespace custom_op_test
