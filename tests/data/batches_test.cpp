// SPDX-License-Identifier: Apache-2.0
#include <crochet/data/batches.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {
std::atomic<int> allocations = 0;
}

// Counts the allocations of this program. Not inline, otherwise g++ reports new and free as a mismatched pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using crochet::Batches;
using crochet::DataError;
using crochet::DataPosition;
using crochet::LabelledImages;
using crochet::LogicError;
using crochet::OutOfRangeError;

// Images of 1 x 2 pixels; image i has the pixels i and 255 - i and the label 100 + i.
LabelledImages data_set(std::int64_t size) {
  LabelledImages::Images images{{size, 1, 2}, {}};
  LabelledImages::Labels labels{{size}, {}};
  for (std::int64_t i = 0; i < size; ++i) {
    images.data.push_back(static_cast<std::uint8_t>(i));
    images.data.push_back(static_cast<std::uint8_t>(255 - i));
    labels.data.push_back(static_cast<std::uint8_t>(100 + i));
  }
  return {std::move(images), std::move(labels)};
}

// The indices of the examples in the next batch, computed from their labels.
std::vector<int> next_examples(Batches& batches) {
  std::vector<int> numbers;
  for (const std::int32_t label : batches.next().labels) numbers.push_back(label - 100);
  return numbers;
}

std::vector<std::vector<int>> all_examples(Batches& batches) {
  std::vector<std::vector<int>> all;
  while (!batches.done()) all.push_back(next_examples(batches));
  return all;
}

using Lists = std::vector<std::vector<int>>;

TEST(LabelledImages, ACopySharesThePixels) {
  const LabelledImages data = data_set(3);
  const LabelledImages copy = data;  // NOLINT(performance-unnecessary-copy-initialization): the copy is what is tested
  EXPECT_EQ(copy.images().data(), data.images().data());
  EXPECT_EQ(data.size(), 3);
  EXPECT_EQ(data.pixels(), 2);
  EXPECT_EQ(data.images()(2, 0, 1), 253);
  EXPECT_EQ(data.labels()(2), 102);
}

TEST(LabelledImages, RefusesWhatDoesNotFitTogether) {
  using Images = LabelledImages::Images;
  using Labels = LabelledImages::Labels;
  EXPECT_THROW(LabelledImages(Images{{1, 1, 2}, {1, 2}}, Labels{{2}, {1, 2}}), DataError);
  EXPECT_THROW(LabelledImages(Images{{0, 1, 2}, {}}, Labels{{0}, {}}), DataError);
  EXPECT_THROW(LabelledImages(Images{{1, 0, 2}, {}}, Labels{{1}, {1}}), DataError);
  EXPECT_THROW(LabelledImages(Images{{2, 1, 2}, {1, 2, 3}}, Labels{{2}, {1, 2}}), DataError);
  EXPECT_THROW(LabelledImages(Images{{2, 1, 2}, {1, 2, 3, 4}}, Labels{{2}, {1}}), DataError);
  // The product of the extents is 2^64 + 1.
  EXPECT_THROW(LabelledImages(Images{{1, 274177, 67280421310721}, {1}}, Labels{{1}, {1}}), DataError);
  EXPECT_THROW(LabelledImages(Images{{1, -1, -1}, {1}}, Labels{{1}, {1}}), DataError);
  try {
    const LabelledImages wrong(Images{{1, 1, 2}, {1, 2}}, Labels{{2}, {1, 2}}, "a.gz with b.gz");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "a.gz with b.gz: there are 1 images but 2 labels; use the two files that belong together");
  }
}

TEST(Batches, GoesOnceOverTheDataInFileOrder) {
  Batches batches = data_set(5).batch(2);
  EXPECT_EQ(all_examples(batches), (Lists{{0, 1}, {2, 3}, {4}}));
  EXPECT_THROW(batches.next(), OutOfRangeError);
  EXPECT_THROW(batches.next(), OutOfRangeError) << "the end stays the end";
}

TEST(Batches, ABatchSaysWhatItIs) {
  Batches batches = data_set(5).batch(2).repeat(2);
  const auto first = batches.next();
  EXPECT_EQ(first.images.shape(), (std::array<std::int64_t, 2>{2, 2}));
  EXPECT_EQ(first.labels.shape(), (std::array<std::int64_t, 1>{2}));
  EXPECT_EQ(std::pair(first.epoch, first.index), (std::pair<std::int64_t, std::int64_t>{0, 0}));
  EXPECT_FALSE(first.last);
  batches.next();
  const auto third = batches.next();
  EXPECT_EQ(third.images.shape(), (std::array<std::int64_t, 2>{1, 2}));
  EXPECT_EQ(third.labels.shape(), (std::array<std::int64_t, 1>{1}));
  EXPECT_EQ(third.index, 2);
  EXPECT_TRUE(third.last);
  const auto fourth = batches.next();
  EXPECT_EQ(std::pair(fourth.epoch, fourth.index), (std::pair<std::int64_t, std::int64_t>{1, 0}));
}

