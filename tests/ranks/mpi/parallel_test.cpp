// SPDX-License-Identifier: Apache-2.0
// Parallel: processes train what threads as ranks train, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/mpi.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace parallel_test {

namespace cr = crochet;
using namespace cr::literals;

constexpr std::int64_t pixels = 20, classes = 5, batch = 22;  // 22 rows do not divide by 3 and 4

struct Mlp {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto rows = g.dynamic("batch");
    const auto x = g.placeholder<float>("images", {rows, pixels});
    const auto y = g.placeholder<std::int32_t>("labels", {rows});
    const auto h = cr::relu(cr::dense(x, 300, "hidden"));  // its gradients take more than one piece of an exchange
    const auto logits = cr::dense(h, classes, "logits_layer");
    g.name("train", cr::minimize(g.name("loss", cr::sparse_softmax_cross_entropy(logits, y)), cr::Adam{0.01}));
  }
};

/// A hash of all variables' bits after 50 steps on this rank's rows.
template <class C, class Exchange = cr::BlockingExchange>
std::uint64_t trained(C ranks, Exchange exchange = {}) {
  auto executor = cr::Parallel{cr::Cpu{.threads = 1, .seed = 3}, ranks, exchange}.template compile<Mlp>();
  using Executor = decltype(executor);
  executor.initialize();
  typename Executor::Workspace workspace;
  const std::int64_t first = batch * ranks.rank() / ranks.size(), last = batch * (ranks.rank() + 1) / ranks.size();
  std::vector<float> images(static_cast<std::size_t>(batch * pixels));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(batch));
  for (std::int64_t step = 0; step < 50; ++step) {
    for (std::size_t i = 0; i < images.size(); ++i)
      images[i] = std::sin(static_cast<float>(step * 1000) + static_cast<float>(i));
    for (std::size_t r = 0; r < labels.size(); ++r)
      labels[r] = static_cast<std::int32_t>((r * 3 + static_cast<std::size_t>(step)) % classes);
    using Demand =
        cr::detail::demand_for<Executor, cr::detail::List<cr::Name<"loss">>, cr::detail::List<cr::Name<"train">>>;
    executor.template run<Demand>(
        workspace, cr::feed<"images">(cr::TensorView<float, 2>{images.data() + first * pixels, {last - first, pixels}}),
        cr::feed<"labels">(cr::TensorView<std::int32_t, 1>{labels.data() + first, {last - first}}));
  }
  std::uint64_t hash = 0xcbf29ce484222325U;
  std::as_const(executor).for_each_variable([&](auto, auto elements, auto) {
    for (const auto e : elements) {
      const auto value = static_cast<float>(e);
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      hash = (hash ^ bits) * 0x100000001b3U;
    }
    return true;
  });
  return hash;
}

TEST(Parallel, OnProcessesTrainsWhatThreadsAsRanksTrain) {
  cr::Mpi ranks{MPI_COMM_WORLD, {.abort_after_secs = 30}};
  const std::uint64_t mine = trained(ranks);
  std::uint64_t threads = 0;
  if (ranks.rank() == 0) {
    cr::testing::run_ranks(ranks.size(), [&](cr::testing::ThreadRank me) {
      const std::uint64_t hash = trained(me);
      if (me.rank() == 0) threads = hash;
    });
  }
  ranks.broadcast(std::as_writable_bytes(std::span{&threads, 1}), 0);
  EXPECT_EQ(mine, threads);
}

// On processes the messages are in flight while the next steps compute.
TEST(Parallel, AnOverlappedExchangeHasTheBitsOfABlockingOne) {
  cr::Mpi ranks{MPI_COMM_WORLD, {.abort_after_secs = 30}};
  EXPECT_EQ(trained(ranks, cr::OverlappedExchange{}), trained(ranks));
  const auto half = cr::Compression::bfloat16;
  EXPECT_EQ(trained(ranks, cr::OverlappedExchange{half}), trained(ranks, cr::BlockingExchange{half}));
}

}  // namespace parallel_test
