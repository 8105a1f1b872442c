// SPDX-License-Identifier: Apache-2.0
#include <crochet/hana/edit_types.hpp>

#include <gtest/gtest.h>

#include <type_traits>

#include <boost/hana.hpp>

#include "hooks.hpp"

namespace crochet {
namespace edit_types_test {

template <class C, class D>
inline constexpr bool same = std::is_same_v<C, D>;
template <int I>
struct Ranked {
  static constexpr int rank = I;
  void begin() {}
};
template <class H>
struct Around {
  H hook;
  void begin() {}
};

TEST(HanaEditTypes, AtTheEnds) {
  static_assert(same<Append<HookChain<Counts, Stops>, Owns>, HookChain<Counts, Stops, Owns>>);
  static_assert(same<Append<HookChain<>, Owns>, HookChain<Owns>>);
  static_assert(same<Prepend<HookChain<Counts, Stops>, Owns>, HookChain<Owns, Counts, Stops>>);
}

TEST(HanaEditTypes, AtANamedHook) {
  using Chain = HookChain<Counts, Stops>;
  static_assert(same<Replace<Chain, Counts, Around<Counts>>, HookChain<Around<Counts>, Stops>>);
  static_assert(same<Without<Chain, Counts>, HookChain<Stops>>);
  static_assert(same<Without<HookChain<Stops>, Stops>, HookChain<>>);
  static_assert(same<InsertBefore<Chain, Counts, Owns>, HookChain<Owns, Counts, Stops>>);
  static_assert(same<InsertBefore<Chain, Stops, Owns>, HookChain<Counts, Owns, Stops>>);
  static_assert(same<InsertAfter<Chain, Counts, Owns>, HookChain<Counts, Owns, Stops>>);
  static_assert(same<InsertAfter<Chain, Stops, Owns>, HookChain<Counts, Stops, Owns>>);
}

TEST(HanaEditTypes, OfChainsInAChain) {
  using Chain = HookChain<HookChain<Counts>, Stops>;
  static_assert(same<Append<Chain, Owns>, HookChain<Counts, Stops, Owns>>);
  static_assert(same<Without<Chain, Counts>, HookChain<Stops>>);
}

constexpr auto rank = [](auto hook) { return decltype(hook)::type::rank; };
constexpr auto size = [](auto hook) { return boost::hana::sizeof_(hook); };

TEST(HanaEditTypes, SortedByAKey) {
  static_assert(
      same<SortedBy<HookChain<Ranked<3>, Ranked<1>, Ranked<2>>, rank>, HookChain<Ranked<1>, Ranked<2>, Ranked<3>>>);
  static_assert(same<SortedBy<HookChain<>, rank>, HookChain<>>);
  // A key may be one of Hana's constants; equal keys keep their order.
  static_assert(same<SortedBy<HookChain<Owns, Stops, Counts>, size>, HookChain<Stops, Counts, Owns>>);
}

TEST(HanaEditTypes, ByHanasAlgorithms) {
  using Chain = HookChain<Counts, Stops, Counts>;
  constexpr auto kept = boost::hana::filter(hook_types<Chain>, boost::hana::not_equal.to(boost::hana::type_c<Counts>));
  static_assert(same<chain_of<decltype(kept)>, HookChain<Stops>>);
}

}  // namespace edit_types_test
}  // namespace crochet
