// SPDX-License-Identifier: Apache-2.0
// Tensors put together: one behind the other, stacked, padded, repeated.
#pragma once
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
/// Up to six inputs [..., n_k, ...] -> [..., sum of the n_k, ...]; ints = {axis, how many inputs}.
inline constexpr Op concat{"concat", OpKind::kernel,         detail::infer_concat, detail::gradient_of_concat,
                           -1,       detail::items_of_concat};
}  // namespace op

namespace detail {
/// From the first to the last of them; more than an operation can take by a tree.
constexpr Tensor concat(std::vector<Tensor> parts, std::size_t axis) {
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

/// Tensors one behind the other along an axis; their other dimensions must be equal (numpy.concatenate). Dynamic
/// dimensions along the axis must be multiples of the same one.
constexpr Tensor concat(std::initializer_list<Tensor> parts, int axis) {
  const std::size_t at = detail::axis_of(parts.begin()->shape().rank, axis);
  std::vector<Tensor> all;
  for (Tensor t : parts) all.push_back(t);
  return detail::concat(all, at);
}

/// Tensors of one shape along a new axis, before the given one (numpy.stack): -1 puts it at the end.
constexpr Tensor stack(std::initializer_list<Tensor> parts, int axis) {
  const std::size_t at = detail::axis_of(parts.begin()->shape().rank + 1, axis);
  std::vector<Tensor> all;
  for (Tensor t : parts) all.push_back(expand_dims(t, axis));
  return detail::concat(all, at);
}

namespace detail {
constexpr void gradient_of_concat(GradientScope& s) {
  const auto axis = static_cast<std::size_t>(s.attributes().ints[0]);
  const bool equal = s.upstream().shape().rank == 0;  // one number stands for equal elements
  const Tensor up = equal ? s.upstream() : s.full_upstream();
  Place begin;
  const Node n = s.graph().node(s.output());
  for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
    const Extent size = s.input(k).shape()[axis];
    if (s.wants(k)) s.give(k, equal ? up : part(up, axis, begin, size));
    begin = begin + Place::of(size);
  }
}
}  // namespace detail

}  // namespace crochet
