// SPDX-License-Identifier: Apache-2.0
// Batches of a data set: order, ends, positions, and as the data of a session and of Evaluate.
#include <crochet/crochet.hpp>
#include <crochet/data/data_batches.hpp>
#include <crochet/data/data_set.hpp>
#include <crochet/data/field.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/testing/counting_new.hpp>
#include <crochet/testing/recording_sink.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <type_traits>
#include <vector>

#include "numbered.hpp"

namespace data_batches_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::DataPosition;
using cr::LogicError;
using crochet::test::numbered;

using Rows = std::vector<int>;
using Lists = std::vector<Rows>;

/// The numbers of the rows of a batch; checks that its feeds belong together.
Rows rows_of(const auto& batch) {
  const auto x = batch.template get<cr::Name<"x">>().value;
  const auto y = batch.template get<cr::Name<"y">>().value;
  EXPECT_EQ(x.extent(0), y.extent(0));
  Rows rows;
  for (std::int64_t i = 0; i < y.extent(0); ++i) {
    rows.push_back(static_cast<int>(x(i, 0)));
    EXPECT_EQ(x(i, 1), -x(i, 0));
    EXPECT_EQ(y(i), 10 * rows.back());
  }
  return rows;
}
Lists rest(auto& batches) {
  Lists all;
  while (!batches.done()) all.push_back(rows_of(batches.next()));
  return all;
}
Lists all(auto batches) { return rest(batches); }

TEST(DataBatches, AreFeedsOfTheFieldsNamesAndTypes) {
  auto batches = numbered(3).batch(2);
  static_assert(
      std::is_same_v<decltype(batches.next()), cr::Feeds<cr::Feed<cr::Name<"x">, cr::TensorView<float, 2>>,
                                                         cr::Feed<cr::Name<"y">, cr::TensorView<std::int32_t, 1>>>>);
  EXPECT_EQ(all(batches), (Lists{{0, 1}, {2}}));
  EXPECT_EQ(batches.batches_per_epoch(), 2);
  EXPECT_EQ(all(numbered(2).batch(5)), (Lists{{0, 1}}));
}

