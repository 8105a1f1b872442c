// SPDX-License-Identifier: Apache-2.0
// Batches made ahead: the same ones, in the same order, from every position; the end, errors, and destruction.
#include <crochet/data/prefetched.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "numbered.hpp"

namespace prefetched_test {

namespace cr = crochet;
using crochet::test::numbered;
using Lists = std::vector<std::vector<std::int32_t>>;

std::vector<std::int32_t> labels(const auto& batch) {
  const auto y = batch.template get<cr::Name<"y">>().value;
  return {y.begin(), y.end()};
}
Lists rest(auto& batches) {
  Lists all;
  while (!batches.done()) all.push_back(labels(batches.next()));
  return all;
}
auto plain() { return numbered(11).batch(3).shuffle(7).repeat(3); }

TEST(Prefetched, GivesTheSameBatches) {
  auto expected = plain();
  const Lists lists = rest(expected);
  for (const std::size_t depth : {std::size_t{1}, std::size_t{2}, std::size_t{40}}) {
    auto batches = plain().prefetch(depth);
    EXPECT_EQ(rest(batches), lists);
    EXPECT_THROW(batches.next(), cr::OutOfRangeError);
    EXPECT_THROW(batches(), cr::OutOfRangeError);
    EXPECT_TRUE(batches.done());
    EXPECT_EQ(batches.epoch(), 3);
  }
}

TEST(Prefetched, ABatchStaysWhileTheNextOnesAreMade) {
  auto batches = numbered(100).batch(1).prefetch(3);
  for (std::int32_t i = 0; i < 100; ++i) {
    const auto batch = batches.next();
    EXPECT_EQ(labels(batch), (std::vector<std::int32_t>{10 * i}));
    EXPECT_EQ(batches.position(), i < 99 ? (cr::DataPosition{0, i + 1}) : (cr::DataPosition{1, 0}));
    EXPECT_EQ(labels(batch), (std::vector<std::int32_t>{10 * i}));
  }
}

TEST(Prefetched, ABatchStaysOverASeek) {
  auto batches = numbered(100).batch(1).repeat().prefetch(3);
  for (std::int64_t i = 0; i < 50; ++i) {
    const auto batch = batches.next();  // a session may repeat its run after the data have gone back
    const auto expected = labels(batch);
    batches.seek({0, i});
    EXPECT_EQ(labels(batches.next()), expected);
    batches.seek({0, i + 1});
  }
}
TEST(Prefetched, TheViewsOfABatchAreValidAfterASeek) {
  auto batches = numbered(100).batch(1).repeat().prefetch(2);
  batches.next();
  const auto batch = batches.next();
  batches.seek({5, 50});
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(labels(batch), (std::vector<std::int32_t>{10}));
  EXPECT_EQ(labels(batches.next()), (std::vector<std::int32_t>{500}));
  EXPECT_EQ(labels(batches.next()), (std::vector<std::int32_t>{510}));
}

TEST(Prefetched, ResumesAtEveryBatchWithTheVeryNextOne) {
  auto source = plain();
  const Lists expected = rest(source);
  for (std::size_t taken = 0; taken <= expected.size(); ++taken) {
    auto first = plain().prefetch(2);
    for (std::size_t i = 0; i < taken; ++i) first.next();
    cr::testing::StateBox box;
    cr::CheckpointInputPipeline{first}.save_state(box);

    auto resumed = plain().prefetch(2);
    if (taken % 2 == 1) resumed.next();  // what is ready is discarded
    cr::CheckpointInputPipeline pipeline{resumed};
    pipeline.load_state(box);
    EXPECT_EQ(resumed.position(), first.position());
    EXPECT_EQ(rest(resumed), Lists(expected.begin() + static_cast<std::ptrdiff_t>(taken), expected.end())) << taken;
  }
}

TEST(Prefetched, SeekGoesBackAlsoAfterTheEnd) {
  auto batches = plain().prefetch(2);
  const Lists expected = rest(batches);
  EXPECT_THROW(batches.next(), cr::OutOfRangeError);
  batches.restart();
  EXPECT_EQ(labels(batches.next()), expected[0]);
  EXPECT_THROW(batches.seek({0, 4}), cr::LogicError);
  EXPECT_EQ(labels(batches.next()), expected[1]) << "a position outside the data changes nothing";
}

/// Throws in place of its fourth batch.
struct Fails {
  using Batch = int;
  using Buffer = int;
  int made = 0;
  int next(int& into) {
    if (made == 3) throw cr::DataError("the fourth");
    return into = made++;
  }
  cr::DataPosition position() const { return {0, made}; }
  void seek(cr::DataPosition to) { made = static_cast<int>(to.batch); }
  static std::int64_t epochs() { return 1; }
};

TEST(Prefetched, ErrorsComeBehindTheBatchesBeforeThem) {
  cr::Prefetched<Fails> batches{Fails{}, 2};
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(batches.next(), i);
    EXPECT_THROW(batches.next(), cr::DataError);
    EXPECT_THROW(batches.next(), cr::DataError);
    EXPECT_FALSE(batches.done());
    batches.restart();
  }
  EXPECT_THROW((cr::Prefetched<Fails>{Fails{}, 0}), cr::LogicError);
}

