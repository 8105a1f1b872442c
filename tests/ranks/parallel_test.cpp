// SPDX-License-Identifier: Apache-2.0
// Parallel: ranks that are threads of this process train the model of one machine.
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/ranks/wire.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "../executor/device_under_test.hpp"

namespace ranks_parallel_test {

namespace cr = crochet;
using namespace cr::literals;

constexpr std::int64_t pixels = 20, classes = 5;

struct Mlp {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("images", {batch, pixels});
    const auto y = g.placeholder<std::int32_t>("labels", {batch});
    const auto h = cr::relu(cr::dense(x, 16, "hidden"));
    const auto logits = g.name("logits", cr::dense(h, classes, "logits_layer"));
    const auto loss = g.name("loss", cr::sparse_softmax_cross_entropy(logits, y));
    g.name("train", cr::minimize(loss, cr::Adam{0.01}));
  }
};

/// Batches of one machine: pixels and labels of step k.
struct Data {
  explicit Data(std::int64_t rows)
      : rows(rows), images(static_cast<std::size_t>(rows * pixels)), labels(static_cast<std::size_t>(rows)) {}
  void make(int step) {
    for (std::int64_t r = 0; r < rows; ++r) {
      labels[static_cast<std::size_t>(r)] = static_cast<std::int32_t>((r + step) % classes);
      for (std::int64_t c = 0; c < pixels; ++c) {
        images[static_cast<std::size_t>(r * pixels + c)] = std::sin(static_cast<float>(step * 1000 + r * 31 + c * 7)) +
                                                           (c % classes == (r + step) % classes ? 1.0F : 0.0F);
      }
    }
  }
  std::int64_t rows;
  std::vector<float> images;
  std::vector<std::int32_t> labels;
};

/// A device in software takes a millisecond for a step.
constexpr int steps = cr::on_device_under_test ? 25 : 200, few_steps = cr::on_device_under_test ? 4 : 20;

template <class Executor>
std::vector<float> variables_of(Executor& executor) {
  std::vector<float> all;
  std::as_const(executor).for_each_variable([&](auto, auto elements, auto) {
    for (const auto e : elements) all.push_back(static_cast<float>(e));
    return true;
  });
  return all;
}

/// Trains `count` steps on rows [from, to) of each batch.
template <class Executor>
std::vector<float> trained(Executor& executor, std::int64_t batch, std::int64_t from, std::int64_t to, int count,
                           std::vector<float>* losses = nullptr) {
  executor.initialize();
  typename Executor::Workspace workspace;
  Data data(batch);
  using Demand =
      cr::detail::demand_for<Executor, cr::detail::List<cr::Name<"loss">>, cr::detail::List<cr::Name<"train">>>;
  for (int step = 0; step < count; ++step) {
    data.make(step);
    const cr::TensorView<float, 2> x{data.images.data() + from * pixels, {to - from, pixels}};
    const cr::TensorView<std::int32_t, 1> y{data.labels.data() + from, {to - from}};
    executor.template run<Demand>(workspace, cr::feed<"images">(x), cr::feed<"labels">(y));
    if (losses != nullptr) losses->push_back(executor.template fetch<cr::Name<"loss">>(workspace));
  }
  return variables_of(executor);
}

float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  float most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

class OnRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, OnRanks,
                         testing::ValuesIn(cr::on_device_under_test ? std::vector{1, 3} : std::vector{1, 2, 3, 4, 7}));

TEST_P(OnRanks, TrainWhatOneMachineTrains) {
  const int ranks = GetParam();
  const std::int64_t batch = 22;  // does not divide by 3, 4 and 7
  auto alone = cr::Cpu{.threads = 1, .seed = 3}.compile<Mlp>();
  std::vector<float> losses_alone;
  const std::vector<float> expected = trained(alone, batch, 0, batch, steps, &losses_alone);

  std::vector<std::vector<float>> found(static_cast<std::size_t>(ranks)), losses(static_cast<std::size_t>(ranks));
  cr::testing::run_ranks(ranks, [&](cr::testing::ThreadRank me) {
    auto executor = cr::Parallel{cr::DeviceUnderTest{.threads = 1, .seed = 3}, me}.compile<Mlp>();
    const auto r = static_cast<std::size_t>(me.rank());
    found[r] = trained(executor, batch, batch * me.rank() / ranks, batch * (me.rank() + 1) / ranks, steps, &losses[r]);
  });
  for (int r = 0; r < ranks; ++r) {
    EXPECT_EQ(found[static_cast<std::size_t>(r)], found[0]) << "rank " << r;
    EXPECT_EQ(losses[static_cast<std::size_t>(r)], losses[0]) << "rank " << r;
  }
  EXPECT_LT(largest_difference(found[0], expected), 2e-4F);
  EXPECT_LT(largest_difference(losses[0], losses_alone), 2e-5F);
}

