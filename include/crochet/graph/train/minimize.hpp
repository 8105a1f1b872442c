// SPDX-License-Identifier: Apache-2.0
// minimize: gradients of a loss, clipping, and one optimizer step for each variable. Use its parts, compute_gradients()
// and apply_gradients(), to change the gradients in between.
#pragma once
#include <crochet/graph/train/accumulate.hpp>

namespace crochet {

/// Adds the gradients of the loss and one optimizer step. Returns a target: give it a name and run it by that name.
template <class Optimizer>
constexpr Tensor minimize(Tensor loss, const Optimizer& optimizer, const MinimizeOptions& options = {}) {
  if (options.accumulate.steps < 1) graph_error::a_step_needs_at_least_one_run();
  if (options.accumulate.steps > 1) return detail::minimize_every(loss, optimizer, options);
  // Shared values are computed first: they are then available when a gradient's kernel ends, and updates can be fused.
  const auto shared = detail::begin(optimizer, *loss.graph, options.scope);
  const VariableGradients gradients = compute_gradients(loss, options.scope);
  if (gradients.empty()) graph_error::loss_depends_on_no_variable();
  return detail::update_all(optimizer, shared, gradients, options, detail::spread_of_loss(loss));
}

}  // namespace crochet
