// SPDX-License-Identifier: Apache-2.0
// Why a request of a hook or a caller does not fit the graph: names, feeds, and what the device executes.
#pragma once

namespace crochet::error {

/// Cause: the hook fetches a name that the executor does not have.
/// Fix: correct the name, or name the node in the model.
template <class Hook, class Missing, class Hint>
struct fetches_a_name_that_is_not_in_the_graph;

/// Cause: the hook requests a target that the executor does not have.
/// Fix: correct the name, or name the node in the model.
template <class Hook, class Missing, class Hint>
struct runs_a_target_that_is_not_in_the_graph;

/// Cause: the hook feeds a name that is not a placeholder of the graph.
/// Fix: correct the name. Only placeholders (of a StepExecutor: inputs) can be fed.
template <class Hook, class Missing, class Hint>
struct feeds_a_name_that_is_not_a_placeholder;

/// Cause: the program reads or writes a variable of an executor by a name that is no variable of the graph.
/// Fix: correct the name. Layers name theirs `name/kernel` and `name/bias`; other values are fetched.
template <class Missing, class Hint>
struct this_is_no_variable_of_the_graph;

/// Cause: the element type of the value differs from that of the placeholder.
/// Fix: convert the value before feeding it; there are no implicit conversions.
template <class Hook, class Fed, class Given, class Wanted>
struct feeds_a_value_of_the_wrong_type;

/// Cause: the value has the placeholder's element type and another number of dimensions.
/// Fix: feed a view of that rank, TensorView<float, 2>{data, {rows, columns}} for example, or a range such as a
/// std::vector, which fits every shape of as many elements; to a placeholder of rank 0 a single value.
template <class Hook, class Fed, class Given, class Wanted>
struct feeds_a_value_of_the_wrong_rank;

/// Cause: one request feeds the same name twice.
/// Fix: feed it once.
template <class Hook, class Fed>
struct feeds_the_same_name_twice;

/// Cause: the caller of run feeds a name that a hook of the chain also feeds in this run.
/// Fix: remove one of the two feeds.
template <class Hook, class Fed>
struct the_caller_feeds_a_name_that_this_hook_feeds;

/// Cause: the hook reads a value that it does not list, so the value would not have been computed.
/// Fix: add the name to the hook's `fetches`.
template <class Hook, class Missing>
struct reads_a_value_that_it_does_not_list;

/// Cause: the hook belongs to a plan (OnlyIn<"...">) that is not a target of the executor.
/// Fix: correct the name.
template <class Hook, class Missing, class Hint>
struct belongs_to_a_plan_that_is_not_in_the_graph;

/// Cause: the hook watches nodes by a pattern that matches no node of this model with a tensor output: it would watch
/// nothing.
/// Fix: correct the pattern, `Pattern` here. DidYouMean: the nearest name that can be fetched.
template <class Hook, class Pattern, class DidYouMean>
struct watches_no_node_of_this_model;

/// Cause: an argument of `run` is no part of a request: for example a value without the name of its placeholder, or a
/// batch.
/// Fix: `feed<"x">(value)` for a value, `feeds(feed<"x">(batch.x), feed<"y">(batch.y))` for a batch, `"train"_n` for a
/// target, `fetches<"loss">` for a value to return.
template <class Argument>
struct this_is_no_part_of_a_request;

/// Cause: a text stands where a name is needed: a target in `run`, or the name of a value in brackets. A name is a
/// type. Fix: `using namespace crochet::literals;` and the suffix: `session.run("train"_n)`, `values["loss"_n]`.
template <class Text>
struct a_text_is_a_name_with_the_suffix_n;

/// Cause: a value is read or set by something that is no name, for example by a position.
/// Fix: use its name, `values["loss"_n]`; results of `run` also have positions: `auto [loss] = session.run(...)`.
template <class Given>
struct this_is_no_name;

/// Cause: a value that this run requests depends on a placeholder that neither the caller nor a hook feeds.
/// Fix: feed it, or do not request what depends on it.
template <class Placeholder>
struct needs_a_placeholder_that_nobody_feeds;

/// Cause: a value that this run requests has a dynamic dimension, and no feed of the run has that dimension.
/// Fix: feed a placeholder that has it.
template <class Dimension>
struct needs_the_size_of_a_dimension_that_no_feed_has;

/// Cause: this run executes an operation of your own that the device cannot run.
/// Fix: specialise crochet::Elementwise or the device's Kernel for it. Cuda{} runs the operations of the library only;
/// NvccCuda{} (crochet/executor/cuda/nvcc.hpp) runs yours.
template <class Operation>
struct executes_an_operation_without_a_kernel_for_this_device;

/// Cause: the run of a model has neither targets nor fetches, so it would compute nothing and train nothing.
/// Fix: name a target, `session.run("train"_n, feeds)`, or fetch a value.
template <class Caller, class Hint>
struct names_no_target_and_fetches_nothing;

}  // namespace crochet::error
