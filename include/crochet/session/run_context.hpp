// SPDX-License-Identifier: Apache-2.0
// RunContext: what a hook sees of the run around it, in before_run and after_run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <crochet/hook/run_args.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/session/stop.hpp>

namespace crochet {

/// One hook's view of one run. Its type depends on the caller's request, so hooks take it as `auto& run`. Valid during
/// the call only. Cost: a pointer.
template <class H, class Session, class Args>
class RunContext;

namespace detail {

/// The run itself; each hook sees it through a RunContext of its own.
template <class Session, class Args>
struct RunState {
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

  constexpr explicit RunContext(State& state) : state_(state) {}

  /// What the caller of run asked for: a RunArgs.
  [[nodiscard]] constexpr const Args& original_args() const { return state_.args; }

  /// For runs on the side, which no hook sees and which leave the values of the run untouched.
  [[nodiscard]] constexpr Session& session() const { return state_.session; }

  /// The global step: in before_run without, in after_run with the run at hand.
  [[nodiscard]] constexpr std::int64_t step() const { return state_.session.step(); }

  /// 1; more if this run is tried again: its last attempt failed, so a hook may have seen before_run for it already
  /// without an after_run. Counts up until a run succeeds.
  [[nodiscard]] constexpr int attempt() const { return state_.stop.failures() + 1; }

  /// Asks the loop to end after this run. Every hook still sees the run out; the first reason given is kept.
  constexpr void request_stop(std::string_view reason = {}) const {
    state_.stop.request(detail::compiler_type_name<H>(), reason);
  }
  /// The same for a hook that may stop only this session of the training, as StopOnSignal does. An overload, so that
  /// compilers inline the call above.
  constexpr void request_stop(std::string_view reason, StopKind kind) const {
    if (kind == StopKind::end) return request_stop(reason);
    state_.stop.interrupt(detail::compiler_type_name<H>(), reason);
  }
  /// Whether any hook has asked.
  [[nodiscard]] constexpr bool stop_requested() const { return state_.stop.requested(); }

  /// The same run as the hook `Other` sees it: what it asks for is asked for in its name. For decorators.
  template <class Other>
  [[nodiscard]] constexpr RunContext<Other, Session, Args> as() const {
    return RunContext<Other, Session, Args>{state_};
  }

  /// Is N among the targets the caller named? In a constant expression use `runs_target<decltype(run), Name<"train">>`.
  template <class N>
  [[nodiscard]] static constexpr bool runs(N) {
    return named_in<N>(typename Args::targets_type{});
  }

 private:
  template <class N, class... T>
  static constexpr bool named_in(Targets<T...>) {
    return (std::is_same_v<N, T> || ...);
  }

  State& state_;
};

/// Is the target among those the caller of this run named? `if constexpr (runs_target<decltype(run), Name<"train">>)`.
template <class Run, class N>
inline constexpr bool runs_target = std::remove_reference_t<Run>::runs(N{});

}  // namespace crochet
