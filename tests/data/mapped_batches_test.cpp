// SPDX-License-Identifier: Apache-2.0
// Batches that a function makes of other batches: names, types, shapes, positions.
#include <crochet/data/data_batches.hpp>
#include <crochet/data/mapped_batches.hpp>
#include <crochet/data/prefetched.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "numbered.hpp"

namespace mapped_batches_test {

namespace cr = crochet;
using crochet::test::numbered;
using X = cr::TensorView<float, 2>;
using Y = cr::TensorView<std::int32_t, 1>;
using Lists = std::vector<std::vector<double>>;

/// Rows (x, -x), 10 x become `double`: a column x / 2, and the sum of all x in the batch.
constexpr auto halves = [](X x, Y y) {
  std::vector<double> half, sum(static_cast<std::size_t>(x.extent(0)));
  for (std::int64_t row = 0; row < x.extent(0); ++row) {
    EXPECT_EQ(y(row), 10 * static_cast<int>(x(row, 0)));
    half.push_back(static_cast<double>(x(row, 0)) / 2);
    for (double& s : sum) s += static_cast<double>(x(row, 0));
  }
  return cr::data_set(cr::field<"half">(std::move(half), {1}), cr::field<"sum">(std::move(sum)));
};

std::vector<double> content(const auto& batch) {
  const auto half = batch.template get<cr::Name<"half">>().value;
  const auto sum = batch.template get<cr::Name<"sum">>().value;
  std::vector<double> all(half.begin(), half.end());
  all.push_back(sum(0));
  return all;
}
Lists rest(auto& batches) {
  Lists all;
  while (!batches.done()) all.push_back(content(batches.next()));
  return all;
}
Lists all(auto batches) { return rest(batches); }

TEST(MappedBatches, AreFeedsOfTheResultsNamesTypesAndShapes) {
  auto batches = numbered(3).batch(2).map(halves);
  static_assert(
      std::is_same_v<decltype(batches.next()), cr::Feeds<cr::Feed<cr::Name<"half">, cr::TensorView<double, 2>>,
                                                         cr::Feed<cr::Name<"sum">, cr::TensorView<double, 1>>>>);
  EXPECT_EQ(batches.next().get<cr::Name<"half">>().value.shape(), (std::array<std::int64_t, 2>{2, 1}));
  EXPECT_EQ(all(batches), (Lists{{1, 2}}));
  EXPECT_EQ(batches.batches_per_epoch(), 2);
}

TEST(MappedBatches, HaveTheSettingsOfTheirSourceInAnyOrder) {
  EXPECT_EQ(all(numbered(3).batch(2).map(halves).repeat(2)), (Lists{{0, 0.5, 1}, {1, 2}, {0, 0.5, 1}, {1, 2}}));
  EXPECT_EQ(all(numbered(3).batch(2).map(halves).drop_remainder()), (Lists{{0, 0.5, 1}}));
  EXPECT_EQ(all(numbered(3).batch(2).map(halves).pad()), (Lists{{0, 0.5, 1}, {1, 0, 2}}));
  EXPECT_EQ(all(numbered(9).batch(2).map(halves).shuffle(3)), all(numbered(9).shuffle(3).batch(2).map(halves)));
}

TEST(MappedBatches, OneMapBehindAnother) {
  const auto twice = [](cr::TensorView<double, 2> half, cr::TensorView<double, 1> sum) {
    std::vector<double> whole(half.begin(), half.end());
    for (double& value : whole) value *= 2;
    return cr::data_set(cr::field<"half">(std::move(whole), {1}), cr::field<"sum">(sum));
  };
  EXPECT_EQ(all(numbered(3).batch(2).map(halves).map(twice)), (Lists{{0, 1, 1}, {2, 2}}));
}

/// The position as the seed of a random number.
constexpr auto noisy = [](cr::DataPosition at, X x, Y) {
  cr::SplitMix64 random(static_cast<std::uint64_t>(1000 * at.epoch + at.batch));
  std::vector<double> half, sum(static_cast<std::size_t>(x.extent(0)));
  for (std::int64_t row = 0; row < x.extent(0); ++row)
    half.push_back(static_cast<double>(x(row, 0)) + random.below(1000));
  return cr::data_set(cr::field<"half">(std::move(half), {1}), cr::field<"sum">(std::move(sum)));
};

void check_resume_at_every_batch(const auto& make) {
  const Lists expected = all(make());
  for (std::size_t taken = 0; taken <= expected.size(); ++taken) {
    auto first = make();
    for (std::size_t i = 0; i < taken; ++i) first.next();
    cr::testing::StateBox box;
    cr::CheckpointInputPipeline{first}.save_state(box);
    auto resumed = make();
    cr::CheckpointInputPipeline pipeline{resumed};
    pipeline.load_state(box);
    EXPECT_EQ(rest(resumed), Lists(expected.begin() + static_cast<std::ptrdiff_t>(taken), expected.end())) << taken;
  }
}

TEST(MappedBatches, ResumeAtEveryBatchAlsoWithRandomNumbers) {
  check_resume_at_every_batch([] { return numbered(11).shuffle(7).batch(3).repeat(3).map(halves); });
  check_resume_at_every_batch([] { return numbered(11).shuffle(7).batch(3).repeat(3).map(noisy); });
  check_resume_at_every_batch([] { return numbered(11).shuffle(7).batch(3).repeat(3).map(noisy).prefetch(2); });
  const Lists epochs = all(numbered(2).batch(2).repeat(2).map(noisy));
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST(MappedBatches, AsARangeAreTheRestOfTheEpoch) {
  auto batches = numbered(3).batch(2).repeat().map(halves);
  Lists pass;
  for (const auto& batch : batches) pass.push_back(content(batch));
  EXPECT_EQ(pass, (Lists{{0, 0.5, 1}, {1, 2}}));
  EXPECT_EQ(batches.position(), (cr::DataPosition{1, 0}));
}

TEST(MappedBatches, RefuseAnotherNumberOfRows) {
  auto batches =
      numbered(3).batch(2).map([](X x, Y) { return cr::data_set(cr::field<"x">(std::vector(x.begin(), x.end()))); });
  EXPECT_THROW(batches.next(), cr::LogicError);
  auto wrong = numbered(3).batch(2).map(
      [](X x, Y) { return cr::data_set(cr::field<"x">(x), cr::field<"y">(std::vector<float>{1})); });
  EXPECT_THROW(wrong.next(), cr::LogicError) << "fields of one batch have equally many rows";
}

TEST(MappedBatches, ErrorsOfTheFunctionComeThroughAPrefetchToo) {
  const auto fails = [](X x, Y) {
    if (x(0, 0) > 1) throw cr::DataError("the second");
    return cr::data_set(cr::field<"x">(x));
  };
  auto plain = numbered(6).batch(2).map(fails);
  plain.next();
  EXPECT_THROW(plain.next(), cr::DataError);
  auto ahead = numbered(6).batch(2).map(fails).prefetch(2);
  ahead.next();
  EXPECT_THROW(ahead.next(), cr::DataError);
}

}  // namespace mapped_batches_test
