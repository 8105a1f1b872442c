// SPDX-License-Identifier: Apache-2.0
#include <crochet/hook/run_args.hpp>

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace crochet {
namespace run_args_test {

template <FixedString Text, class X>
using FeedFor = Feed<Name<Text>, X>;

TEST(Feed, BorrowsWhatLivesLongerAndKeepsWhatDoesNot) {
  std::vector<float> lasting{1, 2, 3};
  auto borrowed = feed<"x">(lasting);
  static_assert(std::is_same_v<decltype(borrowed), FeedFor<"x", std::span<const float>>>);
  EXPECT_EQ(borrowed.value.data(), lasting.data());

  const float* const data = lasting.data();
  auto kept = feed<"x">(std::move(lasting));
  static_assert(std::is_same_v<decltype(kept), FeedFor<"x", std::vector<float>>>);
  EXPECT_EQ(kept.value.data(), data);  // moved, not copied

  static_assert(std::is_same_v<decltype(feed<"x">(1.0f)), FeedFor<"x", float>>);
  const TensorView<float, 2> view;
  static_assert(std::is_same_v<decltype(feed<"x">(view)), FeedFor<"x", TensorView<float, 2>>>);
  std::array<int, 4> array{};
  static_assert(std::is_same_v<decltype(feed<"x">(array)), FeedFor<"x", std::span<const int>>>);
  static_assert(std::is_same_v<decltype(feed<"x">(std::span<const int>(array))), FeedFor<"x", std::span<const int>>>);
}

TEST(RunArgs, TakesItsPartsInAnyOrder) {
  auto args = RunArgs{feed<"x">(1.0f), targets<"train">,    fetches<"loss">,
                      "summary"_n,     fetches<"accuracy">, feeds(feed<"y">(2), feed<"z">(3L))};
  static_assert(std::is_same_v<decltype(args),
                               RunArgs<Fetches<Name<"loss">, Name<"accuracy">>, Targets<Name<"train">, Name<"summary">>,
                                       Feeds<FeedFor<"x", float>, FeedFor<"y", int>, FeedFor<"z", long>>>>);
  EXPECT_EQ(args.feeds.get<Name<"x">>().value, 1.0f);
  EXPECT_EQ(args.feeds.get<Name<"y">>().value, 2);
  EXPECT_EQ(args.feeds.get<Name<"z">>().value, 3);
}

TEST(RunArgs, OfRunArgsIsTheirUnion) {
  auto inner = RunArgs{fetches<"loss">, feed<"x">(std::vector<int>{1, 2})};
  auto outer = RunArgs{inner, targets<"train">};
  static_assert(
      std::is_same_v<decltype(outer),
                     RunArgs<Fetches<Name<"loss">>, Targets<Name<"train">>, Feeds<FeedFor<"x", std::vector<int>>>>>);
  EXPECT_EQ(outer.feeds.get<Name<"x">>().value.size(), 2u);
  auto copy = RunArgs{outer};
  static_assert(std::is_same_v<decltype(copy), decltype(outer)>);
}

TEST(Feeds, OwnATemporaryContainerAndMayBeReturned) {
  const auto made = [] { return feeds(feed<"x">(std::vector<float>(8, 3.0F)), feed<"y">(1)); };
  const auto held = made();
  static_assert(std::is_same_v<decltype(held), const Feeds<Feed<Name<"x">, std::vector<float>>, Feed<Name<"y">, int>>>);
  EXPECT_EQ(held.get<Name<"x">>().value, std::vector<float>(8, 3.0F));
  const auto args = RunArgs{targets<"train">, made()};
  EXPECT_EQ(args.feeds.get<Name<"x">>().value, std::vector<float>(8, 3.0F));
}

TEST(RunArgs, WithoutFeedsIsEmpty) {
  static_assert(std::is_empty_v<decltype(RunArgs{fetches<"loss">, targets<"train">})>);
  static_assert(std::is_same_v<decltype(RunArgs{}), RunArgs<>>);
}

TEST(Name, IsATypeWithItsText) {
  static_assert("loss"_n.view() == "loss");
  static_assert(std::is_same_v<decltype("loss"_n), Name<"loss">>);
  static_assert(!std::is_same_v<Name<"loss">, Name<"los">>);
  constexpr std::string_view computed = "a loss";
  static_assert(std::is_same_v<Name<FixedString<5>{computed.substr(2)}>, Name<"loss">>);
}

TEST(Closest, FindsWhatWasMeantOrNothing) {
  constexpr std::array<std::string_view, 3> known{"loss", "accuracy", "global_step"};
  static_assert(closest("lose", known) == "loss");
  static_assert(closest("acuracy", known) == "accuracy");
  static_assert(closest("globalstep", known) == "global_step");
  static_assert(closest("images", known).empty());
  static_assert(edit_distance("kitten", "sitting") == 3);
  static_assert(edit_distance("", "abc") == 3 && edit_distance("abc", "") == 3 && edit_distance("", "") == 0);
}

TEST(TensorView, IsRowMajor) {
  const std::array<float, 6> data{0, 1, 2, 10, 11, 12};
  const TensorView<float, 2> view{data.data(), {2, 3}};
  EXPECT_EQ(view.size(), 6u);
  EXPECT_EQ(view.extent(1), 3);
  EXPECT_EQ(view(1, 2), 12.0f);
  EXPECT_EQ(view[3], 10.0f);
  const std::span<const float> flat = view;
  EXPECT_EQ(flat.size(), 6u);
  float sum = 0;
  for (const float x : view) sum += x;
  EXPECT_EQ(sum, 36.0f);
  EXPECT_TRUE((TensorView<float, 2>{}).empty());
  EXPECT_EQ((TensorView<float, 0>{data.data(), {}}).size(), 1u);
}

}  // namespace run_args_test
}  // namespace crochet
