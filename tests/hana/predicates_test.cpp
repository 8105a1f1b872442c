// SPDX-License-Identifier: Apache-2.0
#include <crochet/hana/predicates.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

#include <boost/hana.hpp>

#include <crochet/hana/chain.hpp>
#include <crochet/hana/types.hpp>
#include <crochet/hooks/every_n.hpp>

#include "hooks.hpp"

namespace crochet {
namespace predicates_test {

namespace hana = boost::hana;
using Chain = HookChain<Counts, Stops, EveryN<2, Counts>>;

TEST(HanaPredicates, OfHooksAndOfTheirTypes) {
  static_assert(decltype(hook_is<Counts>(std::declval<const Counts&>()))::value);
  static_assert(decltype(hook_is<Counts>(hana::type_c<Counts>))::value);
  static_assert(!decltype(hook_is<Counts>(hana::type_c<EveryN<2, Counts>>))::value);
  static_assert(decltype(handles_phase<phase::load_state>(std::declval<Counts&>()))::value);
  static_assert(!decltype(handles_phase<phase::load_state>(hana::type_c<Stops>))::value);
}

TEST(HanaPredicates, OfADecoratorAreThoseOfTheHookInside) {
  static_assert(decltype(handles_phase<phase::after_run>(hana::type_c<EveryN<2, Counts>>))::value);
  static_assert(!decltype(handles_phase<phase::end>(hana::type_c<EveryN<2, Counts>>))::value);
}

TEST(HanaPredicates, AreCombined) {
  const auto rest = hana::filter(Chain{}, hana::compose(hana::not_, hook_is<Stops>));
  static_assert(std::is_same_v<decltype(rest), const HookChain<Counts, EveryN<2, Counts>>>);
}

TEST(HanaTypes, OfAChainAndBack) {
  static_assert(hook_types<Chain> == hana::tuple_t<Counts, Stops, EveryN<2, Counts>>);
  static_assert(hook_types<HookChain<HookChain<Counts>, Stops>> == hana::tuple_t<Counts, Stops>);
  static_assert(std::is_same_v<chain_of<decltype(hook_types<Chain>)>, Chain>);
  using Stateful = chain_of<decltype(hana::filter(hook_types<Chain>, handles_phase<phase::save_state>))>;
  static_assert(std::is_same_v<Stateful, HookChain<Counts, EveryN<2, Counts>>>);
  static_assert(std::is_same_v<chain_of<decltype(hana::make_tuple())>, HookChain<>>);
}

}  // namespace predicates_test
}  // namespace crochet
