// SPDX-License-Identifier: Apache-2.0
// The arguments with which a session calls each phase, for a diagnosis.
#pragma once

#include <exception>

#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet {
class StateWriter;
class StateReader;
}  // namespace crochet

namespace crochet::detail {

/// The argument types with which the session calls each phase, as a function type for messages.
template <class P>
struct CalledAs;
template <>
struct CalledAs<phase::extend_graph> {
  using type = error::called_as<void(GraphBuilder&)>;
};
template <>
struct CalledAs<phase::begin> {
  using type = error::called_as<void()>;
};
template <>
struct CalledAs<phase::after_create_session> {
  using type = error::called_as<void(error::any_session&, error::any_coordinator&)>;
};
template <>
struct CalledAs<phase::before_run> {
  using type = error::called_as<void(error::any_run&)>;
};
template <>
struct CalledAs<phase::after_run> {
  using type = error::called_as<void(error::any_run&, const error::any_values&)>;
};
template <>
struct CalledAs<phase::end> {
  using type = error::called_as<void(error::any_session&)>;
};
template <>
struct CalledAs<phase::on_error> {
  using type = error::called_as<void(std::exception_ptr)>;
};
template <>
struct CalledAs<phase::save_state> {
  using type = error::called_as<void(StateWriter&) const>;
};
template <>
struct CalledAs<phase::load_state> {
  using type = error::called_as<void(StateReader&)>;
};

template <class P, class H, class Args>
inline constexpr bool is_handled = false;
template <class P, class H, class... A>
inline constexpr bool is_handled<P, H, List<A...>> = P::template handled<H, A...>;

template <class P, class H, class Args>
struct Returned;
template <class P, class H, class... A>
struct Returned<P, H, List<A...>> {
  using type = typename P::template returned<H, A...>;
};

}  // namespace crochet::detail
