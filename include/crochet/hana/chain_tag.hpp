// SPDX-License-Identifier: Apache-2.0
// The tag by which Boost.Hana selects the implementations for chains (hana/chain.hpp).
#pragma once

#include <crochet/hana/needs_hana.hpp>

#include <type_traits>
#include <utility>

#include <boost/hana/core/tag_of.hpp>

#include <crochet/hook/chain.hpp>

namespace crochet {

/// Hana's tag of all chains. `hana::make<HookChainTag>(x...)`, and each algorithm that returns a new sequence through
/// it, returns a HookChain if every x is a hook (hana/is_hook.hpp), otherwise a hana::tuple.
struct HookChainTag {};

namespace detail {

/// The hook at position I of a chain, with the chain's value category.
template <std::size_t I, class Chain>
constexpr decltype(auto) hook_at(Chain&& chain) {
  using Hook = std::remove_reference_t<decltype(chain.template at<I>())>;
  if constexpr (std::is_lvalue_reference_v<Chain>) {
    return static_cast<Hook&>(chain.template at<I>());
  } else {
    return static_cast<Hook&&>(chain.template at<I>());
  }
}

template <class Chain>
using chain_indices = std::make_index_sequence<std::remove_cvref_t<Chain>::size>;

}  // namespace detail
}  // namespace crochet

namespace boost::hana {

template <class... H>
struct tag_of<crochet::HookChain<H...>> {
  using type = crochet::HookChainTag;
};

}  // namespace boost::hana
