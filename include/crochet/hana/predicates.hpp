// SPDX-License-Identifier: Apache-2.0
// Conditions for Hana's algorithms: of a hook, and of a hook's type as `hana::type_c<H>`. Decided by the compiler.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#include <type_traits>

#include <boost/hana/bool.hpp>
#include <boost/hana/core/tag_of.hpp>
#include <boost/hana/type.hpp>

#include <crochet/hook/has_phase.hpp>

namespace crochet {

namespace detail {

/// The hook's type, of a hook or of a `hana::type` of one.
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

/// `hana::find_if(chain, hook_is<StopAtStep>)`: the hook has that very type.
template <class H>
inline constexpr auto hook_is =
    [](const auto& hook) { return boost::hana::bool_c<std::is_same_v<detail::hook_of<decltype(hook)>, H>>; };

/// `hana::filter(chain, handles_phase<phase::save_state>)`: the hook has that phase, a decorator the hook inside it.
template <class Phase>
inline constexpr auto handles_phase =
    [](const auto& hook) { return boost::hana::bool_c<detail::has_phase<detail::hook_of<decltype(hook)>, Phase>()>; };

}  // namespace crochet
