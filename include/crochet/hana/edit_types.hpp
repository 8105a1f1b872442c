// SPDX-License-Identifier: Apache-2.0
// Edits of types of chains. An edit that names a hook is a compile error unless the chain has exactly one hook of that
// type. For values: hana/edit.hpp.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#include <boost/hana/append.hpp>
#include <boost/hana/prepend.hpp>
#include <boost/hana/sort.hpp>
#include <boost/hana/type.hpp>

#include <crochet/hana/edit_sequence.hpp>
#include <crochet/hana/named_hook.hpp>
#include <crochet/hana/types.hpp>

namespace crochet {

/// The chain's type with H as its last hook.
template <class Chain, class H>
using Append = chain_of<decltype(boost::hana::append(hook_types<Chain>, boost::hana::type_c<H>))>;

/// The chain's type with H as its first hook.
template <class Chain, class H>
using Prepend = chain_of<decltype(boost::hana::prepend(hook_types<Chain>, boost::hana::type_c<H>))>;

/// The chain's type with Old replaced by New. New may be a decorator: `Replace<C, H, EveryN<10, H>>`.
template <class Chain, class Old, class New>
using Replace =
    chain_of<decltype(detail::replaced<detail::named_hook<Chain, Old>>(hook_types<Chain>, boost::hana::type_c<New>))>;

/// The chain's type without H.
template <class Chain, class H>
using Without = chain_of<decltype(detail::removed<detail::named_hook<Chain, H>>(hook_types<Chain>))>;

/// The chain's type with New directly before H.
template <class Chain, class H, class New>
using InsertBefore =
    chain_of<decltype(detail::inserted<detail::named_hook<Chain, H>, 0>(hook_types<Chain>, boost::hana::type_c<New>))>;

/// The chain's type with New directly after H.
template <class Chain, class H, class New>
using InsertAfter =
    chain_of<decltype(detail::inserted<detail::named_hook<Chain, H>, 1>(hook_types<Chain>, boost::hana::type_c<New>))>;

/// The chain's type sorted in ascending order of `key(hana::type_c<H>)`, a constant with `<`. The sort is stable.
template <class Chain, auto key>
using SortedBy = chain_of<decltype(boost::hana::sort(hook_types<Chain>, detail::less_by<key>))>;

}  // namespace crochet
