// SPDX-License-Identifier: Apache-2.0
// The types of a chain's hooks as a Hana tuple, and the chain of a sequence of types.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#include <utility>

#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>

#include <crochet/hook/chain.hpp>

namespace crochet {

namespace detail {

template <class Chain>
struct HookTypes;
template <class... H>
struct HookTypes<HookChain<H...>> {
  static constexpr auto tuple = boost::hana::tuple_t<H...>;
};

}  // namespace detail

/// `hana::tuple_t<A, B, ...>` of the hooks of a chain's type: the input of Hana's algorithms on types. Nested chains
/// are flattened.
template <class Chain>
inline constexpr auto hook_types = detail::HookTypes<typename Chain::Flat>::tuple;

/// The HookChain of the types in a Hana sequence: `chain_of<decltype(hana::filter(hook_types<Chain>, pred))>`.
template <class Types>
using chain_of = typename decltype(boost::hana::unpack(std::declval<Types>(), boost::hana::template_<HookChain>))::type;

}  // namespace crochet
