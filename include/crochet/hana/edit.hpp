// SPDX-License-Identifier: Apache-2.0
// Chains from chains, as values. Each edit moves the hooks of an rvalue and copies those of an lvalue. An edit that
// names a hook does not compile if the chain has no hook of that type, or more than one. For types:
// hana/edit_types.hpp.
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

/// The one error of an edit that adds something that is no hook.
template <class Added>
struct added_hook_is_a_hook {
  static_assert(is_hook<Added>, "crochet: what this edit adds to the chain has no member named as a phase.");
};

/// The chain with one more hook as its last: `append(std::move(chain), hook)`, as `chain | hook`.
template <detail::AnyChain Chain, class Added>
constexpr auto append(Chain&& chain, Added added) {
  [[maybe_unused]] added_hook_is_a_hook<Added> checked;
  return boost::hana::append(std::forward<Chain>(chain), std::move(added));
}

/// The chain with one more hook as its first.
template <detail::AnyChain Chain, class Added>
constexpr auto prepend(Chain&& chain, Added added) {
  [[maybe_unused]] added_hook_is_a_hook<Added> checked;
  return boost::hana::prepend(std::forward<Chain>(chain), std::move(added));
}

/// The chain with `added` in the place of its hook of type Old: `replace<Old>(chain, EveryN<10, Old>{...})`.
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

/// The chain with `added` right before its hook of type H: `insert_before<CheckpointSaver<>>(chain, hook)`.
template <class H, detail::AnyChain Chain, class Added>
constexpr auto insert_before(Chain&& chain, Added added) {
  [[maybe_unused]] added_hook_is_a_hook<Added> checked;
  return detail::inserted<detail::named_hook<Chain, H>, 0>(std::forward<Chain>(chain), std::move(added));
}

/// The chain with `added` right behind its hook of type H.
template <class H, detail::AnyChain Chain, class Added>
constexpr auto insert_after(Chain&& chain, Added added) {
  [[maybe_unused]] added_hook_is_a_hook<Added> checked;
  return detail::inserted<detail::named_hook<Chain, H>, 1>(std::forward<Chain>(chain), std::move(added));
}

/// The chain in ascending order of `key(hana::type_c<H>)`, a constant that `<` compares: `sorted_by<rank>(chain)`.
/// Hooks with equal keys keep their order.
template <auto key, detail::AnyChain Chain>
constexpr auto sorted_by(Chain&& chain) {
  return boost::hana::sort(std::forward<Chain>(chain), detail::less_by<key>);
}

}  // namespace crochet
