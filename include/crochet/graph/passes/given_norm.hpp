// SPDX-License-Identifier: Apache-2.0
// given_norm: batch normalisation with given statistics is a factor and a summand for each channel,
//
//   gamma (x - mean) / sqrt(variance + epsilon) + beta  =  x * scale + (beta - mean * scale),
//   scale = gamma / sqrt(variance + epsilon)
//
// Both are computed once in a run. The product and the sum are elementwise, so the kernel that computes x takes them in
// its epilogue, with what follows. Source: Jacob et al., CVPR 2018, section 3.2, which folds the factor into the
// weights instead; that would write all weights in each run, since they are variables.
#pragma once
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet::detail {

/// Whether the node is such a normalisation.
constexpr bool is_given_norm(const Node& n) { return n.op == &op::batch_norm && n.attributes.ints[1] == 0; }

/// Appends what replaces the node, and returns its index. The last node has the name of the normalisation.
constexpr int place_given_norm(Subgraph& to, const Node& norm) {
  const auto [x, mean, variance, gamma, beta, none] = norm.inputs;
  const auto place = [&](const Op& op, const Shape& shape, int a, int b = -1) {
    Node n{.op = &op, .dtype = norm.dtype, .shape = shape, .attributes = {}, .origin = norm.origin};
    n.inputs[0] = a;
    n.inputs[1] = b;
    return append(to, n);
  };
  const Shape channels = to.nodes[at(gamma)].shape;
  const int epsilon = place(op::constant, {}, -1);
  to.nodes[at(epsilon)].attributes.reals[0] = norm.attributes.reals[0];
  const int root = place(op::rsqrt, channels, place(op::add, channels, variance, epsilon));
  const int scale = place(op::mul, channels, gamma, root);
  const int offset = place(op::sub, channels, beta, place(op::mul, channels, mean, scale));
  return place(op::add, norm.shape, place(op::mul, norm.shape, x, scale), offset);
}

}  // namespace crochet::detail
