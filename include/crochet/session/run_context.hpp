// SPDX-License-Identifier: Apache-2.0
// RunContext: a hook's view of the current run, in before_run and after_run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/session/guarded_run.hpp>
#include <crochet/session/stop.hpp>

namespace crochet {

/// One hook's view of one run. Its type depends on the caller's request, so hooks take it as `auto& run`. Valid during
/// the call only. Cost: three pointers, in registers where the hook is inlined.
template <class H, class Session, class Args>
class RunContext;

namespace detail {

/// The run itself; each hook receives its own RunContext of it.
template <class Session, class Args>
struct RunState {
  using Request = Args;
  static constexpr bool has_views = true;
  template <std::size_t I, class H>
  using View = RunContext<H, Session, Args>;

  template <std::size_t I, class H>
  constexpr View<I, H> view() {
    return View<I, H>{*this};
  }

  Session& session;
  const Args& args;
  StopState& stop;
};

}  // namespace detail

template <class H, class Session, class Args>
class RunContext {
 public:
  using State = detail::RunState<Session, Args>;
  using original_args_type = Args;

  constexpr explicit RunContext(const State& state) : state_(state) {}

  /// The caller's request: a RunArgs.
  [[nodiscard]] constexpr const Args& original_args() const { return state_.args; }

  /// For side runs: they call no hooks and do not change the values of the run.
  [[nodiscard]] constexpr Session& session() const { return state_.session; }

  /// The global step: in before_run the step before this run, in after_run the step after it.
  [[nodiscard]] constexpr std::int64_t step() const { return state_.session.step(); }

  /// Number of complete epochs, with the batch of this run. Throws LogicError if the session has no data that counts
  /// epochs: RawSession::epoch.
  [[nodiscard]] constexpr std::int64_t epoch() const { return state_.session.epoch(); }

  /// In after_run: whether the executor skipped the run, behind one at which another hook stops (RunValues::violation).
  /// The model is then that of an earlier step. False, at no cost, unless the executor skips runs; else it may wait for
  /// the device, so a hook calls it when it is about to act.
  [[nodiscard]] constexpr bool skipped() const {
    if constexpr (requires { state_.session.executor().skipped(state_.session.hooked_workspace()); }) {
      return state_.session.executor().skipped(state_.session.hooked_workspace());
    } else {
      return false;
    }
  }

  /// The attempt of this run, from 1. Above 1 the last attempt failed, so a hook's before_run may have been called for
  /// this run without an after_run. Counts up until a run succeeds.
  [[nodiscard]] constexpr int attempt() const { return state_.stop.failures() + 1; }

  /// Requests the end of the loop after this run. All hooks still complete this run. The first reason is kept, but an
  /// interruption is replaced by this request.
  CROCHET_HOST_ALWAYS_INLINE constexpr void request_stop(std::string_view reason = {}) const {
    state_.stop.request(detail::readable_name<H>.view(), reason);
  }
  /// The same with a kind. StopKind::interruption ends this session only, as StopOnSignal does: a later session resumes
  /// the training. An overload, so that compilers inline the call above.
  constexpr void request_stop(std::string_view reason, StopKind kind) const {
    if (kind == StopKind::end) return request_stop(reason);
    state_.stop.interrupt(detail::readable_name<H>.view(), reason);
  }
  /// Whether any hook has requested a stop.
  [[nodiscard]] constexpr bool stop_requested() const { return state_.stop.requested(); }

  /// The same run for the hook `Other`: requests made through it carry the name of `Other`. For decorators.
  template <class Other>
  [[nodiscard]] constexpr RunContext<Other, Session, Args> as() const {
    return RunContext<Other, Session, Args>{state_};
  }

  /// The same run for a hook that is called on one of several ranks. For decorators.
  template <class Guard>
  requires(Session::template has_guard<Guard>)
      [[nodiscard]] constexpr GuardedRun<RunContext, Guard> guarded_by() const {
    return GuardedRun<RunContext, Guard>{*this};
  }

  /// Whether N is among the targets of the caller's request. In a constant expression use `runs_target<decltype(run),
  /// Name<"train">>`.
  template <class N>
  [[nodiscard]] static constexpr bool runs(N) {
    return named_in<N>(typename Args::targets_type{});
  }

 private:
  template <class N, class... T>
  static constexpr bool named_in(Targets<T...>) {
    return (std::is_same_v<N, T> || ...);
  }

  // A copy, as the request above is inlined: g++ from 13 on compiles the cold end of a hook's function as a function of
  // its own, and would store in each step what that one reads through a pointer.
  State state_;
};

/// Whether the target is in the request of this run's caller. `if constexpr (runs_target<decltype(run),
/// Name<"train">>)`.
template <class Run, class N>
inline constexpr bool runs_target = std::remove_reference_t<Run>::runs(N{});

}  // namespace crochet
