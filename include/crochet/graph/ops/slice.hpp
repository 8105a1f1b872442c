// SPDX-License-Identifier: Apache-2.0
// Parts of a tensor along an axis, and their counterpart: a tensor with room around and between its elements.
#pragma once
#include <array>

#include <crochet/graph/ops/views.hpp>

namespace crochet {

namespace detail {
/// A place along an axis, or a distance: a number and a multiple of dynamic dimensions.
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
    const bool number = a.dynamic.factor == 0 && b.dynamic.factor == 0;
    return a.number == b.number && (number || a.dynamic == b.dynamic);
  }
  /// As a dimension: a number or a multiple of dynamic dimensions, but not their sum.
  constexpr Extent extent() const {
    if (dynamic.factor == 0) return number;
    if (number != 0) graph_error::dimension_is_a_sum_with_a_dynamic_one();
    return dynamic;
  }
};

/// The elements begin, begin + step, ... along an axis, as the attributes of op::slice and op::pad.
constexpr Attributes along(std::size_t axis, const Place& begin, std::int64_t step = 1) {
  return {.ints = {static_cast<std::int32_t>(axis), static_cast<std::int32_t>(step),
                   static_cast<std::int32_t>(begin.number), static_cast<std::int32_t>(begin.dynamic.factor),
                   static_cast<std::int32_t>(begin.dynamic.powers)}};
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
/// [..., n, ...] -> [..., m, ...]: element i along the axis is the input's at begin + i * step. ints = {axis, step,
/// begin's number, factor and powers of its dynamic part, what becomes of a place outside [0, n), which only a dynamic
/// dimension can bring about: 0: it is invalid (NaN; of integers the lowest, of unsigned ones the greatest; true), 1:
/// it is 0}.
inline constexpr Op slice{"slice", OpKind::kernel, nullptr, detail::gradient_of_slice, -1, detail::items_along};
/// [..., m, ...] -> [..., n, ...]: element i of the input goes to begin + i * step along the axis, unless that is
/// outside [0, n); all others are reals[0]. ints as op::slice's. (XLA's Pad has this interior padding too.)
inline constexpr Op pad{"pad", OpKind::kernel, nullptr, detail::gradient_of_pad, -1, detail::items_along};
}  // namespace op

namespace detail {
/// Elements begin, begin + step, ... of x along an axis, `size` of them.
constexpr Tensor part(Tensor x, std::size_t axis, const Place& begin, const Extent& size, std::int64_t step = 1) {
  Shape shape = x.shape();
  if (shape[axis] == size && step == 1) return x;
  shape[axis] = size;
  return x.graph->shaped(op::slice, {x}, shape, along(axis, begin, step));
}

/// How many steps it takes from `from` to `to`, rounded up.
constexpr Extent steps(const Place& from, const Place& to, std::int64_t step) {
  const Place distance = (to + from * -1) * (step < 0 ? -1 : 1);
  const std::int64_t width = step < 0 ? -step : step;
  if (distance.dynamic.factor == 0) return (distance.number + width - 1) / width;
  if (!divides(width, distance.extent())) graph_error::dimension_is_a_sum_with_a_dynamic_one();
  return distance.extent() / width;
}
/// Elements of x from `begin` to `end` along an axis; counting downwards, `end` is at least -1.
constexpr Tensor between(Tensor x, std::size_t axis, const Place& begin, const Place& end, std::int64_t step) {
  if (step == 0) graph_error::step_is_zero();
  const Extent n = x.shape()[axis];
  const std::int64_t down = step < 0 ? 1 : 0;
  const Place low = step < 0 ? end : begin, high = step < 0 ? begin : end, distance = high + low * -1;
  const bool outside = n.is_static() && (low.number < -down || high.number > n.factor - down);
  if (outside || (distance.dynamic.factor == 0 && distance.number < 0)) {
    graph_error::slice_is_out_of_bounds(begin.number, end.number, n.factor);
  }
  return part(x, axis, begin, steps(begin, end, step), step);
}
/// A place as the user gives it: below 0 it counts from the end.
constexpr Place place(std::int64_t i, const Extent& n) { return i < 0 ? Place::of(n) + Place{i, 0} : Place{i, 0}; }
}  // namespace detail

/// For slice(): up to and including the last element (counting downwards, the first).
inline constexpr std::int64_t to_end = INT64_MAX;

/// Elements from, from + step, ... of x along an axis, up to but not including `to`: x[..., from:to:step, ...] in
/// numpy. Places below 0 count from the end. Unlike in numpy and TensorFlow, a place outside the dimension is an error.
/// A dynamic dimension can be sliced where the size is known: all of it, a fraction of it, or a number of elements (the
/// last three: from = -3). If it then turns out to be smaller than that, missing elements are NaN (of integers the
/// lowest value, of unsigned ones the greatest, true), and get no gradient.
constexpr Tensor slice(Tensor x, int axis, std::int64_t from, std::int64_t to = to_end, std::int64_t step = 1) {
  const std::size_t at = detail::axis_of(x.shape().rank, axis);
  const Extent n = x.shape()[at];
  const detail::Place last = step < 0 ? detail::Place{-1, 0} : detail::Place::of(n);
  return detail::between(x, at, detail::place(from, n), to == to_end ? last : detail::place(to, n), step);
}

/// The block of x that begins at these indices and has these sizes, one of each for every axis (tf.slice). An index
/// below 0 counts from the end; the size `rest` means up to the end.
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

/// Parts of x of the given sizes along an axis; together they must be all of it (tf.split).
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

/// The N slices of x along an axis of that size, which is gone from them (tf.unstack).
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
  if (s.upstream().shape().rank == 0) return s.give(0, s.upstream());  // one number stands for equal elements
  Attributes a = s.attributes();
  a.ints[5] = 1;  // an element that had no place got no gradient
  a.reals[0] = 0;
  s.give(0, s.graph().shaped(op::slice, {s.full_upstream()}, s.input(0).shape(), a));
}
}  // namespace detail

}  // namespace crochet
