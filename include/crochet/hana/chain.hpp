// SPDX-License-Identifier: Apache-2.0
// HookChain as a Boost.Hana Sequence: for_each, find_if, any_of, filter, transform, unpack, concat and the other
// algorithms of Hana work on chains of hooks. The algorithms themselves are included from <boost/hana/...>.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/hana/bool.hpp>
#include <boost/hana/concept/sequence.hpp>
#include <boost/hana/core/make.hpp>
#include <boost/hana/fwd/at.hpp>
#include <boost/hana/fwd/drop_front.hpp>
#include <boost/hana/fwd/insert.hpp>
#include <boost/hana/fwd/is_empty.hpp>
#include <boost/hana/fwd/length.hpp>
#include <boost/hana/fwd/unpack.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/tuple.hpp>

#include <crochet/hana/chain_tag.hpp>
#include <crochet/hana/is_hook.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/pack.hpp>

namespace boost::hana {

template <>
struct Sequence<crochet::HookChainTag> {
  static constexpr bool value = true;
};

template <>
struct make_impl<crochet::HookChainTag> {
  template <class... X>
  static constexpr auto apply(X&&... x) {
    if constexpr (crochet::detail::any({!crochet::is_hook<std::decay_t<X>>...})) {
      return hana::make_tuple(static_cast<X&&>(x)...);
    } else {
      return crochet::HookChain<std::decay_t<X>...>{static_cast<X&&>(x)...};
    }
  }
};

template <>
struct unpack_impl<crochet::HookChainTag> {
  template <class Chain, class F>
  static constexpr decltype(auto) apply(Chain&& hooks, F&& f) {
    return [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) {
      return static_cast<F&&>(f)(crochet::detail::hook_at<I>(static_cast<Chain&&>(hooks))...);
    }
    (crochet::detail::chain_indices<Chain>{});
  }
};

template <>
struct length_impl<crochet::HookChainTag> {
  template <class Chain>
  static constexpr auto apply(const Chain&) {
    return hana::size_c<Chain::size>;
  }
};

template <>
struct is_empty_impl<crochet::HookChainTag> {
  template <class Chain>
  static constexpr auto apply(const Chain&) {
    return hana::bool_c<Chain::size == 0>;
  }
};

template <>
struct at_impl<crochet::HookChainTag> {
  template <class Chain, class N>
  static constexpr decltype(auto) apply(Chain&& hooks, const N&) {
    return crochet::detail::hook_at<N::value>(static_cast<Chain&&>(hooks));
  }
};

template <>
struct drop_front_impl<crochet::HookChainTag> {
  template <class Chain, class N>
  static constexpr auto apply(Chain&& hooks, const N&) {
    constexpr std::size_t size = std::remove_cvref_t<Chain>::size;
    constexpr std::size_t dropped = N::value < size ? N::value : size;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return hana::make<crochet::HookChainTag>(crochet::detail::hook_at<I + dropped>(static_cast<Chain&&>(hooks))...);
    }
    (std::make_index_sequence<size - dropped>{});
  }
};

/// Hana's own insert copies the elements, and some hooks can only be moved.
template <>
struct insert_impl<crochet::HookChainTag> {
  template <class Chain, class N, class Added>
  static constexpr auto apply(Chain&& hooks, const N&, Added&& added) {
    constexpr std::size_t place = N::value;
    return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
      return hana::make<crochet::HookChainTag>(crochet::detail::hook_at<I>(static_cast<Chain&&>(hooks))...,
                                               static_cast<Added&&>(added),
                                               crochet::detail::hook_at<J + place>(static_cast<Chain&&>(hooks))...);
    }
    (std::make_index_sequence<place>{}, std::make_index_sequence<std::remove_cvref_t<Chain>::size - place>{});
  }
};

}  // namespace boost::hana
