// SPDX-License-Identifier: Apache-2.0
// The layer, the operation and the gradient check of docs/operations.md.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/testing/gradient_check.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

namespace cr = crochet;

// Outside of a namespace, as its functor is a specialization in the namespace crochet.
// clang-format off
constexpr cr::TypedShape infer_soft_abs(const cr::OpInputs& in) {
  in.want_floating(0);
  return in[0];
}
constexpr void gradient_of_soft_abs(cr::GradientScope& s) { s.give(0, s.upstream() * s.input(0) / (s.output() + 1)); }
inline constexpr cr::Op soft_abs_op{"soft_abs", cr::OpKind::elementwise, infer_soft_abs, gradient_of_soft_abs};
constexpr cr::Tensor soft_abs(cr::Tensor x) { return x.graph->apply(soft_abs_op, x); }

template <>
struct crochet::Elementwise<&soft_abs_op> {   // sqrt(x^2 + 1) - 1, for one element or a vector of them
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& x) {
    return simd::sqrt(static_cast<V>(x * x + T(1))) - T(1);
  }
};
// clang-format on

namespace operations_page_test {

using namespace cr::literals;

// clang-format off
constexpr cr::Tensor gated(cr::Tensor x, std::int64_t units, std::string_view name) {
  const cr::Extent inputs = x.shape().from_right(0);   // the last dimension: a number, or a dynamic one
  const auto kernel = x.graph->variable<float>(cr::joined_name(name, "/kernel"), {inputs, 2 * units}, cr::he_normal());
  const auto [value, gate] = split<2>(matmul(x, kernel), -1);
  return value * sigmoid(gate);
}
// clang-format on

// clang-format off
struct Checked {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.variable<double>("x", {3, 4}, cr::uniform(-2, 2));
    const auto loss = g.name("loss", reduce_sum(square(soft_abs(x))));
    g.name("dx", gradient(loss, x));
  }
};
// clang-format on

TEST(OperationsPage, TheGradientOfAnOperation) {
  // clang-format off
  cr::MonitoredSession session{cr::Cpu{}.compile<Checked>(), cr::HookChain{}};
  const auto [dx] = session.run(cr::fetches<"dx">);
  const std::vector<double> given(dx.begin(), dx.end());   // dx is a view, valid until the next run
  const auto check = cr::testing::check_gradient(session.executor().variable("x"_n), given, [&] {
    return session.run(cr::fetches<"loss">)["loss"_n];
  });
  std::printf("the largest relative error is %g\n", check.error);
  session.close();
  // clang-format on
  EXPECT_LT(check.error, 1e-8);
}

/// The functions that the page names for functors, all of them at one place.
template <class T, class V>
V functions(const V& x) {
  namespace simd = crochet::simd;
  const V sum = simd::exp(x) + simd::expm1(x) + simd::log(x) + simd::log1p(x) + simd::sqrt(x) + simd::sin(x) +
                simd::cos(x) + simd::tanh(x) + simd::sigmoid(x) + simd::erf(x) + simd::erfc(x) + simd::maximum(x, x) +
                simd::minimum(x, x);
  return sum + simd::lane_by_lane([](T element) { return std::tgamma(element); }, x);
}

TEST(OperationsPage, TheFunctionsOfFunctors) {
  const double one = functions<double>(0.5);
  const auto four = functions<double>(crochet::simd::vec<double, 4>{} + 0.5);
  EXPECT_DOUBLE_EQ(four[3], one);
  EXPECT_NEAR(functions<float>(0.5F), one, 1e-5);
}

struct Gated {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 2});
    g.name("y", gated(x, 3, "gate"));
  }
};

TEST(OperationsPage, ALayer) {
  auto executor = cr::Cpu{.threads = 1, .seed = 1}.compile<Gated>();
  cr::MonitoredSession session{executor, cr::HookChain{}};
  const std::vector<float> x{0.5F, -0.25F};
  const auto [y] = session.run(cr::fetches<"y">, cr::feed<"x">(x));
  const auto kernel = executor.variable("gate/kernel"_n);
  ASSERT_EQ(kernel.size(), 12U);
  for (std::size_t i = 0; i < 3; ++i) {
    const float value = x[0] * kernel[i] + x[1] * kernel[6 + i], gate = x[0] * kernel[3 + i] + x[1] * kernel[9 + i];
    EXPECT_NEAR(y(0, i), value / (1 + std::exp(-gate)), 1e-6);
  }
  session.close();
}

}  // namespace operations_page_test
