// SPDX-License-Identifier: Apache-2.0
// Chains in a chain: `HookChain{A{}, HookChain{B{}, C{}}}` is the chain of A, B and C, as `HookChain{A{}} |
// HookChain{B{}, C{}}` is.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include <crochet/hook/chain.hpp>
#include <crochet/hook/pack.hpp>

namespace crochet {

namespace detail {

/// The hooks of one argument of HookChain{...}: the argument itself, or the hooks of a chain.
template <class H>
constexpr std::tuple<H&&> hooks_in(H& hook) {
  return std::tuple<H&&>(std::move(hook));
}
template <class... H>
constexpr std::tuple<H&&...> hooks_of(HookChain<H...>& chain) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<H&&...>(std::move(chain.template at<I>())...);
  }
  (std::index_sequence_for<H...>{});
}
template <class... H>
constexpr auto hooks_in(HookChain<H...>& chain) {
  return hooks_of(static_cast<typename HookChain<H...>::Flat&>(chain));
}

template <class... H>
HookChain<H...> chain_of_all(std::tuple<H&&...>);
/// The chain of the hooks of all arguments.
template <class... Part>
using flat_chain = decltype(chain_of_all(std::tuple_cat(hooks_in(std::declval<Part&>())...)));

}  // namespace detail

/// Derives from the chain `Flat` and converts to it; a session uses the flat chain. Its own type keeps the nested form.
template <class... Part>
requires(detail::any({detail::is_chain<Part>...})) class HookChain<Part...> : public detail::flat_chain<Part...> {
 public:
  using Flat = detail::flat_chain<Part...>;

  constexpr HookChain() = default;
  constexpr explicit HookChain(Part... part)
      : Flat(std::apply([](auto&&... hook) { return Flat{std::move(hook)...}; },
                        std::tuple_cat(detail::hooks_in(part)...))) {}
};

}  // namespace crochet
