// SPDX-License-Identifier: Apache-2.0
// docs/ranks.md and docs/launchers.md against the code: each line of their programs is in this file, which is compiled
// and run.
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
#include <string>
#include <vector>

#include "page.hpp"

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

TEST(RanksPage, TheProgram) {
  std::vector<std::int64_t> steps(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank ranks) {
    cr::Batches data = cr::Batches(images(), 1024).shuffle(1).repeat().shard(ranks);
    // clang-format off
    cr::MonitoredSession session{cr::Parallel{cr::Cpu{.threads = 1}, ranks}.compile<Classifier>(),
                                 cr::HookChain{cr::StopAtStep{.last_step = 200}, cr::LoggingTensor<"loss">{.every_steps = 100}}};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run("train"_n, feeds(data.next()));
    });
    // clang-format on
    steps[static_cast<std::size_t>(ranks.rank())] = session.step();
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
  const std::string source = crochet::test::text_of("tests/docs/ranks_test.cpp");
  const auto lines = crochet::test::block_lines("docs/launchers.md", "```cpp");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(source.find(lines[0] + "\n"), std::string::npos) << lines[0];
}

TEST(RanksPage, ItsProgramsAreInThisFile) {
  const std::string source = crochet::test::text_of("tests/docs/ranks_test.cpp");
  const auto lines = crochet::test::block_lines("docs/ranks.md", "```cpp");
  int elsewhere = 0;
  for (const std::string& line : lines) {
    const bool here = source.find(line.substr(line.find_first_not_of(' ')) + "\n") != std::string::npos;
    if (!here) {
      EXPECT_EQ(line.find("cr::Batches data = cr::fashion_mnist(\"train\")"), 0U) << line;  // here with other images
    }
    elsewhere += here ? 0 : 1;
  }
  EXPECT_EQ(elsewhere, 1);
  EXPECT_EQ(lines.size(), 14U);
}

}  // namespace ranks_page_test
