// SPDX-License-Identifier: Apache-2.0
// Types of chains from types of chains: append, prepend, replace, without. Boost.Hana does the algebra. For values
// there is `chain | hook` (crochet/hook/compose.hpp).
#pragma once

#include <crochet/needs_core.hpp>

#include <utility>

#include <boost/hana/append.hpp>
#include <boost/hana/filter.hpp>
#include <boost/hana/not_equal.hpp>
#include <boost/hana/prepend.hpp>
#include <boost/hana/replace.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>

#include <crochet/hook/chain.hpp>

namespace crochet {

namespace detail {

namespace hana = boost::hana;

template <class Chain>
struct HookTypes;
template <class... H>
struct HookTypes<HookChain<H...>> {
  static constexpr auto tuple = hana::tuple_t<H...>;
};
template <class Chain>
inline constexpr auto hook_types = HookTypes<typename Chain::Flat>::tuple;

/// The HookChain of the types in a Hana tuple.
template <class Tuple>
using chain_of = typename decltype(hana::unpack(std::declval<Tuple>(), hana::template_<HookChain>))::type;

}  // namespace detail

/// The chain's type with H as its last hook.
template <class Chain, class H>
using Append = detail::chain_of<decltype(detail::hana::append(detail::hook_types<Chain>, detail::hana::type_c<H>))>;

/// The chain's type with H as its first hook.
template <class Chain, class H>
using Prepend = detail::chain_of<decltype(detail::hana::prepend(detail::hook_types<Chain>, detail::hana::type_c<H>))>;

/// The chain's type with every hook of type Old replaced by New, which may be a decorator: `Replace<C, H, EveryN<10,
/// H>>`.
template <class Chain, class Old, class New>
using Replace = detail::chain_of<decltype(detail::hana::replace(detail::hook_types<Chain>, detail::hana::type_c<Old>,
                                                                detail::hana::type_c<New>))>;

/// The chain's type without the hooks of type H.
template <class Chain, class H>
using Without = detail::chain_of<decltype(detail::hana::filter(detail::hook_types<Chain>,
                                                               detail::hana::not_equal.to(detail::hana::type_c<H>)))>;

}  // namespace crochet
