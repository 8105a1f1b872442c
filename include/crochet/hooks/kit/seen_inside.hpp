// SPDX-License-Identifier: Apache-2.0
// The run and the session as the hook inside a decorator sees them.
#pragma once

#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>

namespace crochet::detail {

/// The run as passed to the hook H inside a decorator: requests of H carry H's name. A policy with a `rank_guard` calls
/// H on one of several ranks.
template <class H, class Policy, class Run>
CROCHET_HOST_ALWAYS_INLINE constexpr decltype(auto) seen_inside(Run& run) {
  if constexpr (requires { run.template as<H>().template guarded_by<typename Policy::rank_guard>(); }) {
    return run.template as<H>().template guarded_by<typename Policy::rank_guard>();
  } else if constexpr (requires { run.template as<H>(); }) {
    return run.template as<H>();
  } else {
    return (run);
  }
}
template <class H, class Policy, class Run>
using run_inside = std::remove_reference_t<decltype(seen_inside<H, Policy>(std::declval<Run&>()))>;

/// The session as passed to the hook inside a decorator.
template <class Policy, class Session>
constexpr auto& session_inside(Session& session) {
  if constexpr (requires { session.template guarded_by<typename Policy::rank_guard>(); }) {
    return session.template guarded_by<typename Policy::rank_guard>();
  } else {
    return session;
  }
}

}  // namespace crochet::detail
