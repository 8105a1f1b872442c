// SPDX-License-Identifier: Apache-2.0
// Which types are hooks: what a Hana algorithm makes of a chain is a chain only if all its elements are.
#pragma once

#include <type_traits>

#include <crochet/hook/chain.hpp>
#include <crochet/hook/has_phase.hpp>
#include <crochet/hook/pack.hpp>

namespace crochet {

namespace detail {

template <class H, class AllP = AllPhases>
inline constexpr bool has_any_phase = false;
template <class H, class... P>
inline constexpr bool has_any_phase<H, Phases<P...>> = any({has_phase<H, P>()...});

/// A member spelt almost like a phase: the session reports it, so the class has to stay in the chain.
template <class H>
inline constexpr bool has_near_miss = false;
template <CanBeProbed H>
inline constexpr bool has_near_miss<H> = !has_no_near_miss<Probe<H>>;

/// Strings and containers have `begin` and `end`, too; theirs return iterators.
template <class H>
inline constexpr bool is_range = requires(H& range) {
  requires !std::is_void_v<decltype(range.begin())>;
};

template <class H>
constexpr bool is_hook_type() {
  if constexpr (!std::is_class_v<H> || is_chain<H> || is_range<H>) {
    return false;
  } else {
    return has_any_phase<H> || has_near_miss<H>;
  }
}

}  // namespace detail

/// Whether T is a hook: a class with a member named as a phase (or almost so), or a decorator of one. Chains and ranges
/// are none. It does not say that a session accepts the hook: hook/diagnose.hpp does.
template <class T>
inline constexpr bool is_hook = detail::is_hook_type<T>();

}  // namespace crochet
