// SPDX-License-Identifier: Apache-2.0
#include <crochet/hana/chain.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/hana.hpp>

#include <crochet/hana/predicates.hpp>

#include "hooks.hpp"

namespace crochet {
namespace chain_test {

namespace hana = boost::hana;

static_assert(hana::Foldable<HookChain<Counts, Stops>>::value);
static_assert(hana::Iterable<HookChain<Counts, Stops>>::value);
static_assert(hana::Searchable<HookChain<Counts, Stops>>::value);
static_assert(hana::Functor<HookChain<Counts, Stops>>::value);
static_assert(hana::MonadPlus<HookChain<Counts, Stops>>::value);
static_assert(hana::Sequence<HookChain<>>::value);
static_assert(hana::Sequence<HookChain<HookChain<Counts>, Stops>>::value);
static_assert(std::is_same_v<hana::tag_of_t<const HookChain<Counts>&>, HookChainTag>);

/// The values of the Counts of a sequence, a chain or a tuple: the laws compare these.
template <class Sequence>
std::vector<int> numbers(const Sequence& sequence) {
  std::vector<int> found;
  hana::for_each(sequence, [&](const Counts& hook) { found.push_back(hook.count); });
  return found;
}

TEST(HanaChain, IsWalkedInOrder) {
  HookChain chain{Counts{1}, Counts{2}, Counts{3}};
  hana::for_each(chain, [](Counts& hook) { hook.count *= 10; });
  EXPECT_EQ(numbers(chain), (std::vector{10, 20, 30}));
  EXPECT_EQ(hana::fold_left(chain, 0, [](int sum, const Counts& hook) { return sum + hook.count; }), 60);
  static_assert(hana::length(chain) == hana::size_c<3>);
  static_assert(!hana::is_empty(chain));
  EXPECT_EQ(hana::front(chain).count, 10);
  EXPECT_EQ(hana::back(chain).count, 30);
}

TEST(HanaChain, IsUnpackedByReference) {
  HookChain chain{Counts{1}, Owns{std::make_unique<int>(5)}};
  hana::unpack(chain, [](Counts& counts, Owns& owns) { counts.count = *owns.owned; });
  EXPECT_EQ(chain.at<0>().count, 5);
  const Owns taken = hana::unpack(std::move(chain), [](Counts&&, Owns&& owns) { return std::move(owns); });
  EXPECT_EQ(*taken.owned, 5);
  const HookChain constant{Counts{7}};
  EXPECT_EQ(hana::unpack(constant, [](const Counts& counts) { return counts.count; }), 7);
}

TEST(HanaChain, IsSearched) {
  const HookChain chain{Counts{1}, Stops{2}};
  const auto found = hana::find_if(chain, hook_is<Stops>);
  EXPECT_EQ(found->at, 2);
  static_assert(hana::is_nothing(decltype(hana::find_if(chain, hook_is<Owns>)){}));
  static_assert(decltype(hana::any_of(chain, handles_phase<phase::save_state>))::value);
  static_assert(!decltype(hana::any_of(chain, handles_phase<phase::end>))::value);
  static_assert(decltype(hana::all_of(chain, handles_phase<phase::after_run>))::value);
  static_assert(decltype(hana::none_of(chain, hook_is<Owns>))::value);
  static_assert(decltype(hana::count_if(chain, hook_is<Stops>))::value == 1);
}

TEST(HanaChain, IsFiltered) {
  HookChain chain{Counts{1}, Stops{2}, Counts{3}, Owns{std::make_unique<int>(5)}};
  auto counts = hana::filter(std::move(chain), handles_phase<phase::save_state>);
  static_assert(std::is_same_v<decltype(counts), HookChain<Counts, Counts>>);
  EXPECT_EQ(numbers(counts), (std::vector{1, 3}));
  static_assert(std::is_same_v<decltype(hana::filter(counts, hook_is<Stops>)), HookChain<>>);
}

TEST(HanaChain, IsTransformed) {
  const HookChain chain{Counts{1}, Counts{2}};
  const auto stops = hana::transform(chain, [](const Counts& hook) { return Stops{hook.count}; });
  static_assert(std::is_same_v<decltype(stops), const HookChain<Stops, Stops>>);
  EXPECT_EQ(stops.at<1>().at, 2);

  // Values that are not hooks give a tuple: numbers, strings, and containers (which have `begin` and `end`).
  const auto doubled = hana::transform(chain, [](const Counts& hook) { return 2 * hook.count; });
  static_assert(std::is_same_v<decltype(doubled), const hana::tuple<int, int>>);
  EXPECT_EQ(doubled, hana::make_tuple(2, 4));
  const auto texts = hana::transform(chain, [](const Counts& hook) { return std::to_string(hook.count); });
  EXPECT_EQ(texts, hana::make_tuple(std::string("1"), std::string("2")));
  const auto mixed = hana::append(chain, 3);
  static_assert(std::is_same_v<decltype(mixed), const hana::tuple<Counts, Counts, int>>);
}

TEST(HanaChain, IsConcatenated) {
  HookChain chain{Counts{1}, Owns{std::make_unique<int>(5)}};
  auto joined = hana::concat(std::move(chain), HookChain{Stops{2}});
  static_assert(std::is_same_v<decltype(joined), HookChain<Counts, Owns, Stops>>);
  EXPECT_EQ(*joined.at<1>().owned, 5);
  EXPECT_EQ(joined.at<2>().at, 2);
}

TEST(HanaChain, OfChainsIsTheChainOfTheirHooks) {
  HookChain nested{HookChain{Counts{1}, Counts{2}}, Counts{3}};
  EXPECT_EQ(numbers(nested), (std::vector{1, 2, 3}));
  static_assert(hana::length(nested) == hana::size_c<3>);
  static_assert(std::is_same_v<decltype(hana::drop_front(nested)), HookChain<Counts, Counts>>);
  EXPECT_EQ(numbers(hana::reverse(nested)), (std::vector{3, 2, 1}));
}

TEST(HanaChain, OfNothing) {
  HookChain<> none;
  hana::for_each(none, [](auto&) { FAIL(); });
  static_assert(hana::is_empty(none));
  static_assert(std::is_same_v<decltype(hana::concat(none, HookChain<Counts>{})), HookChain<Counts>>);
  static_assert(std::is_same_v<decltype(hana::transform(none, hana::id)), HookChain<>>);
  static_assert(std::is_same_v<decltype(hana::drop_front(none)), HookChain<>>);
}

// The laws, one example each. `numbers` defines equality.

TEST(HanaChainLaws, Functor) {
  const HookChain chain{Counts{1}, Counts{2}};
  const auto f = [](const Counts& hook) { return Counts{hook.count + 1}; };
  const auto g = [](const Counts& hook) { return Counts{hook.count * 2}; };
  EXPECT_EQ(numbers(hana::transform(chain, hana::id)), numbers(chain));
  EXPECT_EQ(numbers(hana::transform(chain, hana::compose(f, g))),
            numbers(hana::transform(hana::transform(chain, g), f)));
}

TEST(HanaChainLaws, MonadPlus) {
  const HookChain a{Counts{1}};
  const HookChain b{Counts{2}};
  const HookChain c{Counts{3}, Counts{4}};
  const auto none = hana::empty<HookChainTag>();
  EXPECT_EQ(numbers(hana::concat(a, none)), numbers(a));
  EXPECT_EQ(numbers(hana::concat(none, a)), numbers(a));
  EXPECT_EQ(numbers(hana::concat(hana::concat(a, b), c)), numbers(hana::concat(a, hana::concat(b, c))));
}

TEST(HanaChainLaws, Foldable) {
  const HookChain chain{Counts{1}, Counts{2}};
  const auto count = [](int sum, const Counts& hook) { return 10 * sum + hook.count; };
  EXPECT_EQ(hana::fold_left(chain, 0, count), hana::fold_left(hana::to_tuple(chain), 0, count));
  EXPECT_EQ(numbers(hana::unpack(chain, hana::make<HookChainTag>)), numbers(chain));
}

TEST(HanaChainLaws, Sequence) {
  const HookChain chain{Counts{1}, Counts{2}};
  static_assert(std::is_same_v<decltype(hana::to<HookChainTag>(hana::to_tuple(chain))), HookChain<Counts, Counts>>);
  EXPECT_EQ(numbers(hana::to<HookChainTag>(hana::to_tuple(chain))), numbers(chain));
}

}  // namespace chain_test
}  // namespace crochet
