// SPDX-License-Identifier: Apache-2.0
// Feeds in the memory of a device: arrays that are read in place, and rows of data sets.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/data/batches.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/graph/probe/probe.hpp>

#include <cmath>
#include <cstring>
#include <vector>

#include "emulation/software_device.hpp"

namespace crochet {
namespace device_feeds_test {

using namespace crochet::literals;
using emulation::SoftwareDevice;

struct Regression {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<float>("x", {batch, 6}), labels = g.placeholder<std::int32_t>("labels", {batch});
    g.name("x too", x);
    const Tensor loss = g.name("loss", sparse_softmax_cross_entropy(dense(x, 3, "out"), labels));
    g.name("train", minimize(loss, SGD{.learning_rate = 0.1}));
  }
};
using Gpu = cuda::Executor<SoftwareDevice, Regression>;
using Train = Demand<Names<>, Names<Name<"train">>>;
using TrainAndLook = Demand<Names<Name<"x too">>, Names<Name<"train">>>;

constexpr std::int64_t examples = 40, width = 6, batch = 5;
constexpr int steps = 21;

/// The data set, and the rows of each step.
struct Data {
  std::vector<float> x = std::vector<float>(examples * width);
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(examples);

  Data() {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(static_cast<float>(3 * k));
    for (std::size_t k = 0; k < labels.size(); ++k) labels[k] = static_cast<std::int32_t>(k % 3);
  }
  TensorView<float, 2> rows() const { return {x.data(), {examples, width}}; }
  static std::vector<std::int32_t> indices(int step) {
    std::vector<std::int32_t> some(batch);
    for (int k = 0; k < batch; ++k)
      some[static_cast<std::size_t>(k)] = (7 * step + 11 * k) % static_cast<int>(examples);
    return some;
  }
  std::vector<float> x_of(int step) const {
    std::vector<float> some;
    for (const std::int32_t i : indices(step))
      some.insert(some.end(), x.begin() + i * width, x.begin() + (i + 1) * width);
    return some;
  }
  std::vector<std::int32_t> labels_of(int step) const {
    std::vector<std::int32_t> some = indices(step);
    for (std::int32_t& i : some) i = labels[static_cast<std::size_t>(i)];
    return some;
  }
};

/// The variables after some steps, each by step(executor, workspace, number).
template <class Step>
std::vector<float> trained(const std::shared_ptr<SoftwareDevice>& device, int steps_per_launch, Step step) {
  Gpu executor(device, {.steps_per_launch = steps_per_launch});
  Gpu::Workspace workspace;
  executor.initialize();
  for (int k = 0; k < steps; ++k) step(executor, workspace, k);
  std::vector<float> all;
  executor.for_each_variable([&]<class T>(std::string_view, std::span<T> values, std::span<const std::int64_t>) {
    if constexpr (std::is_same_v<T, float>) all.insert(all.end(), values.begin(), values.end());
  });
  return all;
}
std::vector<float> trained_from_the_host() {
  const Data data;
  return trained(std::make_shared<SoftwareDevice>(1), 1, [&](Gpu& executor, Gpu::Workspace& workspace, int step) {
    executor.run<Train>(workspace, feed<"x">(data.x_of(step)), feed<"labels">(data.labels_of(step)));
  });
}

TEST(DeviceArray, IsReadInPlaceAndGivesTheSameBits) {
  const Data data;
  const auto device = std::make_shared<SoftwareDevice>(2);
  const auto given = trained(device, 32, [&](Gpu& executor, Gpu::Workspace& workspace, int step) {
    // The arrays of each step are gone before the launch: the runs hold their memory.
    const std::vector<float> x = data.x_of(step);
    const DeviceArray images(executor, TensorView<float, 2>(x.data(), {batch, width}));
    const DeviceArray labels(executor, data.labels_of(step));
    executor.run<Train>(workspace, feed<"x">(images), feed<"labels">(labels));
  });
  EXPECT_EQ(given, trained_from_the_host());
  EXPECT_EQ(device->counters.launches, 1);  // with 21 different arrays
  EXPECT_EQ(device->counters.uploads, 2 * steps + 3);
  EXPECT_EQ(device->counters.gathers, 0);
}

TEST(DeviceArray, IsHeldUntilTheDeviceHasReadIt) {
  const auto device = std::make_shared<SoftwareDevice>(1);
  const Data data;
  Gpu executor(device, {.steps_per_launch = 1});
  Gpu::Workspace workspace;
  executor.initialize();
  std::weak_ptr<const void> memory;
  {
    const DeviceArray x(executor, data.rows());
    memory = x.owner();
    executor.run<Train>(workspace, feed<"x">(x), feed<"labels">(data.labels));
  }
  for (int step = 0; step < 2; ++step) {
    executor.run<Train>(workspace, feed<"x">(data.x), feed<"labels">(data.labels));
    EXPECT_FALSE(memory.expired());
  }
  executor.run<Train>(workspace, feed<"x">(data.x), feed<"labels">(data.labels));  // in the first launch's slot
  EXPECT_TRUE(memory.expired());
}

TEST(DeviceArray, CanBeFetched) {
  const Data data;
  Gpu executor(std::make_shared<SoftwareDevice>(1));
  Gpu::Workspace workspace;
  executor.initialize();
  const DeviceArray x(executor, data.rows());
  executor.run<TrainAndLook>(workspace, feed<"x">(x), feed<"labels">(data.labels));
  const auto seen = executor.fetch<Name<"x too">>(workspace);
  EXPECT_EQ(std::vector<float>(seen.begin(), seen.end()), data.x);
}

TEST(DeviceArray, IsCheckedAsOtherFeedsAre) {
  using Floats = DeviceArray<float, 2, SoftwareDevice>;
  static_assert(Gpu::accepts_feed<Name<"x">, Floats>);
  static_assert(!Gpu::accepts_feed<Name<"x">, DeviceArray<double, 2, SoftwareDevice>>);
  static_assert(!Gpu::accepts_feed<Name<"x">, DeviceArray<float, 1, SoftwareDevice>>);
  static_assert(!Gpu::accepts_feed<Name<"x">, DeviceArray<float, 2>>);  // of a GPU
  using OnCpu = decltype(Cpu{}.compile<Regression>());
  static_assert(!OnCpu::accepts_feed<Name<"x">, Floats>);

  const Data data;
  Gpu executor(std::make_shared<SoftwareDevice>(1)), other(std::make_shared<SoftwareDevice>(1));
  Gpu::Workspace workspace;
  executor.initialize();
  const DeviceArray narrow(executor, TensorView<float, 2>(data.x.data(), {examples, 5}));
  try {
    executor.run<Train>(workspace, feed<"x">(narrow), feed<"labels">(data.labels));
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "crochet: placeholder 'x' expects shape [batch=40, 6] and was given shape [40, 5]");
  }
  const DeviceArray elsewhere(other, data.rows());
  try {
    executor.run<Train>(workspace, feed<"x">(elsewhere), feed<"labels">(data.labels));
    FAIL();
  } catch (const LogicError& error) {
    EXPECT_STREQ(error.what(),
                 "crochet: the feed of placeholder 'x' is in the memory of another device than the executor's; make it "
                 "from this executor or session");
  }
}

