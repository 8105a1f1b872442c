// SPDX-License-Identifier: Apache-2.0
// HasVariables: the interface of an executor whose state can be saved and restored.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crochet {

namespace detail {

/// Accepts a variable of any element type.
struct AnyVariable {
  template <class T>
  void operator()(std::string_view name, std::span<T> elements, std::span<const std::int64_t> shape) const;
};

}  // namespace detail

/// An executor whose state can be saved and restored has
/// - `for_each_variable(visit)`: calls `visit(name, elements, shape)` for every variable, each time in the same order,
///   with a std::string_view; a row-major std::span<T> of an arithmetic T (of a const executor std::span<const T>); and
///   a std::span<const std::int64_t>, empty for a scalar. All three are valid during the call. Elements that `visit`
///   writes take effect from the next run on, and make the variable initialized. A visit that returns false left the
///   variable unchanged. The const overload throws UninitializedError if a variable has no value;
/// - `variables_initialized() const`: whether every variable has a value;
/// - `uninitialized_variables() const`: the names of the variables without a value.
/// An executor on one of several ranks whose state differs between them has `for_each_common_variable(visit)`, too,
/// which visits only the variables that are the same on all ranks; for_each_variable then visits those of all ranks. A
/// run that reads a variable without a value throws UninitializedError. Cpu has all of these; StepExecutor has them if
/// its owner names its state: `StepExecutor{step, output<...>, variable<"w">(w)}`.
template <class E>
concept HasVariables = requires(E& executor, const E& constant, const detail::AnyVariable& visit) {
  executor.for_each_variable(visit);
  constant.for_each_variable(visit);
  { constant.variables_initialized() } -> std::convertible_to<bool>;
  { constant.uninitialized_variables() } -> std::convertible_to<std::vector<std::string>>;
};

namespace detail {

template <class E, class Visit>
void for_each_common_variable(E& executor, Visit&& visit) {
  if constexpr (requires { executor.for_each_common_variable(visit); }) {
    executor.for_each_common_variable(visit);
  } else {
    executor.for_each_variable(visit);
  }
}

}  // namespace detail

}  // namespace crochet
