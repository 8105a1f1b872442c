// SPDX-License-Identifier: Apache-2.0
// What a network of each kind needs to be the one of one machine: moments of batch norm, masks of dropout, clipping,
// accumulation, sums as losses.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "../executor/device_under_test.hpp"
#include "models.hpp"

namespace ranks_models_test {

namespace cr = crochet;
using namespace ranks_models;

/// A device in software takes a millisecond or more for a step.
constexpr int steps = cr::on_device_under_test ? 12 : 200;

template <class Model>
void expect_one_machines_training(float tolerance, int threads = 1) {
  constexpr std::int64_t batch = 22;
  auto alone = cr::Cpu{.threads = 1, .seed = 5}.compile<Model>();
  const std::vector<float> expected = train(alone, batch, 0, 1, steps);
  for (const int ranks : {2, 3}) {
    std::vector<std::vector<float>> found(static_cast<std::size_t>(ranks));
    cr::testing::run_ranks(ranks, [&](cr::testing::ThreadRank me) {
      auto executor = cr::Parallel{cr::DeviceUnderTest{.threads = threads, .seed = 5}, me}.compile<Model>();
      found[static_cast<std::size_t>(me.rank())] = train(executor, batch, me.rank(), ranks, steps);
    });
    for (const auto& f : found) EXPECT_EQ(f, found[0]);
    ASSERT_EQ(found[0].size(), expected.size());
    float most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      most = std::max(most, std::abs(found[0][i] - expected[i]) / std::max(1.0F, std::abs(expected[i])));
    }
    EXPECT_LT(most, tolerance) << ranks << " ranks";
  }
}

TEST(ModelsOnRanks, BatchNormDropoutAndClippingAreThoseOfTheWholeBatch) { expect_one_machines_training<Cnn>(2e-3F); }
TEST(ModelsOnRanks, AttentionAndLayerNormArePerRow) { expect_one_machines_training<Transformer>(2e-3F); }
TEST(ModelsOnRanks, RandomNumbersAreThoseOfOneMachine) { expect_one_machines_training<Noisy>(2e-3F); }
TEST(ModelsOnRanks, ASumAsLossIsTheSumOverRanks) { expect_one_machines_training<SummedLoss>(2e-4F); }
TEST(ModelsOnRanks, AccumulatedGradientsAreExchangedOnceTheyAreApplied) {
  expect_one_machines_training<Accumulated>(2e-4F);
}
TEST(ModelsOnRanks, ThreadsOfARankDivideItsRows) { expect_one_machines_training<Cnn>(2e-3F, 2); }

struct Rounded {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    g.name("mean", cr::cast<cr::bfloat16>(cr::reduce_mean(cr::square(x))));
  }
};
TEST(ModelsOnRanks, AScalarThatIsStoredAsBfloat16IsThatOfTheWholeBatch) {
  using namespace cr::literals;
  const std::vector<float> x{1, 2, 3, 10, 20, 30};
  const auto mean_of = [](auto device, const std::vector<float>& rows) {
    cr::MonitoredSession session{device.template compile<Rounded>(), cr::HookChain{}};
    const float mean = session.run(cr::fetches<"mean">, cr::feed<"x">(rows))["mean"_n];
    session.close();
    return mean;
  };
  const float expected = mean_of(cr::Cpu{.threads = 1}, x);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    const auto mine = x.begin() + 3 * me.rank();
    EXPECT_EQ(mean_of(cr::Parallel{cr::DeviceUnderTest{}, me}, {mine, mine + 3}), expected);
  });
}

}  // namespace ranks_models_test
