// SPDX-License-Identifier: Apache-2.0
// StepContext: the argument of a step function in run_step_fn.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/run_arguments.hpp>

namespace crochet {

/// One attempt at a step, for a function with several runs, with or without hooks. Valid during the call. `Monitored`
/// is the session.
template <class Monitored>
class StepContext {
 public:
  explicit StepContext(Monitored& session) : session_(session) {}

  /// The session below the hooks. If a step is repeated after a recovery, it is the new session.
  [[nodiscard]] auto& session() const { return session_.raw_session(); }

  /// One run with hooks, like `run` of the session, but without recovery: an error leaves the step function, which is
  /// then repeated as a whole. May be called any number of times.
  template <RequestPart... A>
  auto run_with_hooks(A&&... args) const {
    return session_.run_once(std::forward<A>(args)...);
  }
  /// For an argument that is no part of a request: only reports it.
  template <class... A>
  requires detail::HasOtherArgument<A...>
  auto run_with_hooks(A&&...) const { return detail::refused_run<typename Monitored::Executor, A...>(); }

  /// Leaves the step function and ends the loop: stops the session and throws StopIteration.
  [[noreturn]] void request_stop(std::string_view reason = {}) const {
    session_.request_stop(reason, "the step function");
    throw StopIteration(reason.empty() ? std::string("crochet: the step function requested a stop")
                                       : std::string(reason));
  }

 private:
  Monitored& session_;
};

namespace detail {

template <class F, class Context>
constexpr auto step_function_reason() {
  if constexpr (std::is_invocable_v<F&, Context&>) {
    return std::type_identity<error::none>{};
  } else {
    return std::type_identity<error::the_step_function_does_not_take_one_step_context<F>>{};
  }
}

}  // namespace detail

}  // namespace crochet
