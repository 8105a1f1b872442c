// SPDX-License-Identifier: Apache-2.0
// apply_gradients: one optimizer step with given gradients, the second half of minimize().
//
// An optimizer is a type with
//   constexpr Tensor update(Tensor variable, Tensor gradient) const;              // returns the assignment
// or, if all variables share values that are computed once per step, such as a learning rate,
//   constexpr auto begin(GraphBuilder& g, std::string_view scope) const;          // returns the shared values
//   constexpr Tensor update(Tensor variable, Tensor gradient, <result of begin>) const;
// An update consists of elementwise nodes, which are fused into the product or loop that computes the gradient. Its
// variables are made by slot_variable(). With ShardedOptimizer `variable` and `gradient` are a rank's parts, of rank 1;
// whole_variable(variable) has the name and the shape of the model.
#pragma once
#include <crochet/graph/train/clipping.hpp>
#include <crochet/graph/train/share_over_ranks.hpp>
#include <crochet/graph/train/slots.hpp>

namespace crochet {

/// The number of runs per step. Their gradients are summed, and the mean is applied in the last of them.
struct Accumulate {
  std::int64_t steps = 1;
};

/// Options of minimize(): which variables are changed, and how their gradients are treated before.
struct MinimizeOptions {
  /// Only variables whose names begin with this; also the prefix of the optimizer's scalars. Empty: all.
  std::string_view scope = "";
  /// Whether a step increments global_step. With several optimizers set it for only one of them.
  bool count_step = true;
  /// Changes the gradients before the update: ClipByValue, ClipByNorm, ClipByGlobalNorm, or your own function. With
  /// ShardedOptimizer the gradient of a large variable is this rank's part, of rank 1.
  Function<void(VariableGradients&)> clip{};
  /// Every `steps`-th run applies the mean gradient of the runs since the last application
  /// (graph/train/accumulate.hpp). For minimize() only.
  Accumulate accumulate{};
};

namespace detail {
struct NothingShared {};

template <class Optimizer>
constexpr auto begin(const Optimizer& optimizer, GraphBuilder& g, std::string_view scope) {
  if constexpr (requires { optimizer.begin(g, scope); }) {
    return optimizer.begin(g, scope);
  } else {
    return NothingShared{};
  }
}

/// The variable, or the rank's part of it if the gradient is one.
constexpr Tensor updated_variable(const VariableGradient& v) {
  return is_part_of_rank(v.gradient) ? part_of_rank(v.variable) : v.variable;
}

template <class Optimizer, class Shared>
constexpr Tensor update(const Optimizer& optimizer, const VariableGradient& v, const Shared& shared) {
  const Tensor variable = updated_variable(v);
  if constexpr (std::is_same_v<Shared, NothingShared>) {
    return optimizer.update(variable, v.gradient);
  } else {
    return optimizer.update(variable, v.gradient, shared);
  }
}

/// Groups `target` with what follows the training of the scope's variables (GraphBuilder::assign_in_training).
constexpr Tensor with_training_assignments(GraphBuilder& g, Tensor target, std::string_view scope) {
  for (int a : g.training_assignments()) {
    if (g.name_of(g.node(a).inputs[0]).starts_with(scope)) target = g.apply(op::group, target, Tensor{&g, a});
  }
  return target;
}

/// Makes the gradients of the whole batch, clips, updates, counts; returns one target for all of it. There must be
/// gradients. `of_loss`: how the loss differs between ranks.
template <class Optimizer, class Shared>
constexpr Tensor update_all(const Optimizer& optimizer, const Shared& shared, VariableGradients gradients,
                            const MinimizeOptions& options, Spread of_loss) {
  share_gradients(gradients, of_loss);
  if (options.clip) options.clip(gradients);
  Tensor all{};
  GraphBuilder& g = *gradients[0].variable.graph;
  for (const VariableGradient& v : gradients) {
    const Tensor updated = update(optimizer, v, shared);
    all = all.id < 0 ? updated : g.apply(op::group, all, updated);
  }
  all = with_training_assignments(g, all, options.scope);
  if (!options.count_step) return all;
  const Tensor step = global_step(g);
  return g.apply(op::group, all, g.assign(step, step + 1));
}
}  // namespace detail

/// One optimizer step with these gradients. Returns a target. Call it after all other uses of the variables that should
/// read the old values: later uses in the model read the new ones. On several ranks the gradients are those of a mean
/// over the rows of the batch.
template <class Optimizer>
constexpr Tensor apply_gradients(const Optimizer& optimizer, const VariableGradients& gradients,
                                 const MinimizeOptions& options = {}) {
  if (gradients.empty()) graph_error::loss_depends_on_no_variable();
  if (options.accumulate.steps != 1) graph_error::only_minimize_accumulates_over_runs();
  const auto shared = detail::begin(optimizer, *gradients[0].variable.graph, options.scope);
  return detail::update_all(optimizer, shared, gradients, options, Spread::mean);
}

}  // namespace crochet