/// A classifier's accuracy: the share of rows whose largest score is that of their label.
struct Accuracies {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto scores = g.placeholder<float>("scores", {batch, 3});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    g.name("accuracy", cr::reduce_mean(cr::cast<float>(cr::equal(cr::argmax(scores), labels))));
    g.name("least", cr::reduce_mean(cr::cast<float>(cr::equal(cr::argmin(scores), labels))));
    g.name("train", cr::minimize(cr::reduce_mean(scores * g.variable<float>("w", {3}, cr::ones())), cr::SGD{0.1}));
  }
};

TEST(Parallel, AnAccuracyIsThatOfTheWholeBatch) {
  const std::vector<float> scores{3, 1, 2, 1, 3, 2, 1, 2, 3, 3, 2, 1, 1, 2, 3};
  const std::vector<std::int32_t> labels{0, 0, 2, 1, 0};
  std::vector<float> accuracy(2), least(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    auto executor = cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Accuracies>();
    executor.initialize();
    typename decltype(executor)::Workspace workspace;
    const std::int64_t from = me.rank() == 0 ? 0 : 2, rows = me.rank() == 0 ? 2 : 3;
    using Demand = cr::detail::demand_for<decltype(executor), cr::detail::List<cr::Name<"accuracy">, cr::Name<"least">>,
                                          cr::detail::List<>>;
    executor.template run<Demand>(
        workspace, cr::feed<"scores">(cr::TensorView<const float, 2>{scores.data() + 3 * from, {rows, 3}}),
        cr::feed<"labels">(cr::TensorView<const std::int32_t, 1>{labels.data() + from, {rows}}));
    const auto rank = static_cast<std::size_t>(me.rank());
    accuracy[rank] = executor.template fetch<cr::Name<"accuracy">>(workspace);
    least[rank] = executor.template fetch<cr::Name<"least">>(workspace);
  });
  EXPECT_FLOAT_EQ(accuracy[0], 0.4F);
  EXPECT_EQ(accuracy[1], accuracy[0]);
  EXPECT_FLOAT_EQ(least[0], 0.4F);
  EXPECT_EQ(least[1], least[0]);
}

/// A count of rows, and the sum of their labels.
struct Counts {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    g.name("positive", cr::reduce_sum(cr::cast<std::int32_t>(cr::greater(labels, 0))));
    g.name("sum", cr::reduce_sum(cr::cast<std::int64_t>(labels)));
    const auto share = cr::reduce_mean(cr::cast<float>(cr::greater(labels, 0)));
    g.name("tenths", cr::cast<std::int32_t>(share * 10 + 0.5));
    const auto x = cr::cast<float>(labels) * g.variable<float>("w", {}, cr::ones());
    g.name("train", cr::minimize(cr::reduce_mean(x), cr::SGD{0.1}));
  }
};
TEST(Parallel, SumsOfIntegersAreThoseOfTheWholeBatch) {
  const std::vector<std::int32_t> labels{1'000'000'007, 0, -2, 1'000'000'007, 5};
  std::vector<std::int32_t> positive(2), tenths(2);
  std::vector<std::int64_t> sum(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Counts>()};
    const std::int64_t from = me.rank() == 0 ? 0 : 2, rows = me.rank() == 0 ? 2 : 3;
    const auto [p, s, t] =
        session.run(cr::fetches<"positive", "sum", "tenths">,
                    cr::feed<"labels">(cr::TensorView<const std::int32_t, 1>{labels.data() + from, {rows}}));
    positive[static_cast<std::size_t>(me.rank())] = p;
    sum[static_cast<std::size_t>(me.rank())] = s;
    tenths[static_cast<std::size_t>(me.rank())] = t;
    session.close();
  });
  EXPECT_EQ(positive, (std::vector<std::int32_t>{3, 3}));
  EXPECT_EQ(tenths, (std::vector<std::int32_t>{6, 6})) << "6.5, rounded behind the exchange";
  EXPECT_EQ(sum, (std::vector<std::int64_t>{2'000'000'017, 2'000'000'017}));
}