TEST(Batches, WithBuffersOfTheirOwnSeveralAreAtHandAtOnce) {
  Batches plain = data_set(7).batch(3).shuffle(5);
  Batches buffered = data_set(7).batch(3).shuffle(5);
  std::vector<crochet::BufferedBatch> held(3);
  for (auto& each : held) each.take_from(buffered);
  EXPECT_THROW(crochet::BufferedBatch{}.take_from(buffered), OutOfRangeError);
  for (const auto& each : held) {
    const crochet::Batch expected = plain.next();
    EXPECT_TRUE(std::ranges::equal(each.batch.labels, expected.labels));
    EXPECT_TRUE(std::ranges::equal(each.batch.images, expected.images));
    EXPECT_EQ(each.batch.index, expected.index);
    EXPECT_EQ(each.after, plain.position());
  }
}

TEST(Batches, PixelsAreFloatsFromZeroToOne) {
  Batches batches = data_set(256).batch(256);
  const auto batch = batches.next();
  static_assert(std::is_same_v<decltype(batch.images), crochet::TensorView<float, 2>>);
  static_assert(std::is_same_v<decltype(batch.labels), crochet::TensorView<std::int32_t, 1>>);
  for (std::int64_t i = 0; i < 256; ++i) {
    EXPECT_FLOAT_EQ(batch.images(i, 0), static_cast<float>(i) / 255);
    EXPECT_EQ(batch.images(i, 1), batch.images(255 - i, 0));
  }
  EXPECT_EQ(batch.images(0, 0), 0.0f);
  EXPECT_EQ(batch.images(255, 0), 1.0f) << "exactly: no pixel is above 1";
}

TEST(Batches, PixelsAndLabelsStayTogetherWhenShuffled) {
  Batches batches = data_set(100).batch(7).shuffle(3).repeat(2);
  while (!batches.done()) {
    const auto batch = batches.next();
    for (std::int64_t row = 0; row < batch.labels.extent(0); ++row) {
      const auto number = static_cast<float>(batch.labels(row) - 100);
      EXPECT_FLOAT_EQ(batch.images(row, 0), number / 255);
      EXPECT_FLOAT_EQ(batch.images(row, 1), (255 - number) / 255);
    }
  }
}

TEST(Batches, DropRemainderKeepsFullBatchesOnly) {
  Batches batches = data_set(5).batch(2).drop_remainder().repeat(2);
  EXPECT_EQ(batches.batches_per_epoch(), 2);
  EXPECT_EQ(all_examples(batches), (Lists{{0, 1}, {2, 3}, {0, 1}, {2, 3}}));
}

TEST(Batches, DropRemainderChangesNothingWhenThereIsNone) {
  Batches batches = data_set(4).batch(2).drop_remainder();
  EXPECT_EQ(all_examples(batches), (Lists{{0, 1}, {2, 3}}));
}

TEST(Batches, RepeatGoesOnForever) {
  Batches batches = data_set(3).batch(2).repeat();
  EXPECT_EQ(batches.epochs(), Batches::endless);
  for (int epoch = 0; epoch < 50; ++epoch) {
    EXPECT_EQ(batches.epoch(), epoch);
    EXPECT_EQ(next_examples(batches), (std::vector<int>{0, 1}));
    EXPECT_EQ(batches.epoch(), epoch);
    EXPECT_EQ(next_examples(batches), (std::vector<int>{2}));
  }
  EXPECT_FALSE(batches.done());
}

TEST(Batches, RepeatedAFewTimesEndsThen) {
  Batches batches = data_set(3).batch(3).repeat(3);
  EXPECT_EQ(all_examples(batches).size(), 3U);
  EXPECT_EQ(batches.epoch(), 3);
  EXPECT_THROW(batches.next(), OutOfRangeError);
}

TEST(Batches, ABatchLargerThanTheDataIsAllOfIt) {
  Batches batches = data_set(3).batch(std::numeric_limits<std::int64_t>::max()).repeat(2);
  EXPECT_EQ(batches.batches_per_epoch(), 1);
  EXPECT_EQ(all_examples(batches), (Lists{{0, 1, 2}, {0, 1, 2}}));
}

TEST(Batches, TheShuffledOrderIsTheSameEverywhereAndForever) {
  Batches batches = data_set(10).batch(4).shuffle(1).repeat(2);
  EXPECT_EQ(all_examples(batches), (Lists{{9, 4, 2, 1}, {3, 0, 7, 6}, {8, 5}, {3, 2, 8, 9}, {4, 1, 7, 6}, {5, 0}}));
}

