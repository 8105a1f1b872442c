// SPDX-License-Identifier: Apache-2.0
// The errors of a model. At compile time, reaching one of these functions is the compile error, and the function's name
// is its message; for this reason they are not constexpr. At run time the same model throws GraphError with a text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>

// The vectors of this mode are no constants in libstdc++ 12, so the compiler cannot evaluate a model with them.
#if defined(_GLIBCXX_DEBUG) && defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE < 13
#include "crochet: the compiler evaluates no model under -D_GLIBCXX_DEBUG: use -D_GLIBCXX_ASSERTIONS"
#endif

namespace crochet::graph_error {

[[noreturn]] inline void fail(const std::string& what) { throw GraphError("crochet: " + what); }

/// A tensor of rank 7 or more. Merge dimensions with reshape.
[[noreturn]] inline void too_many_dimensions() { fail("a tensor has at most 6 dimensions"); }
/// A negative extent. For a size that is known only when the graph is fed use g.dynamic("name").
[[noreturn]] inline void dimension_is_negative() { fail("a dimension is negative: a dynamic one is g.dynamic(name)"); }
/// A fifth dynamic dimension in one graph. Give equal dimensions equal names.
[[noreturn]] inline void too_many_dynamic_dimensions() { fail("a graph has at most 4 dynamic dimensions"); }
/// The dimensions of elementwise operands must be equal or 1 (numpy's rule).
[[noreturn]] inline void shapes_do_not_broadcast() { fail("the operands' shapes do not broadcast"); }
/// matmul(a, b): the number of a's columns must be the number of b's rows.
[[noreturn]] inline void inner_dimensions_differ(std::int64_t a, std::int64_t b) {
  fail("matmul: inner dimensions differ: " + std::to_string(a) + " and " + std::to_string(b));
}
/// The operation needs a tensor of another rank.
[[noreturn]] inline void wrong_rank(std::int64_t expected, std::int64_t given) {
  fail("a tensor of rank " + std::to_string(expected) + " is needed here, not rank " + std::to_string(given));
}
/// Operands of different element types. Convert one with cast<T>(x).
[[noreturn]] inline void element_types_differ() { fail("the operands' element types differ: convert with cast<T>(x)"); }
/// The operation is not defined for this element type (e.g. a mean of bools, a matmul of integers).
[[noreturn]] inline void element_type_not_supported() { fail("the operation does not support this element type"); }
/// Arithmetic on a tensor of bfloat16, which is a type for storage. Compute with cast<float>(x).
[[noreturn]] inline void bfloat16_is_for_storage(std::string_view operation) {
  fail("bfloat16 is a type for storage, and " + std::string(operation) + " computes with it: use cast<float>(x)");
}
/// minimize() of a loss that depends on a trainable variable of bfloat16: most updates are smaller than a half of its
/// last bit, and would be lost. Train a variable of float, and use cast<bfloat16>(variable); MinimizeOptions::scope
/// selects variables.
[[noreturn]] inline void bfloat16_variables_do_not_train() {
  fail(
      "a variable of bfloat16 would lose small updates: train a variable of float and use cast<bfloat16>(variable), or "
      "leave it out by the scope of minimize");
}
/// x / 0, floor_divide(x, 0) or mod(x, 0) of integers, with a constant 0.
[[noreturn]] inline void division_of_integers_by_zero() { fail("integers are divided by a constant 0"); }
/// Convolution: the filter's third dimension must equal the image's channels.
[[noreturn]] inline void channels_differ(std::int64_t image, std::int64_t filter) {
  fail("a convolution's image has " + std::to_string(image) + " channels, the filter " + std::to_string(filter));
}
/// Labels are class indices of type int32. Convert with cast<std::int32_t>(labels).
[[noreturn]] inline void labels_are_not_int32() { fail("labels are int32: convert with cast<std::int32_t>(labels)"); }
/// Labels have the logits' shape without its last dimension (sparse), or the logits' shape (probabilities).
[[noreturn]] inline void labels_do_not_fit_the_logits() { fail("the labels' shape does not fit the logits'"); }
/// The channels cannot be divided into this number of equal heads or groups.
[[noreturn]] inline void heads_do_not_divide_the_width(std::int64_t width, std::int64_t heads) {
  fail(std::to_string(width) + " channels do not make " + std::to_string(heads) + " equal heads or groups");
}
/// A window, including its dilation, larger than its input, or a window, stride or dilation below 1; or an image or a
/// filter whose height or width is dynamic.
[[noreturn]] inline void window_does_not_fit() {
  fail("the window does not fit the image, a stride or dilation is below 1, or a height or width is dynamic");
}
/// reshape must keep the number of elements.
[[noreturn]] inline void reshape_changes_the_number_of_elements() { fail("reshape changes the number of elements"); }
/// transpose(x, ...) needs every axis of x exactly once.
[[noreturn]] inline void not_a_permutation_of_the_axes() { fail("transpose needs every axis exactly once"); }
/// concat and stack: element types, ranks, and all dimensions except along the axis must be equal.
[[noreturn]] inline void shapes_differ_beside_the_axis() { fail("shapes differ beside the axis of concatenation"); }
/// A dimension such as batch + 1, or x + y of two dynamic ones. Sizes can only be numbers and multiples of dynamic
/// dimensions.
[[noreturn]] inline void dimension_is_a_sum_with_a_dynamic_one() {
  fail("a dimension would be a sum with a dynamic one, such as batch + 1: only its multiples and fractions are sizes");
}
/// slice and crop: positions must be inside the dimension, the first before the last.
[[noreturn]] inline void slice_is_out_of_bounds(std::int64_t from, std::int64_t to, std::int64_t size) {
  fail("a slice from " + std::to_string(from) + " to " + std::to_string(to) + " of " + std::to_string(size));
}
/// slice, pad, argmax, argmin and top_k: positions and steps are 32-bit numbers.
[[noreturn]] inline void position_does_not_fit_32_bits(std::int64_t n) {
  fail("a position, a step or an axis of " + std::to_string(n) +
       ": slice, pad, argmax and top_k have them up to 2^31 - 1");
}
constexpr void require_32_bits(std::int64_t n) {
  if (n > INT32_MAX || n < -INT32_MAX) position_does_not_fit_32_bits(n);
}
/// slice with a step of 0.
[[noreturn]] inline void step_is_zero() { fail("a slice needs a step other than 0"); }
/// split<N> needs a dimension divisible by N; unstack<N> needs one of size N.
[[noreturn]] inline void axis_does_not_split_evenly(std::int64_t size, std::int64_t parts) {
  fail("a dimension of " + std::to_string(size) + " cannot be split into " + std::to_string(parts) + " equal parts");
}
/// split into given sizes: the sizes must add up to the dimension.
[[noreturn]] inline void parts_do_not_add_up(std::int64_t sum, std::int64_t size) {
  fail("split: the sizes add up to " + std::to_string(sum) + ", the dimension is " + std::to_string(size));
}
/// pad by mirroring: the padding must not exceed the elements to mirror.
[[noreturn]] inline void padding_is_larger_than_what_it_mirrors(std::int64_t padding, std::int64_t size) {
  fail("padding of " + std::to_string(padding) + " cannot mirror " + std::to_string(size));
}
/// random_bool(g, shape, probability) needs 0 <= probability <= 1.
[[noreturn]] inline void probability_is_not_from_0_to_1() { fail("random_bool needs a probability from 0 to 1"); }
/// dropout(x, rate) needs 0 <= rate < 1.
[[noreturn]] inline void dropout_rate_is_not_below_1() { fail("dropout needs a rate of at least 0 and below 1"); }
/// dropout(x, rate, {.training = flag}): the flag needs a name, because its random state is named after it.
[[noreturn]] inline void flag_needs_a_name() { fail("the flag that says whether to drop needs a name"); }
/// An axis outside [-rank, rank).
[[noreturn]] inline void no_such_axis(std::int64_t axis) { fail("there is no axis " + std::to_string(axis)); }
/// top_k(x, k): the last dimension of x must be static and have at least k elements.
[[noreturn]] inline void top_k_wants_more_than_the_last_dimension_has() {
  fail("top_k: the last dimension must be static and have at least k elements");
}
/// Two values or placeholders of one graph with the same name.
[[noreturn]] inline void name_is_taken(std::string_view name) {
  fail("the name \"" + std::string(name) + "\" is already taken in the graph");
}
/// With SharedVariables: the value with this name is not a variable, or has another type or shape.
[[noreturn]] inline void shared_variable_differs() { fail("the variable to share has another type or shape"); }
/// assign(x, ...) where x is not a variable.
[[noreturn]] inline void only_variables_can_be_assigned() { fail("only variables can be assigned"); }
/// assign(v, x) where the shape of x is not that of v.
[[noreturn]] inline void assigned_value_has_another_shape() { fail("the assigned value has another shape"); }
/// minimize(loss, ...) where no variable affects the loss through operations with a gradient.
[[noreturn]] inline void loss_depends_on_no_variable() { fail("the loss depends on no trainable variable"); }
/// The loss of minimize and gradients must be a scalar.
[[noreturn]] inline void loss_is_not_a_scalar() { fail("the loss must be a scalar: take its mean or sum"); }
/// The gradient needs the derivative of an operation that has none.
[[noreturn]] inline void operation_has_no_gradient() { fail("an operation between loss and variable has no gradient"); }
/// Operands of different graphs.
[[noreturn]] inline void tensors_of_different_graphs() { fail("the operands belong to different graphs"); }
/// g["name"]: the graph has no value with this name (yet).
[[noreturn]] inline void no_value_has_this_name(std::string_view name) {
  fail("no value of the graph has the name \"" + std::string(name) + "\"");
}
/// The graph is frozen: the session that runs it has been created.
[[noreturn]] inline void graph_is_frozen() { fail("the graph is frozen: extend it in extend_graph, not later"); }
/// A variable's extents must be static.
[[noreturn]] inline void variables_have_static_shapes() { fail("a variable's shape must be static"); }
/// A learning-rate schedule needs a number of steps above 0.
[[noreturn]] inline void schedule_has_no_steps() { fail("a schedule needs a positive number of steps"); }
/// PiecewiseConstant{.boundaries = {b0, b1}, .values = {v0, v1, v2}} needs one value more than boundaries.
[[noreturn]] inline void piecewise_schedule_needs_one_value_more_than_boundaries() {
  fail("PiecewiseConstant needs one value more than it has boundaries");
}
/// PiecewiseConstant{.boundaries = {b0, b1}, ...} needs b0 < b1: of equal or descending ones a value is never used.
[[noreturn]] inline void boundaries_of_a_piecewise_schedule_must_ascend() {
  fail("the boundaries of PiecewiseConstant must ascend");
}
/// MinimizeOptions{.accumulate = {.steps = k}} needs k >= 1.
[[noreturn]] inline void a_step_needs_at_least_one_run() { fail("gradients are accumulated over at least one run"); }
/// MinimizeOptions::accumulate is an option of minimize(). For apply_gradients() and minimize_in_parts() the program
/// selects the runs.
[[noreturn]] inline void only_minimize_accumulates_over_runs() {
  fail("only minimize() accumulates gradients by .accumulate; use it, or minimize_in_parts() without the option");
}
/// ClipByNorm and similar classes need a limit above 0.
[[noreturn]] inline void gradients_are_clipped_to_a_positive_limit() { fail("a limit for gradients must be positive"); }
/// More inputs than an operation can have.
[[noreturn]] inline void too_many_inputs() { fail("an operation has at most 6 inputs"); }
/// The loss of a model on several ranks is a mean or a sum over the rows of the batch, which have a dimension
/// g.dynamic("batch"). Make the value of the whole batch with mean_over_ranks(x) or sum_over_ranks(x).
[[noreturn]] inline void loss_is_no_mean_or_sum_over_the_batch() {
  fail("on several ranks a loss is a mean or a sum over the rows of the batch, whose size is g.dynamic(name)");
}
/// An assignment of a value that differs from rank to rank. Assign mean_over_ranks(x) or sum_over_ranks(x).
[[noreturn]] inline void variable_would_differ_between_ranks(std::string_view variable) {
  fail("variable '" + std::string(variable) +
       "' would differ between ranks: assign mean_over_ranks(x) or sum_over_ranks(x)");
}

}  // namespace crochet::graph_error