TEST(Prefetched, RefusesDepthsThatHoldNothingOrNoMemoryHolds) {
  for (const std::size_t depth : {std::size_t{0}, static_cast<std::size_t>(-1), static_cast<std::size_t>(-2)})
    EXPECT_THROW(static_cast<void>(plain().prefetch(depth)), cr::LogicError) << depth;
}

TEST(Prefetched, EndsAtAnyTimeAndCanBeMoved) {
  for (int taken = 0; taken < 6; ++taken) {
    auto batches = plain().prefetch(2);
    for (int i = 0; i < taken; ++i) batches.next();
    auto moved = std::move(batches);
    EXPECT_FALSE(moved.done());
    moved.next();
  }
}

TEST(Prefetched, AsARangeAreTheRestOfTheEpoch) {
  auto source = plain();
  const Lists expected = rest(source);
  Lists pass;
  for (const auto& batch : plain().prefetch(2)) pass.push_back(labels(batch));
  EXPECT_EQ(pass, Lists(expected.begin(), expected.begin() + 4));

  auto batches = plain().prefetch(2);
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    std::size_t at = 4 * epoch;
    for (const auto& batch : batches) EXPECT_EQ(labels(batch), expected[at++]);
    EXPECT_EQ(at, 4 * epoch + 4);
  }
  EXPECT_TRUE(batches.begin() == batches.end());
}
TEST(Prefetched, AsARangeEndsEarlyAndGoesOn) {
  auto batches = numbered(10).batch(1).prefetch(2);
  for (const auto& batch : batches)
    if (labels(batch)[0] == 30) break;
  for (const auto& batch : batches) {
    EXPECT_EQ(labels(batch)[0], 40);
    break;
  }
}

/// Batches that count how many were made.
auto counted(std::atomic<int>& made) {
  return numbered(100).batch(1).map([&made](cr::TensorView<float, 2>, cr::TensorView<std::int32_t, 1> y) {
    ++made;
    made.notify_all();
    return cr::data_set(cr::field<"y">(std::vector<std::int32_t>(y.begin(), y.end())));
  });
}
void wait_for(const std::atomic<int>& made, int count) {
  for (int now = made; now < count; now = made) made.wait(now);
}
TEST(Prefetched, TheThreadGoesOnWhenHalfOfTheBatchesWereUsed) {
  std::atomic<int> made = 0;
  auto batches = counted(made).prefetch(4);
  batches.next();
  wait_for(made, 5);  // one in use and four ahead
  batches.next();
  batches.next();
  EXPECT_EQ(made, 5);
  batches.next();  // one is left ahead
  wait_for(made, 8);
}
TEST(Prefetched, WithADepthOfTwoTheThreadGoesOnAtEachBatch) {
  std::atomic<int> made = 0;
  auto batches = counted(made).prefetch(2);
  for (int used = 1; used < 20; ++used) {
    batches.next();
    wait_for(made, used + 2);
  }
}

TEST(Prefetched, ImagesWithLabels) {
  const cr::LabelledImages images{{{3, 1, 1}, {0, 51, 255}}, {{3}, {7, 8, 9}}};
  auto batches = images.batch(2).prefetch(1);
  EXPECT_EQ(batches.next().images(1, 0), 51 * (1.0F / 255));
  EXPECT_EQ(batches.next().labels(0), 9);
  EXPECT_TRUE(batches.done());
}

}  // namespace prefetched_test
