// SPDX-License-Identifier: Apache-2.0
// Rate: the learning rate of an optimizer: a number, a schedule, or a value of the graph.
#pragma once
#include <crochet/graph/core/function.hpp>
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/train/global_step.hpp>

namespace crochet {

namespace detail {

/// The number of completed steps as the run finds it, float64: also behind the assignment that counts the step, which
/// an optimizer before this one may have made.
constexpr Tensor completed_steps(GraphBuilder& g) {
  const Tensor step = global_step(g);
  int counted = 0;
  while (counted < g.size() && !(g.node(counted).is(op::assign) && g.node(counted).inputs[0] == step.id)) ++counted;
  if (counted < g.size()) g.read_variables_as_at(counted);
  const Tensor completed = cast<double>(step);
  g.read_variables_as_at(-1);
  return completed;
}

}  // namespace detail

/// A learning rate. It is one of
/// - a number;
/// - a schedule: any type with `constexpr Tensor operator()(Tensor step) const`, from the number of completed steps (a
///   float64 scalar, 0 in the first step) to the rate of this step (a floating scalar). If it has a `check()`, that is
///   called here, to report misuse at the user's line. See graph/train/schedules.hpp;
/// - a scalar tensor: a fed placeholder, or a variable that a hook sets.
class Rate {
 public:
  // NOLINTBEGIN(google-explicit-constructor): optimizers are written Adam{.learning_rate = 1e-3}
  constexpr Rate(double number) : number_(number) {}
  constexpr Rate(Tensor value) : schedule_([value](Tensor) { return value; }) {}
  template <class Schedule>
  requires std::is_invocable_r_v<Tensor, const Schedule&, Tensor>
  constexpr Rate(const Schedule& schedule) : schedule_(schedule) {
    if constexpr (requires { schedule.check(); }) schedule.check();
  }
  // NOLINTEND(google-explicit-constructor)

  /// The rate after `step` steps: a float64 scalar.
  constexpr Tensor at(Tensor step) const {
    if (!schedule_) return step.graph->constant<double>(number_);
    const Tensor rate = schedule_(step);
    if (rate.shape().rank != 0) graph_error::wrong_rank(0, static_cast<std::int64_t>(rate.shape().rank));
    if (!is_floating(rate.dtype())) graph_error::element_type_not_supported();
    return cast<double>(rate);
  }
  /// The rate of this step, by the graph's global_step, which a constant rate does not need.
  constexpr Tensor now(GraphBuilder& g) const {
    return schedule_ ? at(detail::completed_steps(g)) : g.constant<double>(number_);
  }

 private:
  double number_ = 0;
  Function<Tensor(Tensor)> schedule_;
};

/// A scalar that all variables share: computed once per step in double, converted to each variable's element type.
struct SharedScalar {
  // NOLINTNEXTLINE(google-explicit-constructor): optimizers return a Tensor as one
  constexpr SharedScalar(Tensor x) : in_double(cast<double>(x)), in_float(cast<float>(x)) {}
  constexpr Tensor as(DType type) const { return type == DType::float32 ? in_float : cast(in_double, type); }

  Tensor in_double, in_float;
};

}  // namespace crochet
