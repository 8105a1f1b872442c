// SPDX-License-Identifier: Apache-2.0
// The scope of a session, and the shortest ways to run one: run_session, run, train.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <crochet/error.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/session/singular_monitored_session.hpp>

namespace crochet {

/// Runs `body(session)`, then ends the session as it should be ended: what `with` does in Python.
/// Returns normally, or throws OutOfRangeError or StopIteration: `end` of every hook, closed, nothing leaves.
/// Throws anything else: `on_error` of every hook, closed, and the exception leaves unchanged.
/// A body that closes the session itself is fine.
template <class Session, class Body>
void run_session(Session& session, Body&& body) {
  try {
    std::forward<Body>(body)(session);
  } catch (const OutOfRangeError& end) {  // final classes: nothing derived from them is clean
    session.note_stop("the data", end.what());
  } catch (const StopIteration& stop) {
    session.note_stop("the loop", stop.what());
  } catch (...) {
    session.fail(std::current_exception());
    throw;
  }
  session.close();
}
template <class Session, class Body>
requires(!std::is_lvalue_reference_v<Session>) void run_session(Session&& session, Body&& body) {
  run_session(session, std::forward<Body>(body));
}

namespace detail {

/// What a plain loop runs: the target "train" of an executor that has one; the step of one that has no targets.
template <class E>
constexpr auto main_target() {
  if constexpr (can_run<E, Name<"train">>) {
    return targets<"train">;
  } else {
    return targets<>;
  }
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class Session, class Next>
void run_until_stop(Session& session, Next& next) {
  constexpr auto target = main_target<typename Session::Executor>();
  const auto draw = [&](auto& /*context*/) { return next(); };
  while (!session.should_stop()) {
    auto given = session.run_step_fn(draw);  // data that are unavailable are recovered from like anything else
    if constexpr (is_optional<decltype(given)>) {
      if (!given) return session.note_stop("the data", "came to its end");
      session.run(target, *std::move(given));
    } else {
      session.run(target, std::move(given));
    }
  }
}

}  // namespace detail

/// Runs the executor's main step (target "train", or the step function) under the chain until a hook asks to stop.
/// Borrows an executor or chain given as an lvalue, so its state can be looked at afterwards. Returns who stopped, why.
template <class Exec, class Chain>
StopReason run(Exec&& executor, Chain&& chain) {
  MonitoredSession<Exec, Chain> session{std::forward<Exec>(executor), std::forward<Chain>(chain)};
  run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run(detail::main_target<typename std::remove_reference_t<decltype(s)>::Executor>());
  });
  return session.stop_reason();
}

/// The same with data: each step is given what `next()` returns, feeds or RunArgs, or a std::optional of them, which
/// when empty ends the loop; so does an OutOfRangeError or StopIteration thrown by `next`.
template <class Exec, class Chain, class Next>
StopReason run(Exec&& executor, Chain&& chain, Next&& next) {
  MonitoredSession<Exec, Chain> session{std::forward<Exec>(executor), std::forward<Chain>(chain)};
  run_session(session, [&](auto& s) { detail::run_until_stop(s, next); });
  return session.stop_reason();
}

/// The shortest complete program: compiles `Model` for the device and runs its target "train" until a hook asks to stop
/// or the data ends. `train<Classifier>(Cpu{.threads = 2}, next, HookChain{StopAtStep{.last_step = 2000}})`.
template <class Model, class Device, class Next, class Chain = HookChain<>>
StopReason train(Device&& device, Next&& next, Chain&& chain = {}) {
  return run(std::forward<Device>(device).template compile<Model>(), std::forward<Chain>(chain),
             std::forward<Next>(next));
}

}  // namespace crochet
