// SPDX-License-Identifier: Apache-2.0
// Predicates for Hana's algorithms, on a hook or on `hana::type_c<H>`. Evaluated at compile time.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#include <type_traits>

#include <boost/hana/bool.hpp>
#include <boost/hana/core/tag_of.hpp>
#include <boost/hana/type.hpp>

#include <crochet/hook/has_phase.hpp>

namespace crochet {

namespace detail {

/// The type of a hook, or of the hook in a `hana::type`.
template <class T>
struct HookOf {
  using type = T;
};
template <class T>
requires(std::is_same_v<boost::hana::tag_of_t<T>, boost::hana::type_tag>) struct HookOf<T> {
  using type = typename T::type;
};
template <class T>
using hook_of = typename HookOf<std::remove_cvref_t<T>>::type;

}  // namespace detail

/// `hana::find_if(chain, hook_is<StopAtStep>)`: whether the hook has exactly that type.
template <class H>
inline constexpr auto hook_is =
    [](const auto& hook) { return boost::hana::bool_c<std::is_same_v<detail::hook_of<decltype(hook)>, H>>; };

/// `hana::filter(chain, handles_phase<phase::save_state>)`: whether the hook has that phase; for a decorator, whether
/// the hook inside it has it.
template <class Phase>
inline constexpr auto handles_phase =
    [](const auto& hook) { return boost::hana::bool_c<detail::has_phase<detail::hook_of<decltype(hook)>, Phase>()>; };

}  // namespace crochet
