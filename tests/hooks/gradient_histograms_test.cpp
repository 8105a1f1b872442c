// SPDX-License-Identifier: Apache-2.0
// GradientHistograms records the gradients of the current step and does not compute them a second time.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/plan/describe.hpp>
#include <crochet/hooks/gradient_histograms.hpp>
#include <crochet/testing/recorded_summaries.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gradient_histograms_test {

namespace cr = crochet;
using namespace cr::literals;

/// loss = mean over the batch of (x w - y)^2, one step of SGD.
struct Line {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {4, 3});
    const auto y = g.placeholder<float>("y", {4, 1});
    const auto w = g.variable<float>("w", {3, 1}, cr::constant_initializer(0.5));
    const auto b = g.variable<float>("b", {1}, cr::zeros());
    const auto loss = g.name("loss", reduce_mean(square(matmul(x, w) + b - y)));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.125}));
  }
};

const std::vector<float> x{1, 2, 3, -1, 0, 2, 0.5F, 1, 1, 3, -2, 1}, y{1, -1, 2, 0};

std::vector<float> values_of(const cr::io::Summary& summary, std::size_t i) {
  return std::get<std::vector<float>>(summary.values()[i].content);
}

TEST(GradientHistograms, AreThoseOfTheStepThatIsMade) {
  cr::testing::RecordedSummaries saved;
  using Hook = cr::GradientHistograms<"loss", "w", "b">;
  cr::MonitoredSession session{cr::Cpu{}.compile<Line>(), cr::HookChain{Hook{{.every_steps = 2, .summaries = saved}}}};
  const auto now = [&] {
    const auto w = session.executor().variable("w"_n);
    std::vector<float> all(w.begin(), w.end());
    all.push_back(session.executor().variable("b"_n)[0]);
    return all;
  };
  for (int i = 0; i < 4; ++i) {
    const std::vector<float> before = now();
    session.run("train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
    if (i % 2 == 0) continue;  // not due
    const std::vector<float> after = now();
    const cr::io::Summary& summary = saved.summaries().back();
    ASSERT_EQ(summary.values().size(), 2U);
    EXPECT_EQ(summary.values()[0].tag, "gradients/w");
    EXPECT_EQ(summary.values()[1].tag, "gradients/b");
    std::vector<float> gradient = values_of(summary, 0);
    gradient.push_back(values_of(summary, 1)[0]);
    ASSERT_EQ(gradient.size(), 4U);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(gradient[k], (before[k] - after[k]) / 0.125F, 1e-5) << i << k;
    EXPECT_GT(std::abs(gradient[0]), 1e-3F);
  }
  session.close();
  EXPECT_EQ(saved.lines(),
            (std::vector<std::string>{"2: gradients/w = [3 values], gradients/b = [1 values]",
                                      "4: gradients/w = [3 values], gradients/b = [1 values]", "stop 4", "flush"}));
}

/// d a / d w = 1, d b / d w = 100.
struct TwoLosses {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto w = g.variable<float>("w", {2}, cr::zeros());
    const auto a = g.name("a", reduce_sum(w)), b = g.name("b", reduce_sum(w * 100.0F));
    g.name("train", minimize(a + b, cr::SGD{.learning_rate = 0.125}));
  }
};

TEST(GradientHistograms, OfTwoLossesAreApart) {
  cr::testing::RecordedSummaries of_a, of_b;
  cr::HookChain chain{cr::GradientHistograms<"a", "w">{{.every_steps = 1, .summaries = of_a}},
                      cr::GradientHistograms<"b", "w">{{.every_steps = 1, .summaries = of_b}}};
  cr::MonitoredSession session{cr::Cpu{}.compile<TwoLosses>(), std::move(chain)};
  session.run("train"_n);
  session.close();
  ASSERT_EQ(of_a.summaries().size(), 1U);
  ASSERT_EQ(of_b.summaries().size(), 1U);
  EXPECT_EQ(of_a.summaries()[0].values()[0].tag, "gradients/w") << "as of one hook";
  EXPECT_EQ(of_b.summaries()[0].values()[0].tag, "gradients/w/of/b");
  EXPECT_EQ(values_of(of_a.summaries()[0], 0), (std::vector<float>{1, 1}));
  EXPECT_EQ(values_of(of_b.summaries()[0], 0), (std::vector<float>{100, 100}));
}

TEST(GradientHistograms, CostNoSecondBackwardSweep) {
  using Extended = decltype(cr::Cpu{}.compile<Line>())::extended_by<cr::GradientHistograms<"loss", "w", "b">>;
  const auto products = [](const std::string& plan) {
    std::size_t n = 0;
    for (std::size_t at = plan.find("matmul"); at != std::string::npos; at = plan.find("matmul", at + 1)) ++n;
    return n;
  };
  const std::string plain = describe(Extended{}, cr::fetches<>, cr::targets<"train">);
  const std::string with = describe(Extended{}, cr::fetches<"gradients/w", "gradients/b">, cr::targets<"train">);
  EXPECT_EQ(products(plain), 2U) << plain << "forward, and the gradient of w";
  EXPECT_EQ(products(with), 2U) << with;
}

}  // namespace gradient_histograms_test
