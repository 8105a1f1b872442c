// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation: one optimizer step for a large batch in several runs. The gradients of the runs, each of a
// micro-batch, are summed in slot variables "w/gradient_accumulator"; clipping and the optimizer get their mean. With
// micro-batches of equal size and a loss that is a mean over the batch, the result is that of the whole batch, up to
// rounding.
//
// On several ranks minimize() sums the gradients of the whole micro-batch: each run exchanges, since each computes the
// update, and a checkpoint within a step has the sums of all ranks. minimize_in_parts() exchanges the sums when they
// are applied.
#pragma once
#include <crochet/graph/core/joined_name.hpp>
#include <crochet/graph/train/apply_gradients.hpp>

namespace crochet {

namespace detail {
/// The sums and their count. They are never cleared: at a count of 0 their content is ignored.
class GradientSums {
 public:
  constexpr GradientSums(GraphBuilder& g, std::string_view scope) : g_(g) {
    count_ = g.variable<std::int64_t>(joined_name(scope, "accumulated_gradients"), {}, zeros(), false);
    fresh_ = equal(count_, g.constant<std::int64_t>(0));
  }
  /// The number of gradients in the sums, including this run's.
  constexpr Tensor count() const { return count_ + 1; }
  constexpr Tensor set_count(Tensor value) { return g_.assign(count_, value); }

  /// Adds this run's gradients: those of the whole batch, or of this rank's rows of it.
  constexpr void add(const VariableGradients& gradients, bool of_whole_batch) {
    if (gradients.empty()) graph_error::loss_depends_on_no_variable();
    for (const VariableGradient& v : gradients) {
      const Tensor slot = slot_variable(updated_variable(v), "/gradient_accumulator");
      if (!of_whole_batch) g_.note_own_of_rank(slot);
      sums_.push_back({slot, select(fresh_, v.gradient, slot + v.gradient)});
    }
  }
  /// The gradients for the optimizer: the sums times `share`.
  constexpr VariableGradients times(const VariableGradients& gradients, const SharedScalar& share) const {
    VariableGradients means = gradients;
    for (std::size_t i = 0; i < means.size(); ++i) {
      means[i].gradient = sums_[i].gradient * share.as(means[i].variable.dtype());
    }
    return means;
  }
  /// Groups `target` with the assignments of the sums.
  constexpr Tensor kept_with(Tensor target) const {
    for (const VariableGradient& s : sums_) target = g_.apply(op::group, target, g_.assign(s.variable, s.gradient));
    return target;
  }

 private:
  GraphBuilder& g_;
  Tensor count_, fresh_;
  VariableGradients sums_;  ///< slots, and their sums including this run's gradients
};

/// minimize() with `accumulate`. In all runs but the last of a step the optimizer's assignments keep the old value, by
/// a select. The sums, and what the model assigns in training (moving averages), change in every run.
template <class Optimizer>
constexpr Tensor minimize_every(Tensor loss, const Optimizer& optimizer, const MinimizeOptions& options) {
  GraphBuilder& g = *loss.graph;
  const std::int64_t steps = options.accumulate.steps;
  GradientSums sums(g, options.scope);
  // A checkpoint within a step of more runs may have more gradients than `steps`.
  const Tensor count = sums.count();
  const Tensor last = greater_equal(count, g.constant<std::int64_t>(steps));
  const SharedScalar share = 1 / cast<double>(count);
  g.guard_assignments(select, last);
  const auto shared = begin(optimizer, g, options.scope);
  VariableGradients gradients = compute_gradients(loss, options.scope);
  share_gradients(gradients, spread_of_loss(loss));
  sums.add(gradients, true);
  const Tensor applied = update_all(optimizer, shared, sums.times(gradients, share), options, Spread::same);
  g.guard_assignments(nullptr, {});
  const Tensor next = select(last, g.constant<std::int64_t>(0), count);
  return sums.kept_with(g.apply(op::group, applied, sums.set_count(next)));
}
}  // namespace detail

/// Two targets for one step in several runs: `accumulate` for all but the last, `apply` for the last.
struct AccumulatedStep {
  Tensor accumulate;  ///< adds this run's gradients to the sums
  Tensor apply;       ///< one optimizer step with the mean of all gradients, including this run's
};

/// As minimize() with MinimizeOptions::accumulate, but the caller selects by the target which run applies the step.
/// Cheaper, because the other runs do not contain the optimizer. The number of runs per step may vary.
/// - On several ranks without fixed shards `accumulate` exchanges nothing. So the micro-batches of a step have to have
///   equally many rows, or are weighted as the last one is; and a checkpoint between two runs of a step has the
///   gradients of rank 0's rows.
template <class Optimizer>
constexpr AccumulatedStep minimize_in_parts(Tensor loss, const Optimizer& optimizer,
                                            const MinimizeOptions& options = {}) {
  GraphBuilder& g = *loss.graph;
  if (options.accumulate.steps != 1) graph_error::only_minimize_accumulates_over_runs();
  detail::GradientSums sums(g, options.scope);
  const SharedScalar share = 1 / cast<double>(sums.count());
  const Tensor more = sums.count();
  const auto shared = detail::begin(optimizer, g, options.scope);
  VariableGradients gradients = compute_gradients(loss, options.scope);
  const Spread of_loss = detail::spread_of_loss(loss);
  const bool each_run = loss.graph->shares_each_run() || of_loss == Spread::same;
  if (each_run) detail::share_gradients(gradients, of_loss);
  sums.add(gradients, each_run);
  const Spread spread = each_run ? Spread::same : of_loss;
  const Tensor updated = detail::update_all(optimizer, shared, sums.times(gradients, share), options, spread);
  const Tensor apply = g.apply(op::group, updated, sums.set_count(g.constant<std::int64_t>(0)));
  const Tensor kept = sums.kept_with(sums.set_count(more));
  return {detail::with_training_assignments(g, kept, options.scope), apply};
}

}  // namespace crochet
