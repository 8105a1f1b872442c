// SPDX-License-Identifier: Apache-2.0
// A number of the model that a hook sets, for example a learning rate: fed in every run if the model has a placeholder
// for it, else written into a variable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/kit/fed_number.hpp>

namespace crochet::detail {

struct VisitsNothing {
  template <class T>
  void operator()(std::string_view, std::span<T>, std::span<const std::int64_t>) const {}
};
template <class E>
concept HasSteeredVariables = requires(E& executor) {
  executor.for_each_variable(VisitsNothing{});
};

/// Whether the executor can have a variable N. For a graph this is known at compile time.
template <class E, class N>
constexpr bool may_have_variable() {
  if constexpr (requires { E::graph.nodes; }) {
    return find_node(E::graph, N::view()) >= 0;  // of the graph, by argument-dependent lookup
  } else {
    return HasSteeredVariables<E>;
  }
}
/// Whether the number N of this run's executor is a variable. An unknown name counts as a placeholder: the check of the
/// request then reports it.
template <class Run, class N>
inline constexpr bool is_steered_variable =
    !feeds_name<executor_of_run<Run>, N>() && may_have_variable<executor_of_run<Run>, N>();

/// Writes the variable N. Throws LogicError if the executor has no scalar variable of that name.
template <class N>
CROCHET_COLD void write_variable(auto& executor, double value) {
  bool found = false;
  const auto write = [&]<class T>(std::string_view name, std::span<T> elements, auto) {
    if (name != N::view() || elements.size() != 1) return false;
    elements[0] = static_cast<std::remove_const_t<T>>(value);
    return found = true;
  };
  if constexpr (requires { executor.for_each_common_variable(write); }) {
    executor.for_each_common_variable(write);  // all ranks do the same
  } else {
    executor.for_each_variable(write);
  }
  if (!found) {
    throw LogicError("crochet: there is no placeholder and no scalar variable \"" + std::string(N::view()) +
                     "\" that a hook could set");
  }
}

/// The request that sets the number to `value` in the next run. `written` is the value last written into a variable;
/// NaN if there was none.
template <FixedString Text, class Run>
auto steer(Run& run, double value, [[maybe_unused]] double& written) {
  if constexpr (is_steered_variable<Run, Name<Text>>) {
    if (written != value) write_variable<Name<Text>>(run.session().executor(), written = value);
    return RunArgs<>{};
  } else {
    return RunArgs{feed<Text>(static_cast<fed_number<Run, Name<Text>, double>>(value))};
  }
}

}  // namespace crochet::detail
