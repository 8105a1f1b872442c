// SPDX-License-Identifier: Apache-2.0
// Why the declarations of a step function and its use do not agree.
#pragma once

namespace crochet::error {

/// Cause: two outputs, two inputs or two variables of a StepExecutor have the same name.
/// Fix: rename one of them.
template <class Repeated>
struct a_step_function_declares_this_name_twice;

/// Cause: the step function uses an output that its StepExecutor does not declare.
/// Fix: correct the name, or declare `output<T, "name">`.
template <class Missing, class Hint>
struct a_step_function_does_not_declare_this_output;

/// The same for an input: declare `input<T, "name">`.
template <class Missing, class Hint>
struct a_step_function_does_not_declare_this_input;

/// Cause: the step function assigns an output a value that does not convert to the type of `output<Wanted, "name">`.
/// Fix: convert the value, or declare the output with its type.
template <class Output, class Given, class Wanted>
struct sets_an_output_to_a_value_of_the_wrong_type;

}  // namespace crochet::error
