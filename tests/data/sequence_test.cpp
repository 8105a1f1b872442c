// SPDX-License-Identifier: Apache-2.0
// Windows of a sequence as a data set: rows, splits, batches, resume, prefetch.
#include <crochet/data/data_batches.hpp>
#include <crochet/data/prefetched.hpp>
#include <crochet/data/sequence.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <type_traits>
#include <vector>

namespace sequence_test {

namespace cr = crochet;
using cr::LogicError;
using Ids = std::vector<std::int32_t>;
using Lists = std::vector<Ids>;

/// 0, 1, 2, ...
cr::Sequence<std::int32_t> counting(int size) {
  Ids ids(static_cast<std::size_t>(size));
  std::iota(ids.begin(), ids.end(), 0);
  return cr::Sequence{ids};
}
auto pairs(int size, cr::WindowOptions options) { return counting(size).windows<"tokens", "labels">(options); }

/// The first token of each window of a batch; checks that tokens and labels belong together.
Ids starts(const auto& batch) {
  const auto tokens = batch.template get<cr::Name<"tokens">>().value;
  const auto labels = batch.template get<cr::Name<"labels">>().value;
  EXPECT_EQ(tokens.shape(), labels.shape());
  Ids first;
  for (std::int64_t row = 0; row < tokens.extent(0); ++row) {
    first.push_back(tokens(row, 0));
    for (std::int64_t i = 0; i < tokens.extent(1); ++i) {
      EXPECT_EQ(tokens(row, i), first.back() + i);
      EXPECT_EQ(labels(row, i), first.back() + i + 1) << "the next token";
    }
  }
  return first;
}
Lists rest(auto& batches) {
  Lists all;
  while (!batches.done()) all.push_back(starts(batches.next()));
  return all;
}
Lists all(auto batches) { return rest(batches); }

TEST(Sequence, WindowsAreTypedFeeds) {
  auto batches = pairs(6, {.length = 3}).batch(2);
  using View = cr::TensorView<std::int32_t, 2>;
  static_assert(std::is_same_v<decltype(batches.next()),
                               cr::Feeds<cr::Feed<cr::Name<"tokens">, View>, cr::Feed<cr::Name<"labels">, View>>>);
  EXPECT_EQ(all(batches), (Lists{{0, 1}, {2}}));
  EXPECT_EQ(all(pairs(7, {.length = 3, .stride = 3}).batch(5)), (Lists{{0, 3}}));
  EXPECT_EQ(all(pairs(6, {.length = 3, .stride = 3}).batch(5)), (Lists{{0}})) << "the last token has no next one";
}

TEST(Sequence, WindowsOfOneFieldAndOfOtherElements) {
  const cr::Sequence values{std::vector<float>{1, 2, 4, 8}};
  auto batches = values.windows<"x">({.length = 2, .stride = 2}).batch(2);
  const auto x = batches.next().get<cr::Name<"x">>().value;
  EXPECT_EQ(std::vector<float>(x.begin(), x.end()), (std::vector<float>{1, 2, 4, 8}));
  EXPECT_EQ(values.windows<"x">({.length = 4}).size(), 1);
}

TEST(Sequence, PartsHaveNoElementInCommon) {
  const auto sequence = counting(20);
  const auto [training, validation] = sequence.split(0.75);
  EXPECT_EQ(training.size(), 15);
  EXPECT_EQ(validation.size(), 5);
  EXPECT_EQ(validation.elements().front(), 15);
  EXPECT_EQ(training.elements().data(), sequence.elements().data()) << "they share the elements";
  EXPECT_EQ(all(training.windows<"tokens", "labels">({.length = 4}).batch(100)).front().back(), 10);
  EXPECT_EQ(all(validation.windows<"tokens", "labels">({.length = 2}).batch(100)), (Lists{{15, 16, 17}}));
}

TEST(Sequence, WindowsAreSelectedAsRowsAre) {
  const auto windows = pairs(11, {.length = 2, .stride = 2});
  EXPECT_EQ(all(windows.take(2).batch(9)), (Lists{{0, 2}}));
  EXPECT_EQ(all(windows.shard(1, 2).batch(9)), (Lists{{2, 6}}));
  EXPECT_EQ(all(windows.shard(0, 2).shard(1, 2).batch(9)), (Lists{{4}}));
  const auto [first, second] = windows.split(0.6, 1);
  const Lists both{all(first.batch(9))[0], all(second.batch(9))[0]};
  EXPECT_EQ(both[0].size() + both[1].size(), 5U);
  std::set<int> seen(both[0].begin(), both[0].end());
  seen.insert(both[1].begin(), both[1].end());
  EXPECT_EQ(seen, (std::set<int>{0, 2, 4, 6, 8}));
}

TEST(Sequence, WindowsCanBeMapped) {
  const auto sums = pairs(6, {.length = 3}).map<"tokens">([](cr::TensorView<std::int32_t, 1> window) {
    return static_cast<float>(std::accumulate(window.begin(), window.end(), 0));
  });
  EXPECT_EQ(sums.view<"tokens">()(2), 2 + 3 + 4);
  EXPECT_EQ(sums.array<"labels">().row(2)[0], 3);
}

TEST(Sequence, AShuffleHasEachWindowOnceAnEpoch) {
  const Lists batches = all(pairs(14, {.length = 3}).shuffle(5).batch(4).repeat(2));
  ASSERT_EQ(batches.size(), 6U);
  for (std::size_t epoch = 0; epoch < 2; ++epoch) {
    Ids seen;
    for (std::size_t i = 0; i < 3; ++i)
      seen.insert(seen.end(), batches[3 * epoch + i].begin(), batches[3 * epoch + i].end());
    EXPECT_FALSE(std::is_sorted(seen.begin(), seen.end()));
    std::sort(seen.begin(), seen.end());
    Ids expected(11);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(seen, expected);
  }
}

/// Stops before each batch in turn; other batches, restored from a checkpoint's state, give exactly the remaining ones.
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

TEST(Sequence, ResumesAtEveryBatchWithTheVeryNextOne) {
  const auto windows = pairs(14, {.length = 3});
  check_resume_at_every_batch([&] { return windows.batch(4).repeat(2); });
  check_resume_at_every_batch([&] { return windows.shuffle(7).batch(4).repeat(3); });
  check_resume_at_every_batch([&] { return windows.shuffle(7).batch(4).drop_remainder().repeat(2); });
  check_resume_at_every_batch([&] { return windows.shard(1, 2).shuffle(7).batch(4).pad().repeat(2); });
  check_resume_at_every_batch([&] { return windows.shuffle(7).batch(4).repeat(2).prefetch(2); });
}

TEST(Sequence, RefusesWhatHasNoWindow) {
  EXPECT_THROW((void)pairs(3, {.length = 3}), LogicError);
  EXPECT_NO_THROW((void)counting(3).windows<"tokens">({.length = 3}));
  EXPECT_THROW((void)pairs(9, {.length = 0}), LogicError);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW((void)pairs(9, {.length = most}), LogicError);
  EXPECT_THROW((void)pairs(9, {.length = most, .stride = most}), LogicError);
  EXPECT_THROW((void)pairs(9, {.length = 2, .stride = 0}), LogicError);
  for (const double fraction : {0.0, 1.0, -1.0, 0.01, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW((void)counting(9).split(fraction), LogicError) << fraction;
}

}  // namespace sequence_test
