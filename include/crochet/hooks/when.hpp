// SPDX-License-Identifier: Apache-2.0
// When<condition, H>: the hook is there if the condition says so.
#pragma once

#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/hooks/kit/decorated.hpp>

namespace crochet {

namespace detail {

template <auto Condition>
inline constexpr bool is_bool = std::is_same_v<std::remove_const_t<decltype(Condition)>, bool>;
/// A bool, or something that can be called.
template <auto Condition>
concept IsCondition = is_bool<Condition> || std::is_class_v<std::remove_const_t<decltype(Condition)>> ||
    std::is_function_v<std::remove_pointer_t<std::remove_const_t<decltype(Condition)>>>;
template <auto Condition>
concept AskedOnce = requires {
  static_cast<bool>(Condition());
};
template <auto Condition>
concept AnsweredByCompiler = is_bool<Condition> || requires {
  typename std::bool_constant<static_cast<bool>(Condition())>;
};

/// The compiler's answer; requires AnsweredByCompiler.
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

/// Asks the condition before each run.
template <auto Condition, class H>
struct AskedEachRun : PassOn<AskedEachRun<Condition, H>> {
  static constexpr bool decides_at_run_time = true;
  [[nodiscard]] constexpr bool admits(auto& run) const { return static_cast<bool>(Condition(run)); }
};

/// Asks the condition once, in begin.
template <auto Condition, class H>
requires(detail::AskedOnce<Condition> && !detail::AnsweredByCompiler<Condition>) struct AskedEachRun<Condition, H>
    : PassOn<AskedEachRun<Condition, H>> {
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
struct AskedEachRun<Condition, H> : PassOn<AskedEachRun<Condition, H>> {
};

/// `Condition` is
///   - a bool, or a callable without arguments whose answer the compiler knows: H is there or not. If not, it is an
///   empty
///     type without fetches: no byte, no code;
///   - another callable without arguments, a function for example: asked once per session, in begin. If it says no, H
///   sees
///     no phase (its extend_graph excepted: the graph is a matter of the compiler);
///   - a callable that takes the run: asked before each run. If it says no, H sees neither before_run nor after_run of
///   it.
/// `When<is_chief, Plateau>{{.patience = 3}}`.
template <auto Condition, class H>
struct When : Decorated<H, AskedEachRun<Condition, H>> {
  using Base = Decorated<H, AskedEachRun<Condition, H>>;
  using Base::Base;
};

/// With a condition that is none.
template <auto Condition, class H>
requires(!detail::IsCondition<Condition>) struct When<Condition, H> {
  using decorates = H;
  using cannot_be_used_because =
      error::has_a_condition_that_is_neither_a_bool_nor_a_function<When, error::given<decltype(Condition)>>;

  constexpr When() = default;
  constexpr explicit(false) When(const H& /*inner*/) {}
  constexpr void begin() {}
};

/// Switched off by type.
template <auto Condition, class H>
requires detail::OffByType<Condition>
struct When<Condition, H> {
  using decorates = H;

  constexpr When() = default;
  constexpr explicit(false) When(const H& /*off*/) {}

  constexpr void begin() {}  // a hook has to handle something
};

}  // namespace crochet
