// SPDX-License-Identifier: Apache-2.0
// A run on one of several ranks, on a device in software: its launches and copies as exact numbers, what the waits and
// events between them are for, and a device that fails while other ranks wait. tests/ranks has its results.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/hooks.hpp>
#include <crochet/kernels/exchange.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulation/software_device.hpp"

namespace crochet {
namespace rank_exchanges_test {

using namespace crochet::literals;
using emulation::SoftwareDevice;

/// The values of the other rank of two are -0.5 times those of this one.
class OneOfTwo final : public kernel::Exchange {
 public:
  OneOfTwo() { task_ = 0; }
  void begin(std::uint64_t /*kind*/, std::int64_t rows) override {
    if (fails_to_begin) throw PeerFailedError("crochet: rank 1 failed");
    begun += 1;
    first_row_ = is_first ? 0 : rows;
  }
  void reduce(void* values, std::int64_t n, DType type, kernel::RankReduction how) noexcept override {
    add(values, values, n, type, how);
  }
  int begin_reduce(const void* values, std::int64_t n, DType type, kernel::RankReduction how) noexcept override {
    const std::size_t bytes = static_cast<std::size_t>(n) * size_of(type);
    std::vector<std::byte>& sum = sums[++number];
    sum.resize(bytes);
    add(values, sum.data(), n, type, how);
    return number;
  }
  void end_reduce(int which, void* to, std::int64_t /*n*/) noexcept override {
    std::memcpy(to, sums.at(which).data(), sums.at(which).size());
  }
  [[noreturn]] void abort(std::string_view reason) override {
    throw std::logic_error("aborted: " + std::string(reason));
  }

  bool fails_to_begin = false, is_first = false;
  int begun = 0, number = 0;
  std::vector<std::int64_t> sizes;
  std::map<int, std::vector<std::byte>> sums;

 private:
  void add(const void* from, void* to, std::int64_t n, DType, kernel::RankReduction how) noexcept {
    sizes.push_back(n);
    for (std::int64_t i = 0; i < n; ++i) {
      static_cast<float*>(to)[i] = static_cast<const float*>(from)[i] * (how.mean ? 0.25F : 0.5F);
    }
  }
};

/// A model of one of several ranks, as detail::DividedModel and ShareOverRanks make it.
template <bool Overlaps>
struct Mlp {
  static constexpr void define(GraphBuilder& g) {
    g.divide_batch(false, Overlaps);
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 19}), labels = g.placeholder<std::int32_t>("labels", {batch});
    const Tensor h = dropout(relu(dense(x, 300, "hidden")), 0.2);
    const Tensor loss = sparse_softmax_cross_entropy(dense(h, 5, "out"), labels);
    g.name("train", minimize(loss, Momentum{0.1, 0.9}));
    g.name("noise", random_uniform<float>(g, {batch, 19}) + x);
  }
};
using Train = Demand<Names<>, Names<Name<"train">>>;

template <class E>
void run(E& executor, typename E::Workspace& workspace, int step) {
  std::vector<float> x(7 * 19);
  std::vector<std::int32_t> labels(7);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>(k) + 3 * static_cast<float>(step));
  for (std::size_t k = 0; k < labels.size(); ++k) labels[k] = static_cast<std::int32_t>(k) % 5;
  executor.template run<Train>(workspace, feed<"x">(x), feed<"labels">(labels));
}

/// An executor on one of two ranks.
template <bool Overlaps>
struct Rank {
  using Executor = cuda::Executor<SoftwareDevice, Mlp<Overlaps>>;

  std::shared_ptr<SoftwareDevice> device = std::make_shared<SoftwareDevice>(2);
  OneOfTwo ranks{};
  Executor executor{device, {.steps_per_launch = 32, .exchange = &ranks}};
  typename Executor::Workspace workspace{};

  Rank() { executor.initialize(); }
  /// The variables after `steps` steps.
  std::vector<float> trained(int steps) {
    for (int step = 0; step < steps; ++step) run(executor, workspace, step);
    std::vector<float> all;
    executor.for_each_variable([&]<class T>(std::string_view, std::span<T> values, std::span<const std::int64_t>) {
      if constexpr (std::is_same_v<T, float>) all.insert(all.end(), values.begin(), values.end());
    });
    return all;
  }
};

TEST(RankExchanges, ARunHasALaunchForThePartsBetweenExchangesAndOneWaitForThoseThatFollowOneAnother) {
  Rank<false> rank;
  run(rank.executor, rank.workspace, 0);
  rank.device->counters = {};
  rank.ranks.sizes.clear();
  run(rank.executor, rank.workspace, 1);
  // One matrix above 16 KiB; the other gradients are a bucket.
  EXPECT_EQ(rank.ranks.sizes, (std::vector<std::int64_t>{19 * 300, 300 + 300 * 5 + 5}));
  EXPECT_EQ(rank.device->counters.launches, 2) << "to the gradients, and behind them";
  EXPECT_EQ(rank.device->counters.waits, 1);
  EXPECT_EQ(rank.device->counters.uploads, 3) << "the feeds, and two gradients";
}

