// SPDX-License-Identifier: Apache-2.0
#include <crochet/data/batch_feeds.hpp>
#include <crochet/data/prefetched.hpp>
#include <crochet/hook/epochs.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace batch_feeds_test {

namespace cr = crochet;
using namespace cr::literals;

/// `n` images of 1 x 2 pixels: image i has the pixels i and 255 - i and the label 100 + i.
cr::Batches images(int n, std::int64_t rows) {
  cr::LabelledImages::Images pixels{{n, 1, 2}, {}};
  cr::LabelledImages::Labels labels{{n}, {}};
  for (int i = 0; i < n; ++i) {
    pixels.data.push_back(static_cast<std::uint8_t>(i));
    pixels.data.push_back(static_cast<std::uint8_t>(255 - i));
    labels.data.push_back(static_cast<std::uint8_t>(100 + i));
  }
  return cr::LabelledImages{std::move(pixels), std::move(labels)}.batch(rows);
}

/// The labels of a batch, after a check that each image is that of its label.
std::vector<int> labels(const auto& batch) {
  const auto pixels = batch.template get<cr::Name<"x">>().value;
  std::vector<int> all;
  for (const std::int32_t label : batch.template get<cr::Name<"y">>().value) {
    const auto row = static_cast<std::int64_t>(all.size());
    EXPECT_EQ(pixels(row, 0), static_cast<float>(label - 100) * (1.0F / 255));
    EXPECT_EQ(pixels(row, 1), static_cast<float>(255 - (label - 100)) * (1.0F / 255));
    all.push_back(label);
  }
  EXPECT_EQ(pixels.extent(0), std::ssize(all));
  return all;
}
using Lists = std::vector<std::vector<int>>;
Lists rest(auto& data) {
  Lists lists;
  while (!data.done()) lists.push_back(labels(data()));
  return lists;
}

TEST(BatchFeeds, FeedThePlaceholdersOfTheirNames) {
  auto data = images(5, 2).feeds<"x", "y">();
  static_assert(
      std::is_same_v<decltype(data)::Batch, cr::Feeds<cr::Feed<cr::Name<"x">, cr::TensorView<float, 2>>,
                                                      cr::Feed<cr::Name<"y">, cr::TensorView<std::int32_t, 1>>>>);
  EXPECT_EQ(rest(data), (Lists{{100, 101}, {102, 103}, {104}}));
  EXPECT_THROW(data.next(), cr::OutOfRangeError);
  data.restart();
  EXPECT_EQ(labels(data.next()), (std::vector<int>{100, 101}));
  cr::Batches plain = images(5, 2);
  plain.next();
  plain.restart();
  EXPECT_EQ(plain.next().labels(0), 100);
}

TEST(BatchFeeds, HaveOrderPlaceAndNumberOfTheBatches) {
  static_assert(cr::CountsEpochs<cr::BatchFeeds<"x", "y">>);
  auto expected = images(7, 3).shuffle(5).repeat(2);
  auto before = images(7, 3).shuffle(5).repeat(2).feeds<"x", "y">();
  auto behind = images(7, 3).feeds<"x", "y">().shuffle(5).repeat(2);
  EXPECT_EQ(before.size(), 7);
  EXPECT_EQ(before.batch_size(), 3);
  EXPECT_EQ(before.batches_per_epoch(), 3);
  EXPECT_EQ(before.epochs(), 2);
  while (!expected.done()) {
    EXPECT_EQ(before.position(), expected.position());
    EXPECT_EQ(before.epoch(), expected.epoch());
    const cr::Batch batch = expected.next();
    const std::vector<int> want(batch.labels.begin(), batch.labels.end());
    EXPECT_EQ(labels(before.next()), want);
    EXPECT_EQ(labels(behind.next()), want);
  }
  EXPECT_TRUE(before.done());
  EXPECT_TRUE(behind.done());
}

TEST(BatchFeeds, DropTheRemainderAndServeOneRank) {
  auto dropped = images(5, 2).feeds<"x", "y">().drop_remainder();
  EXPECT_EQ(rest(dropped), (Lists{{100, 101}, {102, 103}}));
  struct Second {
    static int rank() { return 1; }
    static int size() { return 2; }
  };
  auto shard = images(4, 4).feeds<"x", "y">().shard(Second{});
  EXPECT_EQ(rest(shard), (Lists{{102, 103}}));
}

TEST(BatchFeeds, ContinueAtEveryPosition) {
  auto source = images(7, 3).shuffle(2).repeat(2).feeds<"x", "y">();
  const Lists all = rest(source);
  ASSERT_EQ(all.size(), 6U);
  for (std::size_t taken = 0; taken < all.size(); ++taken) {
    auto data = images(7, 3).shuffle(2).repeat(2).feeds<"x", "y">();
    for (std::size_t i = 0; i < taken; ++i) data.next();
    auto other = images(7, 3).shuffle(2).repeat(2).feeds<"x", "y">();
    other.seek(data.position());
    EXPECT_EQ(rest(other), Lists(all.begin() + static_cast<std::ptrdiff_t>(taken), all.end()));
  }
}

TEST(BatchFeeds, ARangeEndsWithTheEpoch) {
  auto data = images(5, 2).repeat(2).feeds<"x", "y">();
  Lists epoch;
  for (const auto& batch : data) epoch.push_back(labels(batch));
  EXPECT_EQ(epoch, (Lists{{100, 101}, {102, 103}, {104}}));
  EXPECT_EQ(data.epoch(), 1);
}

TEST(BatchFeeds, AreMadeAheadByAThread) {
  auto source = images(7, 2).shuffle(3).repeat(3).feeds<"x", "y">();
  auto ahead = images(7, 2).shuffle(3).repeat(3).feeds<"x", "y">().prefetch(2);
  EXPECT_EQ(rest(ahead), rest(source));
}

}  // namespace batch_feeds_test
