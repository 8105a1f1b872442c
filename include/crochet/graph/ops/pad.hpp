// SPDX-License-Identifier: Apache-2.0
// Padding and repetition of tensors.
#pragma once
#include <crochet/graph/ops/concat.hpp>

namespace crochet {

/// The number of elements that pad() adds before and after a dimension.
struct Pads {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// The padding of pad(), as in numpy.pad and tf.pad: a constant; the elements mirrored at the edge, without the edge
/// element (reflect) or with it (symmetric). A dimension of n elements has at most n - 1 (reflect) or n (symmetric)
/// added before and after, as in tf.pad; numpy.pad goes on mirroring.
enum class PadMode : std::uint8_t { constant, reflect, symmetric };

namespace detail {
constexpr Tensor pad_with(Tensor x, std::size_t axis, Pads by, double value) {
  Shape to = x.shape();
  to[axis] = (Place::of(to[axis]) + Place{by.before + by.after, 0}).extent();
  Attributes a = along(axis, {by.before, 0});
  a.reals[0] = value;
  return x.graph->shaped(op::pad, {x}, to, a);
}

constexpr Tensor mirror(Tensor x, std::size_t axis, Pads by, std::int64_t edge) {
  const Extent n = x.shape()[axis];
  if (!n.is_static()) graph_error::dimension_is_a_sum_with_a_dynamic_one();
  const std::int64_t last = n.factor - 1 - edge;
  const std::int64_t most = by.before > by.after ? by.before : by.after;
  if (most > last + 1) graph_error::padding_is_larger_than_what_it_mirrors(most, last + 1);
  std::vector<Tensor> parts;
  if (by.before > 0) parts.push_back(part(x, axis, {by.before - 1 + edge, 0}, by.before, -1));
  parts.push_back(x);
  if (by.after > 0) parts.push_back(part(x, axis, {last, 0}, by.after, -1));
  return concat_all(parts, axis);
}
}  // namespace detail

/// `x` padded before and after each of its dimensions (numpy.pad): pad(x, {{0, 0}, {1, 2}}) adds one column of zeros
/// before and two after. A dynamic dimension cannot be padded.
constexpr Tensor pad(Tensor x, std::initializer_list<Pads> by, double value = 0, PadMode mode = PadMode::constant) {
  if (by.size() != x.shape().rank) {
    graph_error::wrong_rank(static_cast<std::int64_t>(x.shape().rank), static_cast<std::int64_t>(by.size()));
  }
  std::size_t axis = 0;
  for (const Pads& p : by) {
    if (p.before < 0 || p.after < 0) graph_error::dimension_is_negative();
    if (p.before + p.after > 0) {
      x = mode == PadMode::constant ? detail::pad_with(x, axis, p, value)
                                    : detail::mirror(x, axis, p, mode == PadMode::reflect ? 1 : 0);
    }
    ++axis;
  }
  return x;
}
constexpr Tensor pad(Tensor x, std::initializer_list<Pads> by, PadMode mode) { return pad(x, by, 0, mode); }

/// `x` with every element repeated n times along an axis (numpy.repeat).
constexpr Tensor repeat(Tensor x, const Extent& n, int axis) {
  const std::size_t at = detail::axis_of(x.shape().rank, axis);
  const Shape& s = x.shape();
  const Extent outer = s.product(0, at + 1), inner = s.product(at + 1, s.rank);
  Shape to = s;
  to[at] = s[at] * n;
  return reshape(broadcast_to(reshape(x, {outer, 1, inner}), {outer, n, inner}), to);
}

/// `x` repeated n times along each axis (numpy.tile with one count for each dimension).
constexpr Tensor tile(Tensor x, std::initializer_list<Extent> times) {
  if (times.size() != x.shape().rank) {
    graph_error::wrong_rank(static_cast<std::int64_t>(x.shape().rank), static_cast<std::int64_t>(times.size()));
  }
  std::size_t axis = 0;
  for (const Extent& n : times) {
    Shape to = x.shape();
    const Extent outer = to.product(0, axis), inner = to.product(axis, to.rank);
    to[axis] = to[axis] * n;
    if (!n.is_one()) x = reshape(broadcast_to(reshape(x, {outer, 1, inner}), {outer, n, inner}), to);
    ++axis;
  }
  return x;
}

}  // namespace crochet