TEST(RankExchanges, OverlappedOnesHaveTheSameBitsAndWaitForNoLaunchButTheirOwn) {
  const std::vector<float> expected = Rank<false>().trained(5);
  for (const auto copies : {emulation::Copies::late, emulation::Copies::early}) {
    Rank<true> rank;
    rank.device->copies = copies;
    EXPECT_EQ(rank.trained(5), expected);
  }
}

TEST(RankExchanges, AMissingEventOrWaitGivesAWrongResult) {
  const auto spoilt = [](auto& rank, auto spoil) {
    rank.trained(6);  // each slot of the ring has been used
    spoil(*rank.device);
    return rank.trained(3);
  };
  const auto nothing = [](SoftwareDevice&) {};
  const auto no_orders = [](SoftwareDevice& device) { device.ignores_orders = true; };
  const auto no_waits = [](SoftwareDevice& device) { device.ignores_waits = true; };
  const auto run_all = [&]<bool Overlaps>(std::bool_constant<Overlaps>) {
    Rank<Overlaps> right, first, second;
    const auto expected = spoilt(right, nothing);
    EXPECT_NE(spoilt(first, no_orders), expected);
    EXPECT_NE(spoilt(second, no_waits), expected);
  };
  run_all(std::false_type{});
  run_all(std::true_type{});
}

TEST(RankExchanges, ARunThatDoesNotBeginChangesNothing) {
  Rank<false> rank;
  const std::vector<float> before = rank.trained(2);
  rank.ranks.fails_to_begin = true;
  EXPECT_THROW(run(rank.executor, rank.workspace, 2), PeerFailedError);
  EXPECT_EQ(rank.trained(0), before);
  EXPECT_EQ(rank.executor.global_step(), 2);
}

// The others wait in the exchanges of the run, and a message of another kind does not reach them.
TEST(RankExchanges, ADeviceThatFailsWithinARunEndsAllRanks) {
  Rank<false> rank;
  rank.trained(1);
  rank.device->on_launch = [fails = true]() mutable {
    if (std::exchange(fails, false)) throw DeviceError("crochet: cannot run");
  };
  try {
    run(rank.executor, rank.workspace, 1);
    FAIL() << "it must throw";
  } catch (const std::logic_error& e) {
    EXPECT_EQ(std::string(e.what()), "aborted: crochet: cannot run");
  }
}

// It is compiled before the ranks meet: an error then is one of this rank alone.
TEST(RankExchanges, APlanThatDoesNotCompileIsAnErrorBeforeTheRunBegins) {
  Rank<false> rank;
  rank.device->on_prepare = [] { throw DeviceError("crochet: cannot compile"); };
  EXPECT_THROW(run(rank.executor, rank.workspace, 0), DeviceError);
  EXPECT_EQ(rank.ranks.begun, 0);
}

// Memory of the device for variables and feeds, and copies of feeds, come before the roll call, too.
TEST(RankExchanges, MemoryThatIsMissingIsAnErrorBeforeTheRunBegins) {
  for (const std::string missing : {"the variables of a model", "the tensors of a run",
                                    "the gradients that ranks exchange", "the feeds of a launch"}) {
    Rank<false> rank;
    rank.device->on_allocate = [&](std::string_view purpose) {
      if (purpose == missing) throw DeviceMemoryError("crochet: no memory for " + missing);
    };
    EXPECT_THROW(run(rank.executor, rank.workspace, 0), DeviceMemoryError) << missing;
    EXPECT_EQ(rank.ranks.begun, 0) << missing;
  }
}

// A run that does not exchange draws the numbers of the rank's rows, too.
TEST(RankExchanges, RandomNumbersAreThoseOfTheRowsInEachRun) {
  const auto noise_of = [](bool is_first) {
    Rank<false> rank;
    rank.ranks.is_first = is_first;
    run(rank.executor, rank.workspace, 0);
    std::vector<float> x(14 * 19, 0.0F);
    const std::size_t rows = is_first ? 14 : 7;
    x.resize(rows * 19);
    rank.executor.template run<Demand<Names<Name<"noise">>, Names<>>>(rank.workspace, feed<"x">(x));
    const auto noise = rank.executor.template fetch<Name<"noise">>(rank.workspace);
    return std::vector<float>(noise.begin(), noise.end());
  };
  const std::vector<float> all = noise_of(true), second = noise_of(false);
  EXPECT_EQ(second, std::vector<float>(all.begin() + 7 * 19, all.end()));
}

}  // namespace rank_exchanges_test
}  // namespace crochet