TEST(DeviceData, GivesTheSameBitsAsRowsFromTheHost) {
  const Data data;
  const std::vector<float> expected = trained_from_the_host();
  for (const auto copies : {emulation::Copies::late, emulation::Copies::early}) {
    const auto device = std::make_shared<SoftwareDevice>(2);
    device->copies = copies;
    std::optional<DeviceData<float, 2, SoftwareDevice>> x;
    std::optional<DeviceData<std::int32_t, 1, SoftwareDevice>> labels;
    const auto given = trained(device, 4, [&](Gpu& executor, Gpu::Workspace& workspace, int step) {
      if (step == 0) x.emplace(executor, data.rows()), labels.emplace(executor, data.labels);
      const std::vector<std::int32_t> indices = Data::indices(step);
      executor.run<Train>(workspace, feed<"x">(x->rows(indices)), feed<"labels">(labels->rows(indices)));
    });
    EXPECT_EQ(given, expected);
    EXPECT_EQ(device->counters.launches, 6);
    EXPECT_EQ(device->counters.gathers, 6);          // one for all feeds of a launch
    EXPECT_EQ(device->counters.uploads, 2 + 2 + 6);  // the data; variables and tables; the indices of each launch
  }
}

/// 20 images of 2 x 3 pixels.
LabelledImages images_of_six_pixels() {
  LabelledImages::Images images{{20, 2, 3}, {}};
  LabelledImages::Labels labels{{20}, {}};
  for (int k = 0; k < 20 * 6; ++k) images.data.push_back(static_cast<std::uint8_t>(37 * k));
  for (int k = 0; k < 20; ++k) labels.data.push_back(static_cast<std::uint8_t>(k % 3));
  return {std::move(images), std::move(labels)};
}
/// The bias after three epochs of shuffled batches, the last of which has four examples.
template <class Feed>
std::vector<float> trained_by_batches(const Feed& feed) {
  const LabelledImages data = images_of_six_pixels();
  MonitoredSession session{Gpu(std::make_shared<SoftwareDevice>(1), {.steps_per_launch = 4}), HookChain{}};
  feed(session, data, data.batch(8).shuffle(5).repeat(3));
  const auto b = session.executor().variable("out/bias"_n);
  std::vector<float> bias(b.begin(), b.end());
  session.close();
  return bias;
}
TEST(DeviceData, ShuffledBatchesAreFedByTheirIndices) {
  const auto from_the_host = trained_by_batches([](auto& session, const LabelledImages&, Batches batches) {
    while (!batches.done()) {
      const Batch batch = batches.next();
      session.run("train"_n, feed<"x">(batch.images), feed<"labels">(batch.labels));
    }
  });
  const auto by_indices = trained_by_batches([](auto& session, const LabelledImages& data, Batches batches) {
    Batches whole = data.batch(data.size());
    const Batch all = whole.next();
    const DeviceData images(session, all.images);
    const DeviceData labels(session, all.labels);
    while (!batches.done()) {
      const auto indices = batches.next_indices().indices;
      session.run("train"_n, feed<"x">(images.rows(indices)), feed<"labels">(labels.rows(indices)));
    }
  });
  EXPECT_EQ(by_indices, from_the_host);
}