TEST(Batches, ShuffledEpochsDifferAndEachHasEveryExampleOnce) {
  Batches batches = data_set(50).batch(50).shuffle(8).repeat(3);
  const Lists epochs = all_examples(batches);
  EXPECT_NE(epochs[0], epochs[1]);
  EXPECT_NE(epochs[1], epochs[2]);
  for (auto epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    for (int i = 0; i < 50; ++i) EXPECT_EQ(epoch[static_cast<std::size_t>(i)], i);
  }
}

TEST(Batches, TheOrderOfSettingsDoesNotMatter) {
  Batches one = data_set(10).batch(3).shuffle(4).repeat(2).drop_remainder();
  Batches other = data_set(10).batch(3).drop_remainder().repeat(2).shuffle(4);
  EXPECT_EQ(all_examples(one), all_examples(other));
}

TEST(Batches, TheSameSeedGivesTheSameOrderAnotherAnother) {
  Batches one = data_set(50).batch(8).shuffle(4).repeat(2);
  Batches same = data_set(50).batch(8).shuffle(4).repeat(2);
  Batches other = data_set(50).batch(8).shuffle(5).repeat(2);
  const Lists order = all_examples(one);
  EXPECT_EQ(all_examples(same), order);
  EXPECT_NE(all_examples(other), order);
}

TEST(Batches, APositionIsTheEpochAndTheBatchToCome) {
  Batches batches = data_set(5).batch(2).repeat(2);
  const std::vector<DataPosition> expected{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {2, 0}};
  for (const DataPosition& position : expected) {
    EXPECT_EQ(batches.position(), position);
    if (!batches.done()) batches.next();
  }
}

TEST(Batches, GoesOnFromAnyPositionAsIfNeverInterrupted) {
  Batches reference = data_set(11).batch(4).shuffle(6).repeat(3);
  std::vector<DataPosition> positions;
  Lists lists;
  while (!reference.done()) {
    positions.push_back(reference.position());
    lists.push_back(next_examples(reference));
  }
  positions.push_back(reference.position());  // the end is also a position
  for (std::size_t i = 0; i < positions.size(); ++i) {
    Batches fresh = data_set(11).batch(4).shuffle(6).repeat(3);
    fresh.seek(positions[i]);
    EXPECT_EQ(all_examples(fresh), Lists(lists.begin() + static_cast<std::ptrdiff_t>(i), lists.end()));
    fresh.seek(positions[i]);  // back to an earlier position
    EXPECT_EQ(all_examples(fresh), Lists(lists.begin() + static_cast<std::ptrdiff_t>(i), lists.end()));
  }
}

TEST(Batches, SeekRefusesAPlaceThatDoesNotExist) {
  Batches batches = data_set(5).batch(2).repeat(2);
  batches.next();
  for (const DataPosition bad : {DataPosition{-1, 0}, {0, -1}, {0, 3}, {2, 1}, {3, 0}}) {
    EXPECT_THROW(batches.seek(bad), LogicError) << bad.epoch << ", " << bad.batch;
    EXPECT_EQ(batches.position(), (DataPosition{0, 1})) << "nothing has changed";
  }
}

// A checkpoint of .repeat(5), resumed with .repeat(3): the data and the batch size are the same.
TEST(Batches, SeekNamesTheEpochsThatAreMissing) {
  const auto error = [](DataPosition to) -> std::string {
    try {
      data_set(5).batch(2).repeat(3).seek(to);
    } catch (const LogicError& refusal) {
      return refusal.what();
    }
    return "";
  };
  EXPECT_EQ(error({4, 2}),
            "crochet: no such place in the data: epoch 4, batch 2; there are 3 epoch(s), counted from 0; call repeat() "
            "with at least as many as before");
  EXPECT_NE(error({3, 1}).find("; there are 3 epoch(s)"), std::string::npos);
  EXPECT_NE(error({4, 3}).find("there are 3 batches in an epoch; use the data and the batch size"), std::string::npos)
      << "other data";
  EXPECT_EQ(error({3, 0}), "") << "the end";
}

TEST(Batches, WrongSettingsAreRefused) {
  EXPECT_THROW(static_cast<void>(data_set(5).batch(0)), LogicError);
  EXPECT_THROW(static_cast<void>(data_set(5).batch(-1)), LogicError);
  EXPECT_THROW(data_set(5).batch(2).repeat(0), LogicError);
  EXPECT_THROW(data_set(5).batch(6).drop_remainder(), LogicError);
  Batches smallest = data_set(2).batch(1).repeat(1);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(smallest.next().images.shape()[0], 1);
  EXPECT_THROW(smallest.next(), OutOfRangeError);
  EXPECT_NO_THROW(data_set(5).batch(5).drop_remainder()) << "one whole batch";
}

