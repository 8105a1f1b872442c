// SPDX-License-Identifier: Apache-2.0
// apply_gradients: one optimizer step with given gradients, the second half of minimize().
//
// An optimizer is a type with
//   constexpr Tensor update(Tensor variable, Tensor gradient) const;              // returns the assignment
// or, if all variables share something that is computed once a step, such as a learning rate,
//   constexpr auto begin(GraphBuilder& g, std::string_view scope) const;          // makes it
//   constexpr Tensor update(Tensor variable, Tensor gradient, <what begin made>) const;
// An update is elementwise nodes, which fusion puts into the product, or the loop, that makes the gradient.
#pragma once
#include <crochet/graph/train/clipping.hpp>
#include <crochet/graph/train/slots.hpp>

namespace crochet {

/// How many runs make one step: their gradients are summed, and the mean is applied in the last of them.
struct Accumulate {
  std::int64_t steps = 1;
};

/// Which variables a minimize() may change, and how their gradients are treated before that.
struct MinimizeOptions {
  /// Only variables whose names begin with this; also the prefix of the optimizer's own scalars. Empty: all.
  std::string_view scope = "";
  /// Whether a step counts towards global_step. With several optimizers, let one of them count.
  bool count_step = true;
  /// Changes the gradients before the update: ClipByValue, ClipByNorm, ClipByGlobalNorm, or a function of your own.
  Function<void(VariableGradients&)> clip{};
  /// Every `steps`-th run applies the mean gradient of the runs since the last application
  /// (graph/train/accumulate.hpp).
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

template <class Optimizer, class Shared>
constexpr Tensor update(const Optimizer& optimizer, const VariableGradient& v, const Shared& shared) {
  if constexpr (std::is_same_v<Shared, NothingShared>) {
    return optimizer.update(v.variable, v.gradient);
  } else {
    return optimizer.update(v.variable, v.gradient, shared);
  }
}

/// Clips, updates, counts; one target for all of it. There must be gradients.
template <class Optimizer, class Shared>
constexpr Tensor update_all(const Optimizer& optimizer, const Shared& shared, VariableGradients gradients,
                            const MinimizeOptions& options) {
  if (options.clip) options.clip(gradients);
  Tensor all{};
  GraphBuilder& g = *gradients[0].variable.graph;
  for (const VariableGradient& v : gradients) {
    const Tensor updated = update(optimizer, v, shared);
    all = all.id < 0 ? updated : g.apply(op::group, all, updated);
  }
  for (int a : g.training_assignments()) {
    if (g.name_of(g.node(a).inputs[0]).starts_with(options.scope)) all = g.apply(op::group, all, Tensor{&g, a});
  }
  if (!options.count_step) return all;
  const Tensor step = global_step(g);
  return g.apply(op::group, all, g.assign(step, step + 1));
}
}  // namespace detail

/// One optimizer step with these gradients. Returns a target. Call it before other things are made of the gradients'
/// variables: uses of them that come later in the model see the new values.
template <class Optimizer>
constexpr Tensor apply_gradients(const Optimizer& optimizer, const VariableGradients& gradients,
                                 const MinimizeOptions& options = {}) {
  if (gradients.empty()) graph_error::loss_depends_on_no_variable();
  const auto shared = detail::begin(optimizer, *gradients[0].variable.graph, options.scope);
  return detail::update_all(optimizer, shared, gradients, options);
}

}  // namespace crochet
