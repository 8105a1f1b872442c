// SPDX-License-Identifier: Apache-2.0
// Slices and paddings in ONNX. Only compiled halves include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <crochet/export/onnx_indices.ipp>
#include <crochet/export/onnx_writer.ipp>
#include <crochet/graph/ops/pad.hpp>

namespace crochet::detail {

/// The position where a slice or padding begins, int64 [1].
inline std::string onnx_begin(OnnxWriter& w, const ExportedNode& n) {
  const Place begin = begin_of(n.attributes);
  if (begin.dynamic.factor == 0) return w.g.integers({begin.number});
  const std::string dynamic = w.size(begin.dynamic);
  return begin.number == 0 ? dynamic : w.g.add("Add", {dynamic, w.g.integers({begin.number})});
}
/// Positions begin, begin + step, ... of a dynamic dimension, which may be outside it.
inline std::string onnx_dynamic_slice(OnnxWriter& w, const ExportedNode& n, std::size_t axis) {
  const std::int64_t step = n.attributes.ints[1];
  std::string at = w.range(n.shape[axis]);
  if (step != 1) at = w.g.add("Mul", {at, w.g.integers({step})});
  at = w.g.add("Add", {at, onnx_begin(w, n)});
  const double missing = n.attributes.ints[5] != 0 ? 0 : onnx_invalid(n.dtype);
  return onnx_selected(w, n, axis, onnx_indices(w, at, w.input(n, 0).shape[axis]), 1, missing);
}
inline std::string onnx_slice(OnnxWriter& w, const ExportedNode& n) {
  const auto* a = n.attributes.ints;
  const auto axis = static_cast<std::size_t>(a[0]);
  const Extent from = w.input(n, 0).shape[axis];
  if (!from.is_static() || !n.shape[axis].is_static()) return onnx_dynamic_slice(w, n, axis);
  std::int64_t end = a[2] + n.shape[axis].factor * a[1];
  if (end < 0) end = std::numeric_limits<std::int64_t>::min();  // -1 would be the last element
  return w.g.add("Slice",
                 {w.in(n, 0), w.g.integers({a[2]}), w.g.integers({end}), w.g.integers({a[0]}), w.g.integers({a[1]})});
}

/// The position of the input's element at each position of the result; between elements it is -1.
inline std::string onnx_padded_positions(OnnxWriter& w, const ExportedNode& n, std::size_t axis) {
  OnnxGraph& g = w.g;
  const std::string distance = g.add("Sub", {w.range(n.shape[axis]), onnx_begin(w, n)});
  if (n.attributes.ints[1] == 1) return distance;
  const std::string step = g.integers({n.attributes.ints[1]}), at = g.add("Div", {distance, step});
  const std::string exact = g.add("Equal", {g.add("Mul", {at, step}), distance});
  return g.add("Where", {exact, at, g.scalar(DType::int64, -1)});
}
/// Pad, where sizes are static and no element is between others; else each element by its position.
inline std::string onnx_pad(OnnxWriter& w, const ExportedNode& n) {
  const auto* a = n.attributes.ints;
  const auto axis = static_cast<std::size_t>(a[0]);
  const Extent from = w.input(n, 0).shape[axis], to = n.shape[axis];
  const std::int64_t after = to.factor - from.factor - a[2];
  if (!to.is_static() || !from.is_static() || a[1] != 1 || a[2] < 0 || after < 0) {
    const OnnxIndices at = onnx_indices(w, onnx_padded_positions(w, n, axis), from);
    return onnx_selected(w, n, axis, at, 1, n.attributes.reals[0]);
  }
  OnnxInts pads(2 * n.shape.rank, 0);
  pads[axis] = a[2];
  pads[n.shape.rank + axis] = after;
  return w.g.add("Pad", {w.in(n, 0), w.g.integers(pads), w.g.scalar(n.dtype, n.attributes.reals[0])});
}

}  // namespace crochet::detail
