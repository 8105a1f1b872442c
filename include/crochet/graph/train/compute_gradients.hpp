// SPDX-License-Identifier: Apache-2.0
// The gradients of a loss with respect to variables, as a list that can be changed before the update.
#pragma once
#include <string_view>
#include <vector>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/train/gradients.hpp>

namespace crochet {

/// A variable and the gradient of the loss with respect to it, with the variable's shape.
struct VariableGradient {
  Tensor variable;
  Tensor gradient;
};
using VariableGradients = std::vector<VariableGradient>;

/// The trainable variables whose names begin with `scope`, in order of creation.
constexpr std::vector<Tensor> trainable_variables(GraphBuilder& g, std::string_view scope = "") {
  std::vector<Tensor> all;
  for (int i = 0; i < g.size(); ++i) {
    const Node& n = g.node(i);
    if (n.is(op::variable) && n.attributes.ints[1] != 0 && g.name_of(i).starts_with(scope)) all.push_back({&g, i});
  }
  return all;
}

/// d loss / d x for each x, with x's shape. The loss must depend on each x, which is a trainable variable or a value
/// between one and the loss. Takes one backward pass for all.
constexpr std::vector<Tensor> gradients(Tensor loss, const std::vector<Tensor>& xs) {
  const ConstexprVector<int> all = gradients(loss);
  std::vector<Tensor> wanted;
  for (Tensor x : xs) {
    const int id = x.id <= loss.id ? all[static_cast<std::size_t>(x.id)] : -1;
    if (id < 0) graph_error::loss_depends_on_no_variable();
    wanted.push_back(broadcast_to({loss.graph, id}, x.shape()));
  }
  return wanted;
}

/// The trainable variables that the loss depends on and whose names begin with `scope`, with their gradients. May be
/// empty.
constexpr VariableGradients compute_gradients(Tensor loss, std::string_view scope = "") {
  GraphBuilder& g = *loss.graph;
  const ConstexprVector<int> all = gradients(loss);
  VariableGradients found;
  for (Tensor v : trainable_variables(g, scope)) {
    const int id = v.id <= loss.id ? all[static_cast<std::size_t>(v.id)] : -1;
    if (id < 0) continue;
    if (v.dtype() == DType::bfloat16) graph_error::bfloat16_variables_do_not_train();
    found.push_back({v, broadcast_to({&g, id}, v.shape())});
  }
  return found;
}

}  // namespace crochet
