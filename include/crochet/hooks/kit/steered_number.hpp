// SPDX-License-Identifier: Apache-2.0
// A number of the model that a hook decides, a learning rate for example: fed in every run where the model has a
// placeholder for it, else written into a variable.
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

/// May the executor have a variable N? A graph tells at once.
template <class E, class N>
constexpr bool may_have_variable() {
  if constexpr (requires { E::graph.nodes; }) {
    return find_node(E::graph, N::view()) >= 0;  // of the graph, by argument-dependent lookup
  } else {
    return HasSteeredVariables<E>;
  }
}
/// Is the number N of this run's executor a variable? What it lacks altogether counts as a placeholder: whoever checks
/// the request then says what is wrong.
template <class Run, class N>
inline constexpr bool is_steered_variable =
    !feeds_name<executor_of_run<Run>, N>() && may_have_variable<executor_of_run<Run>, N>();

/// Writes the variable N. Throws LogicError if the executor has none of that name that is a number.
template <class N>
CROCHET_COLD void write_variable(auto& executor, double value) {
  bool found = false;
  executor.for_each_variable([&]<class T>(std::string_view name, std::span<T> elements, auto) {
    if (name != N::view() || elements.size() != 1) return false;
    elements[0] = static_cast<std::remove_const_t<T>>(value);
    return found = true;
  });
  if (!found) {
    throw LogicError("crochet: there is no placeholder and no scalar variable \"" + std::string(N::view()) +
                     "\" that a hook could set");
  }
}

/// The request that makes the number `value` in the coming run. `written` is what was last written into a variable; NaN
/// if nothing was.
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
