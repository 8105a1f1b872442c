// SPDX-License-Identifier: Apache-2.0
#include <crochet/hana/edit.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>
#include <utility>

#include <crochet/hana/edit_types.hpp>

#include "hooks.hpp"

namespace crochet {
namespace edit_test {

HookChain<Counts, Owns> made() { return HookChain{Counts{1}, Owns{std::make_unique<int>(5)}}; }
using Made = HookChain<Counts, Owns>;

TEST(HanaEdit, AddsAtTheEnds) {
  auto longer = append(made(), Stops{7});
  static_assert(std::is_same_v<decltype(longer), Append<Made, Stops>>);
  EXPECT_EQ(longer.get<Stops>().at, 7);
  EXPECT_EQ(*longer.get<Owns>().owned, 5);
  auto first = prepend(made(), Stops{8});
  static_assert(std::is_same_v<decltype(first), Prepend<Made, Stops>>);
  EXPECT_EQ(first.at<0>().at, 8);
  EXPECT_EQ(first.get<Counts>().count, 1);
}

TEST(HanaEdit, InsertsBesideANamedHook) {
  auto before = insert_before<Owns>(made(), Stops{7});
  static_assert(std::is_same_v<decltype(before), InsertBefore<Made, Owns, Stops>>);
  EXPECT_EQ(before.at<1>().at, 7);
  EXPECT_EQ(*before.at<2>().owned, 5);
  auto after = insert_after<Owns>(made(), Stops{8});
  static_assert(std::is_same_v<decltype(after), InsertAfter<Made, Owns, Stops>>);
  EXPECT_EQ(after.at<2>().at, 8);
  EXPECT_EQ(*after.at<1>().owned, 5);
}

TEST(HanaEdit, ReplacesAndRemovesANamedHook) {
  auto replaced = replace<Counts>(made(), Stops{7});
  static_assert(std::is_same_v<decltype(replaced), Replace<Made, Counts, Stops>>);
  EXPECT_EQ(replaced.at<0>().at, 7);
  EXPECT_EQ(*replaced.at<1>().owned, 5);
  auto rest = without<Counts>(made());
  static_assert(std::is_same_v<decltype(rest), Without<Made, Counts>>);
  EXPECT_EQ(*rest.at<0>().owned, 5);
}

constexpr auto size = [](auto hook) { return sizeof(typename decltype(hook)::type); };

TEST(HanaEdit, SortsByAKey) {
  auto sorted = sorted_by<size>(HookChain{Owns{std::make_unique<int>(5)}, Stops{7}, Counts{1}});
  static_assert(std::is_same_v<decltype(sorted), HookChain<Stops, Counts, Owns>>);
  EXPECT_EQ(sorted.at<0>().at, 7);
  EXPECT_EQ(*sorted.at<2>().owned, 5);
}

TEST(HanaEdit, LeavesAnLvalueAsItWas) {
  const HookChain chain{Counts{1}, Stops{7}};
  static_assert(std::is_same_v<decltype(without<Stops>(chain)), HookChain<Counts>>);
  EXPECT_EQ(replace<Stops>(chain, Counts{3}).at<1>().count, 3);
  EXPECT_EQ(chain.get<Stops>().at, 7);
}

TEST(HanaEdit, OfAChainOfChains) {
  const HookChain chain{HookChain{Counts{1}, Stops{2}}, HookChain{Stops{3}}};
  auto rest = without<Counts>(chain);
  static_assert(std::is_same_v<decltype(rest), HookChain<Stops, Stops>>);
  EXPECT_EQ(rest.at<1>().at, 3);
}

}  // namespace edit_test
}  // namespace crochet