TEST(DeviceData, WithASessionAndOtherBatchSizes) {
  const Data data;
  const auto device = std::make_shared<SoftwareDevice>(1);
  MonitoredSession session{Gpu(device), HookChain{}};
  const DeviceData x(session, data.rows());
  for (const std::size_t size : {3U, 0U, 7U}) {
    std::vector<std::int32_t> indices(size, 4);
    const std::vector<std::int32_t> labels(size, 1);
    const auto run = [&] {
      return session.run(fetches<"x too", "loss">, feed<"x">(x.rows(indices)), feed<"labels">(labels));
    };
    if (size == 0) {
      EXPECT_THROW(run(), ShapeError);  // a mean over nothing
      continue;
    }
    const auto seen = run()["x too"_n];
    ASSERT_EQ(seen.extent(0), static_cast<std::int64_t>(size));
    for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k], data.x[4 * width + k % width]);
  }
  session.close();
}

TEST(DeviceData, RefusesRowsThatItDoesNotHave) {
  Gpu executor(std::make_shared<SoftwareDevice>(1));
  const DeviceData labels(executor, Data().labels);
  EXPECT_EQ(labels.size(), examples);
  for (const std::int32_t wrong : {-1, 40}) {
    const std::vector<std::int32_t> indices{3, wrong};
    try {
      static_cast<void>(labels.rows(indices));
      FAIL();
    } catch (const LogicError& error) {
      EXPECT_EQ(std::string(error.what()),
                "crochet: there is no row " + std::to_string(wrong) + "; this data set has 40 rows, counted from 0");
    }
  }
}

