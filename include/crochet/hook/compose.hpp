// SPDX-License-Identifier: Apache-2.0
// Chains from chains and hooks: `chain | hook`.
#pragma once

#include <cstddef>
#include <utility>

#include <crochet/hook/chain.hpp>

namespace crochet {

namespace detail {

/// Passes the hooks of a chain, in order, to `use(hook&&...)`.
template <class... H, class Use>
constexpr decltype(auto) unpack_hooks(HookChain<H...>&& chain, Use&& use) {
  return [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) {
    return std::forward<Use>(use)(std::move(chain.template at<I>())...);
  }
  (std::index_sequence_for<H...>{});
}

template <class... H, class... G>
constexpr HookChain<H..., G...> joined(HookChain<H...>&& first, HookChain<G...>&& second) {
  return unpack_hooks(std::move(first), [&](H&&... h) {
    return unpack_hooks(std::move(second), [&](G&&... g) {
      return HookChain<H..., G...>{std::move(h)..., std::move(g)...};
    });
  });
}

/// A chain without nested chains.
template <class Chain>
constexpr typename Chain::Flat&& flat(Chain& chain) {
  return std::move(chain);
}

}  // namespace detail

/// A chain with one more hook at its end, or with the hooks of another chain: `chain | StepCounter{} | more`. Moves or
/// copies its hooks.
template <class... H, class Added>
constexpr auto operator|(HookChain<H...> chain, Added added) {
  if constexpr (detail::is_chain<Added>) {
    return detail::joined(detail::flat(chain), detail::flat(added));
  } else {
    return detail::joined(detail::flat(chain), HookChain<Added>{std::move(added)});
  }
}

}  // namespace crochet