TEST(DataBatches, TheEndOfAnEpochThatDoesNotDivide) {
  EXPECT_EQ(all(numbered(5).batch(2).repeat(2)), (Lists{{0, 1}, {2, 3}, {4}, {0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(all(numbered(5).batch(2).drop_remainder()), (Lists{{0, 1}, {2, 3}}));
  EXPECT_EQ(all(numbered(5).batch(2).pad()), (Lists{{0, 1}, {2, 3}, {4, 0}}));
  EXPECT_EQ(all(numbered(4).batch(2).pad()), (Lists{{0, 1}, {2, 3}}));
  EXPECT_EQ(all(numbered(2).batch(5).pad()), (Lists{{0, 1, 0, 1, 0}}));
  EXPECT_EQ(all(numbered(5).shuffle(3).batch(3).pad())[1].back(), all(numbered(5).shuffle(3).batch(3))[0][0])
      << "the rows of that epoch's begin";
}

TEST(DataBatches, AnEpochOfAShuffleHasEachRowOnceInAnOrderOfItsOwn) {
  const Lists batches = all(numbered(20).shuffle(1).batch(5).repeat(3));
  ASSERT_EQ(batches.size(), 12U);
  std::set<Rows> orders;
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    Rows order;
    for (std::size_t i = 0; i < 4; ++i)
      order.insert(order.end(), batches[4 * epoch + i].begin(), batches[4 * epoch + i].end());
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
  EXPECT_EQ(orders.size(), 3U);
  EXPECT_EQ(batches, all(numbered(20).batch(5).repeat(3).shuffle(1))) << "in any order of the calls";
  EXPECT_NE(batches, all(numbered(20).shuffle(2).batch(5).repeat(3)));
}

TEST(DataBatches, EndWithAnOutOfRangeError) {
  auto batches = numbered(3).batch(2);
  batches.next();
  EXPECT_FALSE(batches.done());
  batches.next();
  EXPECT_TRUE(batches.done());
  EXPECT_EQ(batches.epoch(), 1);
  EXPECT_THROW(batches.next(), cr::OutOfRangeError);
  EXPECT_THROW(batches(), cr::OutOfRangeError);
}

TEST(DataBatches, RefuseWrongSettings) {
  EXPECT_THROW((void)numbered(3).batch(0), LogicError);
  EXPECT_THROW((void)numbered(3).batch(2).repeat(0), LogicError);
  EXPECT_THROW((void)numbered(3).batch(4).drop_remainder(), LogicError);
  EXPECT_THROW((void)numbered(3).batch(2).pad().drop_remainder(), LogicError);
  EXPECT_THROW((void)numbered(3).batch(2).drop_remainder().pad(), LogicError);
  auto batches = numbered(3).batch(2).repeat(2);
  for (const DataPosition wrong : {DataPosition{-1, 0}, {0, -1}, {0, 2}, {2, 1}, {3, 0}})
    EXPECT_THROW(batches.seek(wrong), LogicError) << wrong.epoch << ' ' << wrong.batch;
}

/// Stops before each batch in turn; other batches, restored from a checkpoint's state, give exactly the remaining ones.
void check_resume_at_every_batch(const auto& fresh) {
  const Lists expected = all(fresh);
  for (std::size_t taken = 0; taken <= expected.size(); ++taken) {
    auto first = fresh;
    for (std::size_t i = 0; i < taken; ++i) first.next();
    cr::testing::StateBox box;
    cr::CheckpointInputPipeline{first}.save_state(box);

    auto resumed = fresh;
    cr::CheckpointInputPipeline pipeline{resumed};
    pipeline.load_state(box);
    EXPECT_EQ(resumed.position(), first.position());
    EXPECT_EQ(rest(resumed), Lists(expected.begin() + static_cast<std::ptrdiff_t>(taken), expected.end())) << taken;
  }
}

TEST(DataBatches, ResumeAtEveryBatchWithTheVeryNextOne) {
  check_resume_at_every_batch(numbered(11).batch(3).repeat(2));
  check_resume_at_every_batch(numbered(11).shuffle(7).batch(3).repeat(3));
  check_resume_at_every_batch(numbered(11).shuffle(7).batch(3).drop_remainder().repeat(2));
  check_resume_at_every_batch(numbered(11).shuffle(7).batch(3).pad().repeat(2));
}

TEST(DataBatches, SeekGoesBackToo) {
  auto batches = numbered(6).shuffle(5).batch(2).repeat(2);
  const Lists expected = rest(batches);
  batches.seek({0, 1});
  EXPECT_EQ(rest(batches), Lists(expected.begin() + 1, expected.end()));
  batches.restart();
  EXPECT_EQ(rest(batches), expected);
}

TEST(DataBatches, CopiesAreIndependentAndShareTheData) {
  auto first = numbered(4).batch(2);
  first.next();
  auto second = first;
  const auto batch = second.next();
  EXPECT_EQ(second.data().view<"x">().data(), first.data().view<"x">().data());
  EXPECT_EQ(rest(first), (Lists{{2, 3}}));
  EXPECT_EQ(rows_of(batch), (Rows{2, 3}));
}

TEST(DataBatches, NextAllocatesNothing) {
  auto batches = numbered(11).shuffle(7).batch(3).repeat();
  const auto before = cr::testing::allocations();
  for (int i = 0; i < 20; ++i) batches.next();
  EXPECT_EQ(cr::testing::allocations(), before);
  EXPECT_EQ(batches.epoch(), 5);
}

TEST(DataBatches, AsARangeAreTheRestOfTheEpoch) {
  auto batches = numbered(5).batch(2).repeat();
  const auto pass = [&] {
    Lists rows;
    for (const auto& batch : batches) rows.push_back(rows_of(batch));
    return rows;
  };
  EXPECT_EQ(pass(), (Lists{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(batches.position(), (DataPosition{1, 0}));
  batches.next();
  EXPECT_EQ(pass(), (Lists{{2, 3}, {4}}));
  auto ended = numbered(2).batch(2);
  ended.next();
  EXPECT_TRUE(ended.begin() == ended.end());
}

/// A step that collects the labels; `mean` is their mean.
struct Collects {
  std::vector<int> labels{};

  auto executor() {
    using Images = cr::TensorView<float, 2>;
    using Labels = cr::TensorView<std::int32_t, 1>;
    return cr::StepExecutor{[this](auto& out) {
                              const Labels fed = out.input("y"_n, Labels{});
                              labels.insert(labels.end(), fed.begin(), fed.end());
                              double sum = 0;
                              for (const std::int32_t y : fed) sum += y;
                              out["mean"_n] = sum / static_cast<double>(fed.size());
                            },
                            cr::output<double, "mean">, cr::input<Images, "x">, cr::input<Labels, "y">};
  }
};

TEST(DataBatches, AreTheDataOfALoopAndEndIt) {
  Collects step;
  auto batches = numbered(5).batch(2);
  const cr::StopReason why = cr::run(step.executor(), cr::HookChain{}, batches);
  EXPECT_EQ(step.labels, (std::vector<int>{0, 10, 20, 30, 40}));
  EXPECT_EQ(why.hook, "the data");
}

TEST(DataBatches, AreTheDataOfEvaluateInEveryPass) {
  Collects step;
  cr::testing::RecordingSink lines;
  auto training = numbered(4).batch(2).repeat();
  std::vector<double> means;
  // an endless data set too: a pass is an epoch
  const auto then = [&](const auto& result) { means.push_back(result["mean"_n]); };
  cr::run(step.executor(),
          cr::HookChain{cr::StopAtStep{.last_step = 2},
                        cr::Evaluate{cr::fetches<"mean">,
                                     numbered(5).batch(2).repeat(),
                                     {.every_steps = 1, .at_end = false, .then = then, .sink = lines}}},
          training);
  EXPECT_EQ(means, (std::vector<double>{20, 20}));
  EXPECT_EQ(step.labels, (std::vector<int>{0, 10, 0, 10, 20, 30, 40, 20, 30, 0, 10, 20, 30, 40}));
}

}  // namespace data_batches_test