/// Its gradients are exchanged in several messages: those of two matrices, and a bucket.
struct Wide {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("images", {batch, pixels});
    const auto y = g.placeholder<std::int32_t>("labels", {batch});
    const auto first = cr::batch_norm(cr::relu(cr::dense(x, 301, "first")), "norm", true);
    const auto h = cr::relu(cr::dense(first, 40, "second"));
    const auto loss = g.name("loss", cr::sparse_softmax_cross_entropy(cr::dense(h, classes, "logits_layer"), y));
    g.name("train", cr::minimize(loss, cr::Momentum{0.01, 0.9}, {.clip = cr::ClipByGlobalNorm{1.0}}));
  }
};

/// The losses and variables of each rank after a few steps with this way to exchange.
template <class Exchange>
std::vector<std::vector<float>> trained_by(Exchange exchange, int ranks, int threads = 1) {
  constexpr std::int64_t batch = 22;
  std::vector<std::vector<float>> found(static_cast<std::size_t>(ranks));
  cr::testing::run_ranks(ranks, [&](cr::testing::ThreadRank me) {
    auto executor =
        cr::Parallel{cr::DeviceUnderTest{.threads = threads, .seed = 3}, me, exchange}.template compile<Wide>();
    std::vector<float> losses;
    auto& mine = found[static_cast<std::size_t>(me.rank())];
    mine = trained(executor, batch, batch * me.rank() / ranks, batch * (me.rank() + 1) / ranks, few_steps, &losses);
    mine.insert(mine.end(), losses.begin(), losses.end());
  });
  for (const auto& f : found) EXPECT_EQ(f, found[0]);
  return found;
}

TEST_P(OnRanks, AnOverlappedExchangeHasTheBitsOfABlockingOne) {
  const int ranks = GetParam();
  const auto blocking = trained_by(cr::BlockingExchange{}, ranks);
  EXPECT_EQ(trained_by(cr::OverlappedExchange{}, ranks), blocking);
  EXPECT_EQ(trained_by(cr::OverlappedExchange{}, ranks, 2), trained_by(cr::BlockingExchange{}, ranks, 2));
  constexpr auto half = cr::Compression::bfloat16;
  const auto compressed = trained_by(cr::BlockingExchange{.compression = half}, ranks);
  EXPECT_EQ(trained_by(cr::OverlappedExchange{.compression = half}, ranks), compressed);
  EXPECT_EQ(compressed == blocking, ranks == 1) << "with one rank nothing is on a wire";
  EXPECT_LT(largest_difference(compressed[0], blocking[0]), 3e-2F);
}

// Moments of batch norm, losses and norms are not compressed: they are those of the whole batch. The first step's loss
// precedes every update.
TEST(Compression, IsThatOfGradientsOnly) {
  const auto losses_of = [](const auto& found) { return found[0][found[0].size() - few_steps]; };
  const auto compressed = trained_by(cr::BlockingExchange{.compression = cr::Compression::bfloat16}, 3);
  EXPECT_EQ(losses_of(compressed), losses_of(trained_by(cr::BlockingExchange{}, 3)));
}

TEST(Compression, IsTheSameOnAllRanks) {
  int refused = 0;
  std::mutex mutex;
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    const auto compression = me.rank() == 0 ? cr::Compression::bfloat16 : cr::Compression::none;
    auto executor =
        cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me, cr::BlockingExchange{compression}}.compile<Mlp>();
    try {
      trained(executor, 4, 2 * me.rank(), 2 * me.rank() + 2, 1);
    } catch (const cr::RanksDisagreeError&) {
      const std::lock_guard lock(mutex);
      ++refused;
    }
  });
  EXPECT_EQ(refused, 2);
}

}  // namespace ranks_parallel_test
