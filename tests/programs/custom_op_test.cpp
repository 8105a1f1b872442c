// SPDX-License-Identifier: Apache-2.0
// The operations of examples/custom_op, tested as the library's own are: gradients against finite differences in
// double, values against naive code over odd shapes, in float and double, with one and more threads.
#include "../../examples/custom_op/leaky_integral.hpp"
#include "../../examples/custom_op/soft_shrink.hpp"

#include <crochet/testing/gradient_check.hpp>

#include "../executor/against_oracle.hpp"

namespace crochet {
namespace custom_op_test {

using custom::leaky_integral;
using custom::soft_shrink;

/// The rules of the operations for the Oracle, as simple as possible.
double shrunk(double x, double threshold, double) {
  return x > threshold ? x - threshold : x < -threshold ? x + threshold : 0;
}
void integrate(const testing::Use& u) {
  const auto steps = static_cast<std::size_t>(u.out.shape.back());
  const bool backwards = u.attributes.ints[0] != 0;
  for (std::size_t at = 0; at < u.out.data.size(); ++at) {
    const std::size_t row = at / steps * steps, t = at % steps;
    for (std::size_t k = backwards ? t : 0; k < (backwards ? steps : t + 1); ++k) {
      const double age = static_cast<double>(backwards ? k - t : t - k);
      u.out.data[at] += u.in[0]->data[row + k] * std::pow(u.attributes.reals[0], age);
    }
  }
}

template <class Both>
void teach(Both& both) {
  both.oracle.teach(custom::soft_shrink_op, testing::ElementRule(shrunk));
  both.oracle.teach(custom::leaky_integral_op, testing::KernelRule(integrate));
}

template <class T>
struct Values {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor row = g.placeholder<T>("row", {batch}), x = g.placeholder<T>("x", {batch, 3, 37});
    const Tensor limits = g.placeholder<T>("limits", {37});
    g.name("integral of a row", leaky_integral(row, 0.9));
    g.name("integrals", leaky_integral(x, 0.7));
    g.name("backwards", leaky_integral(x, -0.5, {.backwards = true}));
    g.name("shrunk", soft_shrink(row, 0.3));
    g.name("shrunk by each", soft_shrink(x, limits));
    g.name("fused", reduce_mean(leaky_integral(soft_shrink(x * 2, 0.1) + 1, 0.5) * 3));
  }
};

template <class T>
void test_values(double tolerance) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Values<T>> both(threads, tolerance);
    teach(both);
    for (std::int64_t batch : {1, 2, 17, 64}) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run_all({batch});
    }
    both.run(Names<Name<"integral of a row">, Name<"integrals">, Name<"backwards">, Name<"shrunk">>{}, Names<>{}, {0});
    EXPECT_THROW(both.run_all({0}), ShapeError);  // the mean of an empty batch
  }
}
TEST(CustomOps, ComputeInDouble) { test_values<double>(1e-13); }
TEST(CustomOps, ComputeInFloat) { test_values<float>(2e-6); }

TEST(CustomOps, LetNaNThrough) {
  EXPECT_TRUE(std::isnan(Elementwise<&custom::soft_shrink_op>::apply<float>(NAN, 1.0F)));
}

/// Losses with gradients through the rule of each operation. No element lies near a threshold, where the function has a
/// kink.
struct Losses {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.variable<double>("x", {3, 7}, zeros()), t = g.variable<double>("t", {3, 1}, zeros());
    const Tensor weights = g.variable<double>("weights", {3, 7}, zeros(), false);
    const Tensor y = leaky_integral(leaky_integral(soft_shrink(x, t), 0.8), 0.6, {.backwards = true});
    const Tensor loss = g.name("loss", reduce_sum(square(y) * weights));
    g.name("dx", gradient(loss, x));
    g.name("dt", gradient(loss, t));
  }
};

TEST(CustomOps, HaveRightGradients) {
  using E = cpu::Executor<kernel::Tiles, Losses>;
  E e({2, 1});
  e.initialize();
  E::Workspace w;
  const auto x = e.variable(Name<"x">{}), t = e.variable(Name<"t">{}), weights = e.variable(Name<"weights">{});
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = (i % 3 == 0 ? -1 : 1) *
           (i % 2 == 0 ? 0.05 + 0.004 * static_cast<double>(i) : 0.5 + 0.01 * static_cast<double>(i));
    weights[i] = std::cos(static_cast<double>(i));
  }
  for (std::size_t i = 0; i < t.size(); ++i) t[i] = 0.2 + 0.05 * static_cast<double>(i);
  const auto loss = [&] {
    e.run<Demand<Names<Name<"loss">>, Names<>>>(w);
    return e.fetch<Name<"loss">>(w);
  };
  e.run<Demand<Names<Name<"dx">, Name<"dt">>, Names<>>>(w);
  const auto dx = e.fetch<Name<"dx">>(w), dt = e.fetch<Name<"dt">>(w);
  const std::vector<double> given_x(dx.begin(), dx.end()), given_t(dt.begin(), dt.end());
  EXPECT_LT(testing::check_gradient(x, given_x, loss).error, 1e-8);
  EXPECT_LT(testing::check_gradient(t, given_t, loss).error, 1e-8);
}

TEST(CustomOps, SayWhatIsWrong) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {4}), three = g.placeholder<float>("three", {3});
  const Tensor n = g.placeholder<std::int32_t>("n", {4}), scalar = g.placeholder<float>("scalar", {});
  EXPECT_THROW(soft_shrink(x, three), GraphError);
  EXPECT_THROW(soft_shrink(n, n), GraphError);
  EXPECT_THROW(leaky_integral(n, 0.5), GraphError);
  EXPECT_THROW(leaky_integral(scalar, 0.5), GraphError);
}

}  // namespace custom_op_test
}  // namespace crochet
