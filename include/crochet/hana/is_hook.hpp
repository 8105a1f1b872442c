// SPDX-License-Identifier: Apache-2.0
// is_hook: the result of a Hana algorithm on a chain is a chain only if all its elements are hooks.
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

/// Whether H has a member with almost the name of a phase. The session reports it, so the class must stay in the chain.
template <class H>
inline constexpr bool has_near_miss = false;
template <Inheritable H>
inline constexpr bool has_near_miss<H> = !has_no_near_miss<NameDetector<H>>;

/// Whether H is a range: strings and containers have `begin` and `end` too, but theirs return iterators.
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
/// are not hooks. Does not check that a session accepts the hook: hook/diagnose.hpp does.
template <class T>
inline constexpr bool is_hook = detail::is_hook_type<T>();

}  // namespace crochet
