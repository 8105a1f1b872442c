// SPDX-License-Identifier: Apache-2.0
// placed_chain: a chain as a session on one of several ranks calls it, with each hook in its place (hook/runs_on.hpp).
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <crochet/hook/chain.hpp>

namespace crochet::detail {

/// An executor of one of several ranks has `placed_hook<H>`: H, or H on one rank.
template <class E>
concept PlacesHooks = requires {
  typename E::template placed_hook<int>;
};

/// H in the chain of a session of E: E::placed_hook<H>. Specialized for a hook that has hooks of its own.
template <class E, class H>
struct PlacedHook {
  using type = typename E::template placed_hook<H>;
};
/// PlacedHook<E, H> for each hook H of a flat chain.
template <class E, class Flat>
struct PlacedHooks;
template <class E, class... H>
struct PlacedHooks<E, HookChain<H...>> {
  using type = HookChain<typename PlacedHook<E, H>::type...>;
};
/// Whether a chain, also one with nested chains, has hooks to be placed on one rank of several.
template <class E, class Chain>
inline constexpr bool has_hooks_to_place = false;
template <PlacesHooks E, class... H>
inline constexpr bool has_hooks_to_place<E, HookChain<H...>> =
    !std::is_same_v<typename HookChain<H...>::Flat, typename PlacedHooks<E, typename HookChain<H...>::Flat>::type>;

/// The chain that a session of the executor E calls: a flat chain of placed hooks, where there are any.
template <class E, class Chain>
struct PlacedChain {
  using type = Chain;
};
template <class E, class Chain>
requires has_hooks_to_place<E, Chain>
struct PlacedChain<E, Chain> : PlacedHooks<E, typename Chain::Flat> {
};
/// Whether the chain is borrowed and has hooks to be placed, which a session cannot do.
template <class E, class Chain>
inline constexpr bool borrows_hooks_to_place =
    std::is_lvalue_reference_v<Chain>&& has_hooks_to_place<E, std::remove_cvref_t<Chain>>;
/// The one error for it.
template <bool Can>
struct chain_can_be_placed {
  static_assert(Can,
                "crochet: on several ranks pass the chain by value, or write OnChief<H> for hooks that run on rank 0");
};
template <class E, class Chain>
using placed_chain = typename PlacedChain<E, Chain>::type;

/// The flat chain `Placed`, with each hook made of that of `chain`.
template <class Placed, class Chain>
constexpr Placed chain_of_hooks_of(Chain&& chain) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Placed{std::remove_reference_t<decltype(std::declval<Placed&>().template at<I>())>(
        std::move(chain.template at<I>()))...};
  }
  (std::make_index_sequence<Placed::size>{});
}
/// The hooks of `chain` in their places.
template <class E, class Chain>
constexpr placed_chain<E, Chain> place_chain(Chain&& chain) {
  if constexpr (std::is_same_v<placed_chain<E, Chain>, Chain>) {
    return static_cast<Chain&&>(chain);
  } else {
    return chain_of_hooks_of<placed_chain<E, Chain>>(static_cast<Chain&&>(chain));
  }
}

}  // namespace crochet::detail
