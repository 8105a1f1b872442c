// SPDX-License-Identifier: Apache-2.0
// Edits of chains as values. Each edit moves the hooks of an rvalue and copies those of an lvalue. An edit that names a
// hook is a compile error unless the chain has exactly one hook of that type. For types: hana/edit_types.hpp.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#include <type_traits>
#include <utility>

#include <boost/hana/append.hpp>
#include <boost/hana/prepend.hpp>
#include <boost/hana/sort.hpp>

#include <crochet/hana/chain.hpp>
#include <crochet/hana/edit_sequence.hpp>
#include <crochet/hana/named_hook.hpp>

namespace crochet {

namespace detail {
template <class T>
concept AnyChain = is_chain<std::remove_cvref_t<T>>;
}

/// The error of an edit that adds an object that is not a hook.
template <class Added>
struct added_hook_is_a_hook {
  static_assert(is_hook<Added>, "crochet: what this edit adds to the chain has no member named as a phase.");
};

/// The chain with one more hook at the end: `append(std::move(chain), hook)`, as `chain | hook`.
template <detail::AnyChain Chain, class Added>
constexpr auto append(Chain&& chain, Added added) {
  [[maybe_unused]] added_hook_is_a_hook<Added> checked;
  return boost::hana::append(std::forward<Chain>(chain), std::move(added));
}

/// The chain with one more hook at the front.
template <detail::AnyChain Chain, class Added>
constexpr auto prepend(Chain&& chain, Added added) {
  [[maybe_unused]] added_hook_is_a_hook<Added> checked;
  return boost::hana::prepend(std::forward<Chain>(chain), std::move(added));
}

/// The chain with its hook of type Old replaced by `added`: `replace<Old>(chain, EveryN<10, Old>{...})`.
template <class Old, detail::AnyChain Chain, class Added>
constexpr auto replace(Chain&& chain, Added added) {
  [[maybe_unused]] added_hook_is_a_hook<Added> checked;
  return detail::replaced<detail::named_hook<Chain, Old>>(std::forward<Chain>(chain), std::move(added));
}

/// The chain without its hook of type H: `without<ProgressBar>(chain)`.
template <class H, detail::AnyChain Chain>
constexpr auto without(Chain&& chain) {
  return detail::removed<detail::named_hook<Chain, H>>(std::forward<Chain>(chain));
}

/// The chain with `added` directly before its hook of type H: `insert_before<CheckpointSaver<>>(chain, hook)`.
template <class H, detail::AnyChain Chain, class Added>
constexpr auto insert_before(Chain&& chain, Added added) {
  [[maybe_unused]] added_hook_is_a_hook<Added> checked;
  return detail::inserted<detail::named_hook<Chain, H>, 0>(std::forward<Chain>(chain), std::move(added));
}

/// The chain with `added` directly after its hook of type H.
template <class H, detail::AnyChain Chain, class Added>
constexpr auto insert_after(Chain&& chain, Added added) {
  [[maybe_unused]] added_hook_is_a_hook<Added> checked;
  return detail::inserted<detail::named_hook<Chain, H>, 1>(std::forward<Chain>(chain), std::move(added));
}

/// The chain sorted in ascending order of `key(hana::type_c<H>)`, a constant with `<`: `sorted_by<rank>(chain)`. The
/// sort is stable.
template <auto key, detail::AnyChain Chain>
constexpr auto sorted_by(Chain&& chain) {
  return boost::hana::sort(std::forward<Chain>(chain), detail::less_by<key>);
}

}  // namespace crochet
