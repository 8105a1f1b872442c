// SPDX-License-Identifier: Apache-2.0
// Concatenation and stacking of tensors.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/slice.hpp>

namespace crochet {

namespace detail {
constexpr TypedShape infer_concat(const OpInputs& in) {
  const auto axis = static_cast<std::size_t>(in.attributes.ints[0]);
  Shape out = in.shape(0);
  Place size;
  for (std::size_t k = 0; k < in.count; ++k) {
    in.want_same_type(0, k);
    if (in.shape(k).rank != out.rank) graph_error::shapes_differ_beside_the_axis();
    out[axis] = in.shape(k)[axis];
    if (!(in.shape(k) == out)) graph_error::shapes_differ_beside_the_axis();
    size = size + Place::of(in.shape(k)[axis]);
  }
  out[axis] = size.extent();
  return {in[0].dtype, out};
}
constexpr void gradient_of_concat(GradientScope& s);
constexpr unsigned items_of_concat(const Attributes& a) {
  return a.ints[0] == 0 ? 0 : (1U << static_cast<unsigned>(a.ints[1])) - 1U;
}
}  // namespace detail

namespace op {
/// Up to six inputs [..., n_k, ...] -> [..., sum of the n_k, ...]; ints = {axis, number of inputs}.
inline constexpr Op concat = detail::accepting_bfloat16(
    {"concat", OpKind::kernel, detail::infer_concat, detail::gradient_of_concat, -1, detail::items_of_concat});
}  // namespace op

namespace detail {
/// Concatenates in order; more parts than an operation has inputs are concatenated as a tree.
constexpr Tensor concat_all(std::vector<Tensor> parts, std::size_t axis) {
  while (parts.size() > 1) {
    std::vector<Tensor> joined;
    for (std::size_t i = 0; i < parts.size(); i += max_inputs) {
      const Tensor* p = &parts[i];
      const std::size_t n = parts.size() - i < max_inputs ? parts.size() - i : max_inputs;
      const Attributes how{.ints = {static_cast<std::int32_t>(axis), static_cast<std::int32_t>(n)}};
      GraphBuilder& g = *p->graph;
      if (n == 1) joined.push_back(p[0]);
      if (n == 2) joined.push_back(g.apply(op::concat, how, p[0], p[1]));
      if (n == 3) joined.push_back(g.apply(op::concat, how, p[0], p[1], p[2]));
      if (n == 4) joined.push_back(g.apply(op::concat, how, p[0], p[1], p[2], p[3]));
      if (n == 5) joined.push_back(g.apply(op::concat, how, p[0], p[1], p[2], p[3], p[4]));
      if (n == 6) joined.push_back(g.apply(op::concat, how, p[0], p[1], p[2], p[3], p[4], p[5]));
    }
    parts = joined;
  }
  return parts[0];
}
}  // namespace detail

/// Concatenates tensors along an axis (numpy.concatenate). Their other dimensions must be equal. Dynamic dimensions
/// along the axis must be multiples of the same one, and cannot be joined with static ones: there is no batch + 1. At
/// least one tensor: a list in braces, a vector or an array.
constexpr Tensor concat(std::span<const Tensor> parts, int axis) {
  const std::size_t at = detail::axis_of(parts.front().shape().rank, axis);
  return detail::concat_all({parts.begin(), parts.end()}, at);
}
constexpr Tensor concat(std::initializer_list<Tensor> parts, int axis) {
  return concat(std::span(parts.begin(), parts.size()), axis);
}

/// Stacks tensors of one shape along a new axis, inserted before the given one (numpy.stack); -1 appends it. At least
/// one tensor, as concat.
constexpr Tensor stack(std::span<const Tensor> parts, int axis) {
  const std::size_t at = detail::axis_of(parts.front().shape().rank + 1, axis);
  std::vector<Tensor> all;
  for (Tensor t : parts) all.push_back(expand_dims(t, axis));
  return detail::concat_all(all, at);
}
constexpr Tensor stack(std::initializer_list<Tensor> parts, int axis) {
  return stack(std::span(parts.begin(), parts.size()), axis);
}

namespace detail {
constexpr void gradient_of_concat(GradientScope& s) {
  const auto axis = static_cast<std::size_t>(s.attributes().ints[0]);
  const bool equal = s.upstream().shape().rank == 0;  // a scalar upstream represents equal elements
  const Tensor up = equal ? s.upstream() : s.full_upstream();
  Place begin;
  const Node n = s.graph().node(s.output());
  for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
    const Extent size = s.input(k).shape()[axis];
    if (s.wants(k)) s.give(k, equal ? up : part(up, axis, begin, size));
    begin = begin + Place::of(size);
  }
}

/// Two zero-padded tensors, of which the second begins where the first ends.
struct Neighbours {
  Tensor first, second;  ///< the unpadded tensors
  Attributes how;        ///< the padding of their concatenation
  bool found = false;
};
constexpr Neighbours neighbours(Tensor a, Tensor b) {
  GraphBuilder& g = *a.graph;
  const Node x = g.node(a), y = g.node(b);
  if (!x.is(op::pad) || !y.is(op::pad) || !(x.shape == y.shape)) return {};
  if (x.attributes.ints[0] != y.attributes.ints[0] || x.attributes.ints[1] != 1 || y.attributes.ints[1] != 1) return {};
  if (x.attributes.reals[0] != 0 || y.attributes.reals[0] != 0) return {};
  const Tensor in{&g, x.inputs[0]}, next{&g, y.inputs[0]};
  const Place size = Place::of(in.shape()[static_cast<std::size_t>(x.attributes.ints[0])]);
  const Place begin = begin_of(x.attributes), end = begin_of(y.attributes);
  if (begin.dynamic.factor != 0 && size.dynamic.factor != 0 && begin.dynamic.powers != size.dynamic.powers) return {};
  return {in, next, x.attributes, begin + size == end};
}

/// a + b. Gradients of adjacent parts of a tensor are concatenated instead of summed, so the gradient of split() costs
/// one concat.
constexpr Tensor sum_of_gradients(Tensor a, Tensor b) {
  Neighbours n = neighbours(a, b);
  if (!n.found) n = neighbours(b, a);
  if (!n.found) return a + b;
  const auto axis = static_cast<std::size_t>(n.how.ints[0]);
  std::vector<Tensor> parts{n.first};
  const Node behind = a.graph->node(n.second);  // parts concatenated by earlier calls
  if (behind.is(op::concat) && behind.attributes.ints[0] == n.how.ints[0] && behind.inputs[max_inputs - 1] < 0) {
    for (int in : behind.inputs) {
      if (in >= 0) parts.push_back({a.graph, in});
    }
  } else {
    parts.push_back(n.second);
  }
  const Tensor joined = concat_all(parts, axis);
  if (joined.shape() == a.shape()) return joined;
  return a.graph->shaped(op::pad, {joined}, a.shape(), n.how);
}
}  // namespace detail

}  // namespace crochet
