// SPDX-License-Identifier: Apache-2.0
// The scope of a session, and the shortest ways to run one: run_session, run, train.
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/epochs.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/check.hpp>
#include <crochet/session/extend.hpp>
#include <crochet/session/hook_bodies.hpp>
#include <crochet/session/judged_run.hpp>
#include <crochet/session/main_target.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/session/singular_monitored_session.hpp>

namespace crochet {

namespace detail {

/// False after an error of the session's executor or hooks has been reported: errors from a generic body would only
/// repeat it.
template <class Session>
inline constexpr bool can_be_run = true;
template <class Session>
requires requires { Session::usable; }
inline constexpr bool can_be_run<Session> = Session::usable;

/// For a handler of OutOfRangeError or StopIteration. Rethrows the exception if it is no clean stop: the body has
/// closed the session, or a recovery has failed, after `on_error` of every hook.
template <class Session>
CROCHET_COLD void require_open(Session& session) {
  if (session.lost()) session.fail(std::current_exception());
  if (session.closed()) throw;
}

}  // namespace detail

/// Runs `body(session)`, then closes the session, like Python's `with`.
/// - Normal return, OutOfRangeError or StopIteration: `end` of every hook, then closed; no exception propagates.
/// - Any other exception: `on_error` of every hook, then closed; the exception propagates unchanged. So does an
///   OutOfRangeError or StopIteration that a creator or an after_create_session throws during a recovery.
/// - The body may close the session itself. What close() throws, and any exception after it, propagates.
template <class Session, class Body>
void run_session(Session& session, Body&& body) {
  try {
    if constexpr (detail::can_be_run<Session>) std::forward<Body>(body)(session);
  } catch (const OutOfRangeError& end) {  // final classes: no class derived from them is a clean stop
    detail::require_open(session);
    session.note_stop("the data", end.what());
  } catch (const StopIteration& stop) {
    detail::require_open(session);
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

template <class Session, class Next>
void run_until_stop(Session& session, Next& next) {
  constexpr auto target = main_target<typename Session::Executor>();
  const auto draw = [&](auto& /*context*/) { return next(); };
  while (!session.should_stop()) {
    auto given = session.run_step_fn(draw);  // unavailable data are recovered from like any other PreemptionError
    if constexpr (is_optional<decltype(given)>) {
      if (!given) return session.note_stop("the data", "came to its end");
      session.run(target, *std::move(given));
    } else {
      session.run(target, std::move(given));
    }
  }
}

/// The executor and chain of `run`, and the verdict on them. `Data`: a DataSource.
template <class Exec, class Chain, class Data>
struct Loop {
  using Hooks = session_chain<Chain>;
  using E = std::remove_reference_t<extended_executor<Exec, Chain>>;
  using Given = typename Data::args;
  using Request = std::remove_const_t<decltype(RunArgs{main_target<E>(), std::declval<Given>()})>;

  using chain_verdict = session_verdict<E, Hooks>;
  using target_reason = typename decltype(main_target_reason<E, Given>())::type;
  using data_reason = std::conditional_t<is_unusable<E>, error::none, typename Data::reason>;
  using argument_reason = std::conditional_t<std::is_same_v<data_reason, error::none>, target_reason, data_reason>;
  static constexpr bool usable =
      !is_unusable<E> && all_hooks_ok<chain_verdict> && std::is_same_v<argument_reason, error::none>;
  using Judged = JudgedRun<usable, E, Hooks, Request>;

  using verdict = std::conditional_t<all_hooks_ok<chain_verdict>, typename Judged::verdict, chain_verdict>;
  using reason = std::conditional_t<usable, typename Judged::reason,
                                    std::conditional_t<all_hooks_ok<chain_verdict>, argument_reason, error::none>>;
  static constexpr bool good = usable && Judged::good;
};

}  // namespace detail

/// Runs the executor's main step (target "train", or the step function) under the chain until a hook requests a stop.
/// Borrows an executor or chain given as an lvalue, so its state can be read afterwards. Returns which hook stopped the
/// loop and why. A model without the target "train" is a compile error.
template <class Exec, class Chain>
StopReason run(Exec&& executor, Chain&& chain) {
  using Loop = detail::Loop<Exec, Chain, detail::NoData>;
  if constexpr (detail::is_unusable<typename Loop::E>) Loop::E::Reason::explain();
  [[maybe_unused]] detail::hook_error<typename Loop::verdict> checked_hooks;
  static_assert(call_is_usable<typename Loop::reason>, "crochet: crochet::error says why");
  if constexpr (Loop::good) {
    MonitoredSession<Exec, Chain> session{std::forward<Exec>(executor), std::forward<Chain>(chain)};
    run_session(session, [](auto& s) {
      while (!s.should_stop()) s.run(detail::main_target<typename Loop::E>());
    });
    return session.stop_reason();
  } else {
    return {};
  }
}

/// The same with data. Each step uses the result of `next()`: feeds or RunArgs, or a std::optional of them. An empty
/// optional ends the loop, and so does an OutOfRangeError or StopIteration thrown by `next`. RunArgs with targets run
/// those, in addition to "train" if it exists. If `next` has a position, as Batches have, the session counts its
/// epochs.
template <class Exec, class Chain, class Next>
StopReason run(Exec&& executor, Chain&& chain, Next&& next) {
  using Loop = detail::Loop<Exec, Chain, detail::DataSource<Next>>;
  if constexpr (detail::is_unusable<typename Loop::E>) Loop::E::Reason::explain();
  [[maybe_unused]] detail::hook_error<typename Loop::verdict> checked_hooks;
  static_assert(call_is_usable<typename Loop::reason>, "crochet: crochet::error says why");
  if constexpr (Loop::good) {
    SessionOptions options;
    if constexpr (CountsEpochs<std::remove_cvref_t<Next>>) options.epochs = EpochSource{next};
    MonitoredSession<Exec, Chain> session{std::forward<Exec>(executor), std::forward<Chain>(chain), options};
    run_session(session, [&](auto& s) { detail::run_until_stop(s, next); });
    return session.stop_reason();
  } else {
    return {};
  }
}

/// The shortest complete program: compiles `Model` for the device and runs its target "train" until a hook requests a
/// stop or the data ends. `train<Classifier>(Cpu{.threads = 2}, next, HookChain{StopAtStep{.last_step = 2000}})`.
template <class Model, class Device, class Next, class Chain = HookChain<>>
StopReason train(Device&& device, Next&& next, Chain&& chain = {}) {
  auto executor = device.template compile<Model>();
  using E = std::remove_reference_t<detail::extended_executor<decltype(executor), Chain>>;
  static_cast<void>(detail::bodies_fail<E, detail::session_chain<Chain>>);
  using Loop = detail::Loop<decltype(executor), Chain, detail::DataSource<Next>>;
  // `run` has the same checks. From here the error messages do not contain its signature.
  [[maybe_unused]] detail::hook_error<typename Loop::verdict> checked_hooks;
  if constexpr (detail::all_hooks_ok<typename Loop::verdict>) {
    if constexpr (Loop::good) {
      detail::instantiate_state(typename detail::StateBodies<typename Loop::Hooks>::Stateful{});
      using Bodies = detail::RunBodies<E, typename Loop::Request, typename Loop::Hooks>;
      if (false)
        detail::instantiate_run<typename Bodies::Session, typename Loop::Request>(nullptr, typename Bodies::Handling{});
    }
    return run(std::move(executor), std::forward<Chain>(chain), std::forward<Next>(next));
  } else {
    return {};
  }
}

}  // namespace crochet
