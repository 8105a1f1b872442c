// SPDX-License-Identifier: Apache-2.0
// Slots: the variables of optimizers, and their names.
#pragma once
#include <string_view>

#include <crochet/graph/core/joined_name.hpp>
#include <crochet/graph/ops/parts_of_ranks.hpp>
#include <crochet/graph/train/rate.hpp>

namespace crochet {

/// For an optimizer: a slot of a variable, or of a rank's part of one. It has the same shape and type, is not
/// trainable, and has the name of the variable with this suffix, as TensorFlow names slots.
constexpr Tensor slot_variable(Tensor variable, std::string_view suffix, const Initializer& init = zeros()) {
  GraphBuilder& g = *variable.graph;
  const Tensor whole = whole_variable(variable);
  const TextPool name = joined_name(g.name_of(whole.id), suffix);
  const Tensor slot = g.variable(name.view(), variable.dtype(), variable.shape(), init, false);
  if (whole.id != variable.id) g.note_part(slot, whole);
  return slot;
}

namespace detail {

/// beta^t with t the number of the current step, from 1. Kept in double.
constexpr Tensor power_variable(GraphBuilder& g, std::string_view scope, std::string_view suffix, double beta) {
  const TextPool name = joined_name(scope, suffix);
  const Tensor p = g.variable<double>(name.view(), {}, crochet::ones(), false);
  return g.assign(p, p * beta);
}

/// The learning rate of this step. Its name is "learning_rate" with the scope as prefix, if that name is free, so that
/// hooks can fetch it.
constexpr Tensor learning_rate(GraphBuilder& g, std::string_view scope, const Rate& rate) {
  const TextPool name = joined_name(scope, "learning_rate");
  const Tensor now = rate.now(g);
  if (!g.has(name.view())) g.name(name.view(), now);
  return now;
}

/// average <- average + part (x - average), where part = 1 - beta.
constexpr Tensor moving_average(Tensor average, Tensor x, Tensor part) {
  return average.graph->assign(average, average + (x - average) * part);
}
constexpr Tensor moving_average(Tensor average, Tensor x, double beta) {
  return moving_average(average, x, x.graph->constant(x.dtype(), 1 - beta));
}

}  // namespace detail

}  // namespace crochet
