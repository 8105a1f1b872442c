// SPDX-License-Identifier: Apache-2.0
// The programs of docs/ranks.md and docs/launchers.md.
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/stop_on_signal.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace ranks_page_test {

namespace cr = crochet;
using namespace cr::literals;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("images", {g.dynamic("batch"), 4});
    const auto y = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    // clang-format off
    const auto largest = g.variable<float>("largest", {}, cr::zeros(), false);
    const auto now = cr::mean_over_ranks(cr::reduce_max(x));
    // clang-format on
    const auto loss = g.name("loss", cr::sparse_softmax_cross_entropy(cr::dense(x, 3, "out"), y));
    g.name("train", cr::group({cr::minimize(loss, cr::SGD{0.1}), g.assign(largest, now)}));
  }
};
using Classifier = Model;

cr::LabelledImages images() {
  cr::LabelledImages::Images pixels{{2048, 2, 2}, std::vector<std::uint8_t>(2048 * 4, 100)};
  return {std::move(pixels), cr::LabelledImages::Labels{{2048}, std::vector<std::uint8_t>(2048, 1)}};
}
auto feeds(const cr::Batch& b) { return cr::RunArgs{cr::feed<"images">(b.images), cr::feed<"labels">(b.labels)}; }

template <class Parallel>
std::int64_t steps_with(const Parallel& device) {
  auto data = cr::Batches(images(), 1024).shard(device.communicator);
  cr::MonitoredSession session{device.template compile<Model>(), cr::HookChain{}};
  session.run("train"_n, feeds(data.next()));
  return session.step();
}

TEST(RanksPage, SlowNetworksAndTheMemoryOfTheOptimizer) {
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank ranks) {
    constexpr auto half = cr::Compression::bfloat16;
    auto overlapped = cr::Parallel{cr::Cpu{.threads = 1}, ranks, cr::OverlappedExchange{}};
    auto compressed = cr::Parallel{cr::Cpu{.threads = 1}, ranks, cr::BlockingExchange{.compression = half}};
    auto both = cr::Parallel{cr::Cpu{.threads = 1}, ranks, cr::OverlappedExchange{.compression = half}};
    EXPECT_EQ(steps_with(overlapped), 1);
    EXPECT_EQ(steps_with(compressed), 1);
    EXPECT_EQ(steps_with(both), 1);
    auto sharded = cr::Parallel{cr::Cpu{.threads = 1}, ranks, cr::ShardedOptimizer<2>{}};
    EXPECT_EQ(steps_with(sharded), 1);
  });
}

namespace with_small_images {

/// crochet, with the images of this file as data set.
namespace cr {
using namespace crochet;  // NOLINT(google-build-using-namespace)
LabelledImages fashion_mnist(std::string_view /*part*/) { return images(); }
}  // namespace cr

std::int64_t steps_of_the_program(cr::testing::ThreadRank ranks) {
  // clang-format off
cr::Batches data = cr::fashion_mnist("train").batch(1024).shuffle(1).repeat().shard(ranks);
cr::MonitoredSession session{cr::Parallel{cr::Cpu{.threads = 1}, ranks}.compile<Classifier>(),
                             cr::HookChain{cr::StopAtStep{.last_step = 200}, cr::LoggingTensor<"loss">{.every_steps = 100}}};
cr::run_session(session, [&](auto& s) {
  while (!s.should_stop()) s.run("train"_n, feeds(data.next()));
});
  // clang-format on
  return session.step();
}

}  // namespace with_small_images

TEST(RanksPage, TheProgram) {
  std::vector<std::int64_t> steps(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank ranks) {
    steps[static_cast<std::size_t>(ranks.rank())] = with_small_images::steps_of_the_program(ranks);
  });
  EXPECT_EQ(steps, (std::vector<std::int64_t>{200, 200}));
}

TEST(RanksPage, PlacesAndTests) {
  // clang-format off
  cr::HookChain chain{cr::StopAtStep{.last_step = 100}, cr::OnRank<1, cr::LoggingTensor<"loss">>{{.every_steps = 10}}};
  cr::testing::run_ranks(3, [&](cr::testing::ThreadRank ranks) {
    auto executor = cr::Parallel{cr::Cpu{.threads = 1}, ranks}.compile<Model>();
    executor.initialize();
  });
  cr::Solo ranks;
  auto fixed = cr::Parallel{cr::Cpu{.threads = 1}, ranks, {.shards = 8}};
  // clang-format on
  fixed.compile<Model>().initialize();
  EXPECT_EQ(decltype(chain)::size, 2U);
}

TEST(RanksPage, TheChainOfALaunchedProgram) {
  cr::Batches data = cr::Batches(images(), 1024).repeat();
  // clang-format off
  cr::HookChain chain{cr::StopOnSignal{}, cr::CheckpointInputPipeline{data}, cr::StopAtStep{.last_step = 10'000}};
  // clang-format on
  cr::MonitoredSession session{cr::Cpu{.threads = 1}.compile<Model>(), std::move(chain)};
  session.run("train"_n, feeds(data.next()));
  session.close();
  EXPECT_EQ(session.step(), 1);
}

}  // namespace ranks_page_test
