// SPDX-License-Identifier: Apache-2.0
// When<condition, H>: a hook under a condition.
#pragma once

#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/hooks/kit/decorated.hpp>

namespace crochet {

namespace detail {

template <auto Condition>
inline constexpr bool is_bool = std::is_same_v<std::remove_const_t<decltype(Condition)>, bool>;
/// A bool, or a callable.
template <auto Condition>
concept IsCondition = is_bool<Condition> || std::is_class_v<std::remove_const_t<decltype(Condition)>> ||
    std::is_function_v<std::remove_pointer_t<std::remove_const_t<decltype(Condition)>>>;
template <auto Condition>
concept RequestedOnce = requires {
  static_cast<bool>(Condition());
};
template <auto Condition>
concept AnsweredByCompiler = is_bool<Condition> || requires {
  typename std::bool_constant<static_cast<bool>(Condition())>;
};

/// The condition's value at compile time; requires AnsweredByCompiler.
template <auto Condition>
constexpr bool compilers_answer() {
  if constexpr (is_bool<Condition>) {
    return Condition;
  } else {
    return static_cast<bool>(Condition());
  }
}
template <auto Condition>
concept OffByType = IsCondition<Condition> && AnsweredByCompiler<Condition> && !compilers_answer<Condition>();

}  // namespace detail

/// Evaluates the condition before each run.
template <auto Condition, class H>
struct RequestedEachRun : PassOn<RequestedEachRun<Condition, H>> {
  static constexpr bool decides_at_run_time = true;
  [[nodiscard]] constexpr bool admits(auto& run) const { return static_cast<bool>(Condition(run)); }
};

/// Evaluates the condition once, in begin.
template <auto Condition, class H>
requires(detail::RequestedOnce<Condition> &&
         !detail::AnsweredByCompiler<Condition>) struct RequestedEachRun<Condition, H>
    : PassOn<RequestedEachRun<Condition, H>> {
  using phases = Phases<phase::begin>;
  static constexpr bool decides_at_run_time = true;

  void begin() { on_ = static_cast<bool>(Condition()); }
  [[nodiscard]] constexpr bool admits(auto&) const { return on_; }
  template <class Phase, class Call>
  constexpr void around(Call&& call) {
    if (on_) call();
  }

 private:
  bool on_ = false;
};

template <auto Condition, class H>
requires detail::AnsweredByCompiler<Condition>
struct RequestedEachRun<Condition, H> : PassOn<RequestedEachRun<Condition, H>> {
};

/// `When<is_chief, Plateau>{{.patience = 3}}`. `Condition` is one of
/// - a bool, or a callable without arguments that is a constant expression: false makes H an empty type without
///   fetches, which costs no byte and no code;
/// - another callable without arguments, for example a function: called once per session, in begin. False: no phase of
///   H is called except extend_graph, since the graph is fixed at compile time, and save_state and load_state, so that
///   checkpoints keep the hook's state; what of it depends on options that begin reads, such as every_epochs, starts
///   anew;
/// - a callable that takes the run: called before each run. False: before_run and after_run of H are not called in that
///   run.
template <auto Condition, class H>
struct When : Decorated<H, RequestedEachRun<Condition, H>> {
  using Base = Decorated<H, RequestedEachRun<Condition, H>>;
  using Base::Base;
};

/// Any other condition: an error.
template <auto Condition, class H>
requires(!detail::IsCondition<Condition>) struct When<Condition, H> {
  using decorates = H;
  using cannot_be_used_because =
      error::has_a_condition_that_is_neither_a_bool_nor_a_function<When, error::given<decltype(Condition)>>;

  constexpr When() = default;
  constexpr explicit(false) When(const H& /*inner*/) {}
  constexpr void begin() {}
};

/// False at compile time.
template <auto Condition, class H>
requires detail::OffByType<Condition>
struct When<Condition, H> {
  using decorates = H;

  constexpr When() = default;
  constexpr explicit(false) When(const H& /*off*/) {}

  constexpr void begin() {}  // a hook must have a phase
};

}  // namespace crochet
