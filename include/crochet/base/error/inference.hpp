// SPDX-License-Identifier: Apache-2.0
// Why a model cannot be used by a Predictor, or exported, as it is requested.
#pragma once

namespace crochet::error {

/// Cause: a Predictor without outputs.
/// Fix: name the values to compute: `Predictor<Model, "logits">`.
struct names_no_output;

/// Cause: a Predictor's outputs depend on a random state, a moving average or another assignment, so a prediction would
/// change a variable that other threads read at that time.
/// Fix: name an output of the model that assigns nothing: built without dropout, and with the moving averages as they
/// are (SharedVariables in graph/core/shared_variables.hpp). A session can run any output.
template <class Variable>
struct an_output_changes_a_variable;

/// Cause: an output of a Predictor or an export is that of batch_norm in training: it normalizes by the mean and
/// variance of its batch, so the result for an example depends on the other examples of the request.
/// Fix: build the network again with `training` false, under SharedVariables, and name its output.
struct an_output_uses_the_statistics_of_its_batch;

/// Cause: Int8Cpu rounds the operands of products to integers of 8 bits, which is for inference, and a run changes this
/// variable: a step of an optimizer, a moving average, or the random state of dropout.
/// Fix: train with Cpu or Bfloat16Cpu. With Int8Cpu run outputs that assign nothing.
template <class Variable>
struct int8_products_are_for_inference_but_a_run_changes;

/// Cause: an exported output depends on a random state, a moving average or another assignment, and an exported model
/// changes no variable.
/// Fix: name an output of the model that assigns nothing, as for a Predictor.
template <class Variable>
struct exports_a_change_of_a_variable;

/// Cause: an output of a Predictor or an export is a variable of the model, not a value that a run computes.
/// Fix: name a computed value, or read the variable from a checkpoint (io::open_checkpoint).
template <class Variable>
struct outputs_a_variable;

/// Cause: a Predictor is called with names of values or of targets.
/// Fix: call it with feeds only, `predict(feed<"images">(x))`; its type names the outputs.
struct predicts_from_feeds_only;

}  // namespace crochet::error