TEST(Batches, CopiesAreIndependent) {
  Batches one = data_set(6).batch(2).shuffle(2);
  one.next();
  Batches copy = one;
  const auto batch = one.next();
  const std::vector<std::int32_t> labels(batch.labels.begin(), batch.labels.end());
  copy.next();
  copy.next();
  EXPECT_EQ(std::vector<std::int32_t>(batch.labels.begin(), batch.labels.end()), labels);
  EXPECT_TRUE(copy.done());
  EXPECT_FALSE(one.done());
}

TEST(Batches, KnowsItsNumbers) {
  const Batches batches = data_set(5).batch(2).repeat(4);
  EXPECT_EQ(batches.size(), 5);
  EXPECT_EQ(batches.batch_size(), 2);
  EXPECT_EQ(batches.batches_per_epoch(), 3);
  EXPECT_EQ(batches.epochs(), 4);
}

TEST(Batches, NextIndicesAreTheExamplesOfNext) {
  Batches batches = data_set(23).batch(5).shuffle(3).repeat(2), with_indices = batches;
  while (!batches.done()) {
    const crochet::Batch batch = batches.next();
    const std::vector<std::int32_t> labels(batch.labels.begin(), batch.labels.end());
    const crochet::IndexBatch same = with_indices.next_indices();
    std::vector<std::int32_t> of_indices;
    for (const std::int32_t i : same.indices) of_indices.push_back(100 + i);
    EXPECT_EQ(of_indices, labels);
    EXPECT_EQ(std::tuple(same.epoch, same.index, same.last), std::tuple(batch.epoch, batch.index, batch.last));
    EXPECT_EQ(with_indices.position(), batches.position());
  }
  EXPECT_THROW(with_indices.next_indices(), OutOfRangeError);
}

TEST(Batches, NextAllocatesNothing) {
  Batches batches = data_set(100).batch(8).shuffle(1).repeat();
  const int before = allocations;
  for (int i = 0; i < 100; ++i) batches.next();
  batches.seek({3, 5});
  EXPECT_EQ(allocations, before);
  ::operator delete(::operator new(1));  // a call by name must not be optimized away
  EXPECT_EQ(allocations, before + 1) << "the counter counts";
}

struct OneOf {
  int number, ranks;
  [[nodiscard]] int rank() const { return number; }
  [[nodiscard]] int size() const { return ranks; }
};

TEST(ShardedBatches, ContainEachRowOfEachBatchOnce) {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    Batches whole = Batches(data_set(27), 11).shuffle(3).repeat(2);
    const auto expected = all_examples(whole);
    std::vector<std::vector<int>> found(expected.size());
    for (int rank = 0; rank < ranks; ++rank) {
      Batches mine = Batches(data_set(27), 11).shuffle(3).repeat(2).shard(OneOf{rank, ranks});
      const auto rows = all_examples(mine);
      ASSERT_EQ(rows.size(), expected.size());
      for (std::size_t b = 0; b < rows.size(); ++b) found[b].insert(found[b].end(), rows[b].begin(), rows[b].end());
    }
    EXPECT_EQ(found, expected) << ranks;
  }
}

TEST(ShardedBatches, HaveOnePositionForAnyNumberOfRanks) {
  Batches two = Batches(data_set(27), 9).shuffle(3).repeat().shard(OneOf{1, 2});
  for (int i = 0; i < 4; ++i) two.next();
  Batches three = Batches(data_set(27), 9).shuffle(3).repeat().shard(OneOf{2, 3});
  three.seek(two.position());
  Batches whole = Batches(data_set(27), 9).shuffle(3).repeat();
  whole.seek(two.position());
  const auto all = next_examples(whole);
  EXPECT_EQ(next_examples(two), std::vector<int>(all.begin() + 4, all.end()));
  EXPECT_EQ(next_examples(three), std::vector<int>(all.begin() + 6, all.end()));
}

TEST(ShardedBatches, RefuseABatchWithFewerRowsThanRanks) {
  EXPECT_THROW((Batches(data_set(26), 8).shard(OneOf{0, 3})), LogicError);  // the last batch has 2 rows
  EXPECT_NO_THROW((Batches(data_set(26), 8).drop_remainder().shard(OneOf{0, 3})));
  EXPECT_THROW((Batches(data_set(26), 8).shard(OneOf{2, 2})), LogicError);
  EXPECT_THROW((Batches(data_set(26), 8).shard(OneOf{-1, 2})), LogicError);
  EXPECT_THROW((Batches(data_set(26), 8).shard(OneOf{0, 0})), LogicError);
}

}  // namespace
