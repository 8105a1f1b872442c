// SPDX-License-Identifier: Apache-2.0
// Slices of a tensor along an axis, and the inverse: padding around and between elements.
#pragma once
#include <array>

#include <crochet/graph/ops/views.hpp>

namespace crochet {

namespace detail {
/// A position or distance along an axis: a number plus a multiple of dynamic dimensions.
struct Place {
  std::int64_t number = 0;
  Extent dynamic = 0;

  static constexpr Place of(const Extent& e) { return e.is_static() ? Place{e.factor, 0} : Place{0, e}; }
  constexpr Place operator+(const Place& b) const {
    Place sum{number + b.number, dynamic.factor == 0 ? b.dynamic : dynamic};
    if (dynamic.factor == 0 || b.dynamic.factor == 0) return sum;
    if (dynamic.powers != b.dynamic.powers) graph_error::dimension_is_a_sum_with_a_dynamic_one();
    sum.dynamic.factor = dynamic.factor + b.dynamic.factor;
    return sum;
  }
  constexpr Place operator*(std::int64_t n) const {
    Place product{number * n, dynamic};
    product.dynamic.factor *= n;
    return product;
  }
  friend constexpr bool operator==(const Place& a, const Place& b) {
    const bool both_static = a.dynamic.factor == 0 && b.dynamic.factor == 0;
    return a.number == b.number && (both_static || a.dynamic == b.dynamic);
  }
  /// As a dimension: a number or a multiple of dynamic dimensions, but not their sum.
  constexpr Extent extent() const {
    if (dynamic.factor == 0) return number;
    if (number != 0) graph_error::dimension_is_a_sum_with_a_dynamic_one();
    return dynamic;
  }
};

/// A position or step as an attribute.
constexpr std::int32_t to_32_bits(std::int64_t n) {
  graph_error::require_32_bits(n);
  return static_cast<std::int32_t>(n);
}
/// The elements begin, begin + step, ... along an axis, as attributes of op::slice and op::pad.
constexpr Attributes along(std::size_t axis, const Place& begin, std::int64_t step = 1) {
  return {.ints = {static_cast<std::int32_t>(axis), to_32_bits(step), to_32_bits(begin.number),
                   to_32_bits(begin.dynamic.factor), static_cast<std::int32_t>(begin.dynamic.powers)}};
}
constexpr Place begin_of(const Attributes& a) {
  Extent dynamic(a.ints[3]);
  dynamic.powers = static_cast<std::uint32_t>(a.ints[4]);
  return {a.ints[2], dynamic};
}
constexpr void gradient_of_slice(GradientScope& s);
constexpr void gradient_of_pad(GradientScope& s);
constexpr unsigned items_along(const Attributes& a) { return a.ints[0] == 0 ? 0 : 1; }
}  // namespace detail

namespace op {
/// [..., n, ...] -> [..., m, ...]: element i along the axis is the input's element begin + i * step. ints = {axis,
/// step, number, factor and powers of begin, result of a position outside [0, n)}. Such a position is only possible for
/// dynamic dimensions. Its result is 0: invalid (NaN; signed integers: the lowest value, unsigned: the greatest, bool:
/// true); 1: zero.
inline constexpr Op slice =
    detail::accepting_bfloat16({"slice", OpKind::kernel, nullptr, detail::gradient_of_slice, -1, detail::items_along});
/// [..., m, ...] -> [..., n, ...]: element i of the input goes to position begin + i * step along the axis, unless that
/// is outside [0, n). All other elements are reals[0]. ints as for op::slice. (As XLA's Pad with interior padding.)
inline constexpr Op pad =
    detail::accepting_bfloat16({"pad", OpKind::kernel, nullptr, detail::gradient_of_pad, -1, detail::items_along});
}  // namespace op

namespace detail {
/// `size` elements begin, begin + step, ... of x along an axis.
constexpr Tensor part(Tensor x, std::size_t axis, const Place& begin, const Extent& size, std::int64_t step = 1) {
  Shape shape = x.shape();
  if (shape[axis] == size && step == 1) return x;
  shape[axis] = size;
  return x.graph->shaped(op::slice, {x}, shape, along(axis, begin, step));
}

/// The number of steps between two positions, rounded up.
constexpr Extent steps(const Place& from, const Place& to, std::int64_t step) {
  const Place distance = (to + from * -1) * (step < 0 ? -1 : 1);
  const std::int64_t width = step < 0 ? -step : step;
  if (distance.dynamic.factor == 0) return (distance.number + width - 1) / width;
  if (!divides(width, distance.extent())) graph_error::dimension_is_a_sum_with_a_dynamic_one();
  return distance.extent() / width;
}
/// The elements of x from `begin` to `end` along an axis. With a negative step `end` is at least -1.
constexpr Tensor between(Tensor x, std::size_t axis, const Place& begin, const Place& end, std::int64_t step) {
  if (to_32_bits(step) == 0) graph_error::step_is_zero();
  const Extent n = x.shape()[axis];
  const std::int64_t down = step < 0 ? 1 : 0;
  const Place low = step < 0 ? end : begin, high = step < 0 ? begin : end, distance = high + low * -1;
  const bool outside = n.is_static() && (low.number < -down || high.number > n.factor - down);
  if (outside || (distance.dynamic.factor == 0 && distance.number < 0)) {
    graph_error::slice_is_out_of_bounds(begin.number, end.number, n.factor);
  }
  return part(x, axis, begin, steps(begin, end, step), step);
}
/// A position given by the user; a negative one counts from the end.
constexpr Place place(std::int64_t i, const Extent& n) { return i < 0 ? Place::of(n) + Place{i, 0} : Place{i, 0}; }
}  // namespace detail

/// For slice(): through the last element (with a negative step: the first).
inline constexpr std::int64_t to_end = INT64_MAX;

/// Elements from, from + step, ... of x along an axis, up to but not including `to`: x[..., from:to:step, ...] in
/// numpy.
/// - Negative positions count from the end. Unlike in numpy and TensorFlow, a position outside the dimension is an
///   error, and so is a `to` on the wrong side of `from`; equal positions give an empty dimension. A `from` or a step
///   of 2^31 or more is an error too.
/// - A dynamic dimension can be sliced if the size of the result is known: all of it, a fraction of it, or a number of
///   elements (the last three: from = -3).
/// - If the dynamic dimension is smaller than that in a run, missing elements are NaN (signed integers: the lowest
///   value, unsigned: the greatest, bool: true) and get no gradient.
constexpr Tensor slice(Tensor x, int axis, std::int64_t from, std::int64_t to = to_end, std::int64_t step = 1) {
  const std::size_t at = detail::axis_of(x.shape().rank, axis);
  const Extent n = x.shape()[at];
  const detail::Place last = step < 0 ? detail::Place{-1, 0} : detail::Place::of(n);
  return detail::between(x, at, detail::place(from, n), to == to_end ? last : detail::place(to, n), step);
}

/// The block of x that begins at the given indices and has the given sizes, one of each per axis (tf.slice). A negative
/// index counts from the end; the size `rest` means up to the end.
constexpr Tensor crop(Tensor x, std::initializer_list<std::int64_t> begin, std::initializer_list<std::int64_t> size) {
  const auto rank = static_cast<std::int64_t>(x.shape().rank);
  for (std::size_t given : {begin.size(), size.size()}) {
    if (given != x.shape().rank) graph_error::wrong_rank(rank, static_cast<std::int64_t>(given));
  }
  for (std::size_t axis = 0; axis < begin.size(); ++axis) {
    const Extent n = x.shape()[axis];
    const std::int64_t many = size.begin()[axis];
    const detail::Place from = detail::place(begin.begin()[axis], n);
    x = detail::between(x, axis, from, many == rest ? detail::Place::of(n) : from + detail::Place{many, 0}, 1);
  }
  return x;
}

/// `x` with its elements in reverse order along an axis (numpy.flip).
constexpr Tensor reverse(Tensor x, int axis) { return slice(x, axis, -1, to_end, -1); }

/// N equal parts of x along an axis: `auto [q, k, v] = split<3>(x, -1)` (numpy.split).
template <std::size_t N>
constexpr std::array<Tensor, N> split(Tensor x, int axis) {
  const std::size_t at = detail::axis_of(x.shape().rank, axis);
  const Extent n = x.shape()[at], many = static_cast<std::int64_t>(N);
  if (!divides(many, n)) graph_error::axis_does_not_split_evenly(n.factor, many.factor);
  std::array<Tensor, N> parts;
  for (std::size_t i = 0; i < N; ++i) {
    parts[i] = detail::part(x, at, detail::Place::of(n / many) * static_cast<std::int64_t>(i), n / many);
  }
  return parts;
}

/// Parts of x of the given sizes along an axis; the sizes must add up to the dimension (tf.split).
constexpr std::vector<Tensor> split(Tensor x, std::initializer_list<Extent> sizes, int axis) {
  const std::size_t at = detail::axis_of(x.shape().rank, axis);
  std::vector<Tensor> parts;
  detail::Place begin;
  for (const Extent& size : sizes) {
    parts.push_back(detail::part(x, at, begin, size));
    begin = begin + detail::Place::of(size);
  }
  const Extent all = begin.extent();
  if (!(all == x.shape()[at])) graph_error::parts_do_not_add_up(all.factor, x.shape()[at].factor);
  return parts;
}

/// The N slices of x along an axis of size N; the results do not have this axis (tf.unstack).
template <std::size_t N>
constexpr std::array<Tensor, N> unstack(Tensor x, int axis) {
  const std::size_t at = detail::axis_of(x.shape().rank, axis);
  if (!(x.shape()[at] == Extent(static_cast<std::int64_t>(N)))) {
    graph_error::axis_does_not_split_evenly(x.shape()[at].factor, static_cast<std::int64_t>(N));
  }
  std::array<Tensor, N> parts = split<N>(x, axis);
  for (Tensor& part : parts) part = squeeze(part, static_cast<int>(at));
  return parts;
}

namespace detail {
constexpr void gradient_of_slice(GradientScope& s) {
  s.give(0, s.graph().shaped(op::pad, {s.full_upstream()}, s.input(0).shape(), s.attributes()));
}
constexpr void gradient_of_pad(GradientScope& s) {
  if (s.upstream().shape().rank == 0) return s.give(0, s.upstream());  // a scalar upstream represents equal elements
  Attributes a = s.attributes();
  a.ints[5] = 1;  // an element outside the result got no gradient
  a.reals[0] = 0;
  s.give(0, s.graph().shaped(op::slice, {s.full_upstream()}, s.input(0).shape(), a));
}
}  // namespace detail

}  // namespace crochet
