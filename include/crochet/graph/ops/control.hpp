// SPDX-License-Identifier: Apache-2.0
// What passes a value on and says something about gradients or about what else has to happen; assignments by a
// difference.
#pragma once
#include <crochet/graph/ops/elementwise.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_passed_on(const OpInputs& in) { return in[0]; }
constexpr void gradient_of_passed_on(GradientScope& s) { s.give(0, s.upstream()); }
constexpr void gradient_of_stopped(GradientScope&) {}
}  // namespace detail

namespace op {
inline constexpr Op identity{"identity", OpKind::elementwise, detail::infer_passed_on, detail::gradient_of_passed_on};
inline constexpr Op stop_gradient{"stop_gradient", OpKind::elementwise, detail::infer_passed_on,
                                  detail::gradient_of_stopped};
/// inputs = {value, group}. In a plan it is the value, and the group one more target.
inline constexpr Op with_dependencies{"with_dependencies", OpKind::elementwise, detail::infer_passed_on,
                                      detail::gradient_of_passed_on};
}  // namespace op

/// `x` itself, as a value of its own: for a second name.
constexpr Tensor identity(Tensor x) { return x.graph->apply(op::identity, x); }

/// `x`, through which no gradient passes: for gradients() it is a constant.
constexpr Tensor stop_gradient(Tensor x) { return x.graph->apply(op::stop_gradient, x); }

/// One target for several: running it runs them all (tf.group).
constexpr Tensor group(std::initializer_list<Tensor> targets) {
  Tensor all = *targets.begin();
  GraphBuilder& g = *all.graph;
  all = g.apply(op::group, all);
  for (const Tensor* t = targets.begin() + 1; t != targets.end(); ++t) all = g.apply(op::group, all, *t);
  return all;
}

/// `value`; a run that needs it runs the targets too (tf.control_dependencies). It does not wait for them, and need
/// not: what a variable is when it is read depends on the place in the model's code and never on which step comes
/// first.
constexpr Tensor with_dependencies(Tensor value, std::initializer_list<Tensor> targets) {
  if (targets.size() == 0) return value;
  return value.graph->apply(op::with_dependencies, value, group(targets));
}

/// variable <- variable + x, as GraphBuilder::assign does it; the result is the new value. `x` may broadcast.
constexpr Tensor assign_add(Tensor variable, Tensor x) { return variable.graph->assign(variable, variable + x); }
constexpr Tensor assign_add(Tensor variable, double x) { return variable.graph->assign(variable, variable + x); }
/// variable <- variable - x.
constexpr Tensor assign_sub(Tensor variable, Tensor x) { return variable.graph->assign(variable, variable - x); }
constexpr Tensor assign_sub(Tensor variable, double x) { return variable.graph->assign(variable, variable - x); }

}  // namespace crochet