/// Watches the fed placeholders.
struct Watcher {
  struct watches {
    static constexpr bool matches(std::string_view name, std::string_view, std::string_view) {
      return name == "x" || name == "labels";
    }
  };
  std::vector<std::vector<std::byte>> shown;

  template <std::size_t I>
  void on_node_end(const ProbedTensor& tensor) {
    shown.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
  }
};
TEST(DeviceFeeds, AreShownToProbes) {
  const Data data;
  Gpu executor(std::make_shared<SoftwareDevice>(1));
  Gpu::Workspace workspace;
  executor.initialize();
  const DeviceData x(executor, data.rows());
  const DeviceArray labels(executor, data.labels_of(3));
  Watcher watcher;
  executor.run_probed<Train>(workspace, DueProbes<Watcher>({}, &watcher), feed<"x">(x.rows(Data::indices(3))),
                             feed<"labels">(labels));
  const auto bytes = [](const auto& values) {
    const auto all = std::as_bytes(std::span(values));
    return std::vector<std::byte>(all.begin(), all.end());
  };
  ASSERT_EQ(watcher.shown.size(), 2U);
  EXPECT_EQ(watcher.shown[0], bytes(data.x_of(3)));
  EXPECT_EQ(watcher.shown[1], bytes(data.labels_of(3)));
}

/// A range for "tokens" determines none of two dynamic dimensions.
struct Sequences {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch"), time = g.dynamic("time");
    const Tensor tokens = g.placeholder<float>("tokens", {batch, time}), bias = g.placeholder<float>("bias", {batch});
    g.name("y", reduce_sum(tokens, {1}) + bias);
  }
};

TEST(DeviceFeeds, ARangeIsBoundAfterTheFeedThatDeterminesItsBatch) {
  cuda::Executor<SoftwareDevice, Sequences> executor(std::make_shared<SoftwareDevice>(1));
  decltype(executor)::Workspace workspace;
  executor.initialize();
  const std::vector<float> tokens(6, 1.F), bias{3, 4};
  executor.run<Demand<Names<Name<"y">>, Names<>>>(workspace, feed<"tokens">(tokens), feed<"bias">(bias));
  const auto y = executor.fetch<Name<"y">>(workspace);
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()), (std::vector<float>{6, 7}));
}

TEST(GatherRows, CopiesRowsOfAnyWidth) {
  const std::vector<std::int32_t> indices{5, 0, 5, 2};
  for (const std::int64_t bytes : {1, 3, 4, 8, 12, 16, 24, 48, 5000}) {
    alignas(16) static unsigned char from[6 * 5000], to[4 * 5000];
    for (std::size_t k = 0; k < sizeof from; ++k) from[k] = static_cast<unsigned char>(k * 7 + k / 251);
    const cuda::RowGather gathers[]{{}, {from, indices.data(), to, bytes, 4}};
    emulation::FiberGrid grid(2);
    grid.run([&](emulation::FiberBlock& block) { cuda::gather_rows(block, gathers, 2); });
    for (std::size_t row = 0; row < 4; ++row) {
      const unsigned char* const expected = from + indices[row] * bytes;
      EXPECT_EQ(std::memcmp(to + static_cast<std::int64_t>(row) * bytes, expected, static_cast<std::size_t>(bytes)), 0)
          << bytes << " bytes, row " << row;
    }
  }
}

}  // namespace device_feeds_test
}  // namespace crochet
