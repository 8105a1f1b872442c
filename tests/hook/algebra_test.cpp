// SPDX-License-Identifier: Apache-2.0
#include <crochet/hook/algebra.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <type_traits>
#include <utility>

#include <crochet/hook/compose.hpp>

namespace crochet {
namespace {

struct A {
  int value = 0;
  void begin() {}
};
struct B {
  void begin() {}
};
struct C {
  std::unique_ptr<int> owned;
  void begin() {}
};
template <class H>
struct Decorated {
  H hook;
  void begin() {}
};

TEST(Algebra, OfTypes) {
  using AB = HookChain<A, B>;
  static_assert(std::is_same_v<Append<AB, C>, HookChain<A, B, C>>);
  static_assert(std::is_same_v<Append<HookChain<>, C>, HookChain<C>>);
  static_assert(std::is_same_v<Prepend<AB, C>, HookChain<C, A, B>>);
  static_assert(std::is_same_v<Replace<HookChain<A, B, A>, A, Decorated<A>>, HookChain<Decorated<A>, B, Decorated<A>>>);
  static_assert(std::is_same_v<Replace<AB, C, A>, AB>);
  static_assert(std::is_same_v<Without<HookChain<A, B, A>, A>, HookChain<B>>);
  static_assert(std::is_same_v<Without<AB, C>, AB>);
}

TEST(Algebra, OfValues) {
  HookChain chain{A{1}, B{}};
  auto longer = chain | C{std::make_unique<int>(5)};
  static_assert(std::is_same_v<decltype(longer), HookChain<A, B, C>>);
  EXPECT_EQ(longer.get<A>().value, 1);
  EXPECT_EQ(*longer.get<C>().owned, 5);

  auto joined = std::move(longer) | HookChain{A{2}, B{}} | A{3};
  static_assert(std::is_same_v<decltype(joined), HookChain<A, B, C, A, B, A>>);
  EXPECT_EQ(joined.at<0>().value, 1);
  EXPECT_EQ(*joined.get<C>().owned, 5);
  EXPECT_EQ(joined.at<3>().value, 2);
  EXPECT_EQ(joined.at<5>().value, 3);
  EXPECT_EQ(chain.get<A>().value, 1);
}

}  // namespace
}  // namespace crochet
