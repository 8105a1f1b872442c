// SPDX-License-Identifier: Apache-2.0
// The hook named by an edit of a chain: the chain must have it exactly once.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <crochet/hook/chain.hpp>
#include <crochet/hook/pack.hpp>

namespace crochet {

/// The error of an edit that names a hook.
/// Fix: name the hook by its type in the chain, decorators included. To edit all hooks that satisfy a condition, use
/// `hana::filter` or `hana::replace_if`.
template <class Hook, std::size_t Times>
struct named_hook_is_in_the_chain_once {
  static_assert(Times != 0, "crochet: the chain has no hook of the type that this edit names.");
  static_assert(Times < 2, "crochet: the chain has more than one hook of the type that this edit names.");
};

namespace detail {

/// The position of hook H in a chain's type. Instantiating `Check` reports an error unless the chain has H exactly
/// once.
template <class Chain, class H>
struct NamedHook;
template <class... G, class H>
struct NamedHook<HookChain<G...>, H> {
  static constexpr std::size_t times = count_marked(std::array<bool, sizeof...(G)>{std::is_same_v<G, H>...});
  static constexpr bool is_unique = times == 1;
  using Check = named_hook_is_in_the_chain_once<H, times>;
  static constexpr std::size_t position = first_of({std::is_same_v<G, H>...});
};

template <class Chain, class H>
using named_hook = NamedHook<typename std::remove_cvref_t<Chain>::Flat, H>;

}  // namespace detail
}  // namespace crochet
