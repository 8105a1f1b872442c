// SPDX-License-Identifier: Apache-2.0
// Operations that pass a value on and change its gradient or its dependencies, and assignments of differences.
#pragma once
#include <crochet/graph/ops/elementwise.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_passed_on(const OpInputs& in) { return in[0]; }
constexpr void gradient_of_passed_on(GradientScope& s) { s.give(0, s.upstream()); }
constexpr void gradient_of_stopped(GradientScope&) {}
}  // namespace detail

namespace op {
inline constexpr Op identity = detail::accepting_bfloat16(
    {"identity", OpKind::elementwise, detail::infer_passed_on, detail::gradient_of_passed_on});
inline constexpr Op stop_gradient = detail::accepting_bfloat16(
    {"stop_gradient", OpKind::elementwise, detail::infer_passed_on, detail::gradient_of_stopped});
/// inputs = {value, group}. In a plan it is the value, and the group is an additional target.
inline constexpr Op with_dependencies = detail::accepting_bfloat16(
    {"with_dependencies", OpKind::elementwise, detail::infer_passed_on, detail::gradient_of_passed_on});
}  // namespace op

/// A copy of `x` as a separate node, e.g. to give it a second name.
constexpr Tensor identity(Tensor x) { return x.graph->apply(op::identity, x); }

/// `x` as a constant for gradients(): no gradient flows through it.
constexpr Tensor stop_gradient(Tensor x) { return x.graph->apply(op::stop_gradient, x); }

/// A single target that runs several (tf.group).
constexpr Tensor group(std::initializer_list<Tensor> targets) {
  Tensor all = *targets.begin();
  GraphBuilder& g = *all.graph;
  all = g.apply(op::group, all);
  for (const Tensor* t = targets.begin() + 1; t != targets.end(); ++t) all = g.apply(op::group, all, *t);
  return all;
}

/// `value`; a run that needs it also runs the targets (tf.control_dependencies). Unlike in TensorFlow no order is
/// implied, and none is needed: the value of a variable at a read depends on the position in the model's code, not on
/// the order of steps.
constexpr Tensor with_dependencies(Tensor value, std::initializer_list<Tensor> targets) {
  if (targets.size() == 0) return value;
  return value.graph->apply(op::with_dependencies, value, group(targets));
}

/// variable <- variable + x; see GraphBuilder::assign. The result is the new value. `x` may broadcast.
constexpr Tensor assign_add(Tensor variable, Tensor x) { return variable.graph->assign(variable, variable + x); }
constexpr Tensor assign_add(Tensor variable, double x) { return variable.graph->assign(variable, variable + x); }
/// variable <- variable - x.
constexpr Tensor assign_sub(Tensor variable, Tensor x) { return variable.graph->assign(variable, variable - x); }
constexpr Tensor assign_sub(Tensor variable, double x) { return variable.graph->assign(variable, variable - x); }

}  // namespace crochet
