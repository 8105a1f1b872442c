// SPDX-License-Identifier: Apache-2.0
// What optimizers keep from step to step, and names for it.
#pragma once
#include <string_view>
#include <vector>

#include <crochet/graph/rate.hpp>

namespace crochet::detail {

constexpr std::vector<char> joined(std::string_view first, std::string_view second) {
  std::vector<char> name;
  for (char c : first) name.push_back(c);
  for (char c : second) name.push_back(c);
  return name;
}

/// A variable beside another one: same shape and type, not trained, named after it as TensorFlow names its slots.
constexpr Tensor slot_variable(Tensor variable, std::string_view suffix, const Initializer& init = zeros()) {
  GraphBuilder& g = *variable.graph;
  const std::vector<char> name = joined(g.name_of(variable.id), suffix);
  return g.variable({name.data(), name.size()}, variable.dtype(), variable.shape(), init, false);
}

/// beta^t, with t the number of the step that is being made, from 1. Kept in double.
constexpr Tensor power_variable(GraphBuilder& g, std::string_view scope, std::string_view suffix, double beta) {
  const std::vector<char> name = joined(scope, suffix);
  const Tensor p = g.variable<double>({name.data(), name.size()}, {}, crochet::ones(), false);
  return g.assign(p, p * beta);
}

/// The learning rate of this step. It is the value "learning_rate", behind the scope, if that name is free: for hooks.
constexpr Tensor learning_rate(GraphBuilder& g, std::string_view scope, const Rate& rate) {
  const std::vector<char> name = joined(scope, "learning_rate");
  const Tensor now = rate.now(g);
  if (!g.has({name.data(), name.size()})) g.name({name.data(), name.size()}, now);
  return now;
}

/// average <- average + (1 - beta) (x - average).
constexpr Tensor moving_average(Tensor average, Tensor x, double beta) {
  return average.graph->assign(average, average + (x - average) * (1 - beta));
}

}  // namespace crochet::detail
