// SPDX-License-Identifier: Apache-2.0
// Shapes, parts and selections of tensors in ONNX. Only compiled halves include it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <crochet/export/onnx_elementwise.ipp>
#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/graph/ops/gather.hpp>
#include <crochet/graph/ops/pad.hpp>
#include <crochet/graph/ops/top_k.hpp>
#include <crochet/graph/ops/transpose.hpp>

namespace crochet::detail {

/// Slices of a dynamic dimension have no counterpart.
inline std::string onnx_slice(OnnxWriter& w, const ExportedNode& n) {
  const auto* a = n.attributes.ints;
  const auto axis = static_cast<std::size_t>(a[0]);
  if (!w.input(n, 0).shape[axis].is_static() || !n.shape[axis].is_static()) return {};
  std::int64_t end = a[2] + n.shape[axis].factor * a[1];
  if (end < 0) end = std::numeric_limits<std::int64_t>::min();  // -1 would be the last element
  return w.g.add("Slice",
                 {w.in(n, 0), w.g.integers({a[2]}), w.g.integers({end}), w.g.integers({a[0]}), w.g.integers({a[1]})});
}
/// Only of static dimensions, and not between elements.
inline std::string onnx_pad(OnnxWriter& w, const ExportedNode& n) {
  const auto* a = n.attributes.ints;
  const auto axis = static_cast<std::size_t>(a[0]);
  const Shape& from = w.input(n, 0).shape;
  if (!n.shape[axis].is_static() || !from[axis].is_static() || a[1] != 1 || a[2] < 0) return {};
  OnnxInts pads(2 * n.shape.rank, 0);
  pads[axis] = a[2];
  pads[n.shape.rank + axis] = n.shape[axis].factor - from[axis].factor - a[2];
  if (pads[n.shape.rank + axis] < 0) return {};
  return w.g.add("Pad", {w.in(n, 0), w.g.integers(pads), w.g.scalar(n.dtype, n.attributes.reals[0])});
}
inline std::string onnx_transpose(OnnxWriter& w, const ExportedNode& n) {
  return w.transpose(w.in(n, 0), OnnxInts(n.attributes.ints, n.attributes.ints + n.shape.rank));
}
inline std::string onnx_concat(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph::Names inputs;
  for (std::size_t k = 0; k < n.inputs.size(); ++k) inputs.push_back(w.in(n, k));
  return w.g.add("Concat", inputs, {{"axis", std::int64_t{n.attributes.ints[0]}}});
}

/// The result of an index outside the dimension.
inline double onnx_invalid(DType type) {
  if (is_floating(type)) return std::numeric_limits<double>::quiet_NaN();
  if (type == DType::int32) return std::numeric_limits<std::int32_t>::min();
  if (type == DType::int64) return static_cast<double>(std::numeric_limits<std::int64_t>::min());
  return type == DType::uint8 ? 255 : 1;
}
/// Indices as int64, and which of them are inside [0, n); the others are replaced by 0.
struct OnnxIndices {
  std::string safe, inside;
};
inline OnnxIndices onnx_indices(OnnxWriter& w, const ExportedNode& n, const Extent& size) {
  OnnxGraph& g = w.g;
  const std::string all = w.cast(w.in(n, 1), w.input(n, 1).dtype, DType::int64), zero = g.scalar(DType::int64, 0);
  const std::string end =
      size.is_static() ? g.scalar(DType::int64, static_cast<double>(size.factor)) : g.add("Squeeze", {w.size(size)});
  const std::string inside = g.add("And", {g.add("GreaterOrEqual", {all, zero}), g.add("Less", {all, end})});
  return {g.add("Where", {inside, all, zero}), inside};
}
inline std::string onnx_gather(OnnxWriter& w, const ExportedNode& n) {
  const std::int64_t axis = n.attributes.ints[0];
  const Shape &x = w.input(n, 0).shape, &ids = w.input(n, 1).shape;
  const OnnxIndices at = onnx_indices(w, n, x[static_cast<std::size_t>(axis)]);
  const std::string y = w.g.add("Gather", {w.in(n, 0), at.safe}, {{"axis", axis}});
  OnnxInts inner;
  for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < x.rank; ++i) {
    inner.push_back(static_cast<std::int64_t>(ids.rank + inner.size()));
  }
  const std::string inside = inner.empty() ? at.inside : w.g.add("Unsqueeze", {at.inside, w.g.integers(inner)});
  return onnx_where(w, inside, y, w.g.scalar(n.dtype, n.attributes.ints[2] != 0 ? 0 : onnx_invalid(n.dtype)), n.dtype);
}
inline std::string onnx_take_along_rows(OnnxWriter& w, const ExportedNode& n) {
  const Shape& x = w.input(n, 0).shape;
  const OnnxIndices at = onnx_indices(w, n, x[x.rank - 1]);
  const std::string y = w.g.add("GatherElements", {w.in(n, 0), at.safe}, {{"axis", std::int64_t{-1}}});
  return onnx_where(w, at.inside, y, w.g.scalar(n.dtype, 0), n.dtype);
}
inline std::string onnx_top_k(OnnxWriter& w, const ExportedNode& n) {
  const std::string values = w.g.add("TopK", {w.in(n, 0), w.g.integers({n.attributes.ints[0]})});
  const std::string indices = w.g.unique(values + "_indices");
  w.g.message().mutable_node(w.g.message().node_size() - 1)->add_output(indices);
  return w.cast(indices, DType::int64, DType::int32);
}
inline std::string onnx_cumulative_sum(OnnxWriter& w, const ExportedNode& n) {
  const auto* a = n.attributes.ints;
  return w.g.add("CumSum", {w.in(n, 0), w.g.scalar(DType::int64, a[0])},
                 {{"exclusive", std::int64_t{a[1]}}, {"reverse", std::int64_t{a[2]}}});
}
/// Start and step of integers are rounded towards 0, as by the CPU.
inline std::string onnx_iota(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const auto wide = [&](double x) { return g.scalar(DType::float64, is_floating(n.dtype) ? x : std::trunc(x)); };
  const std::string end = g.add("Squeeze", {w.size(n.shape[0])});
  const std::string i = g.add("Range", {g.scalar(DType::int64, 0), end, g.scalar(DType::int64, 1)});
  const std::string x = w.cast(i, DType::int64, DType::float64);
  const std::string scaled = g.add("Mul", {x, wide(n.attributes.reals[1])});
  const std::string sum = g.add("Add", {scaled, wide(n.attributes.reals[0])});
  return w.cast(sum, DType::float64, n.dtype);
}
/// A number of elements: ints are the powers of the dynamic dimensions.
inline std::string onnx_count(OnnxWriter& w, const ExportedNode& n) {
  Extent e(static_cast<std::int64_t>(n.attributes.reals[0]));
  for (std::size_t s = 0; s < max_symbols; ++s) {
    for (int p = n.attributes.ints[s]; p > 0; --p) e = e * Extent::symbol(s);
  }
  return w.cast(w.g.add("Squeeze", {w.size(e)}), DType::int64, n.dtype);
}
/// -log softmax at the label; NaN for a label outside.
inline std::string onnx_sparse_cross_entropy(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const Shape& logits = w.input(n, 0).shape;
  const OnnxIndices at = onnx_indices(w, n, logits[logits.rank - 1]);
  const std::string last = g.integers({-1}), log = g.add("LogSoftmax", {w.in(n, 0)}, {{"axis", std::int64_t{-1}}});
  const std::string one =
      g.add("GatherElements", {log, g.add("Unsqueeze", {at.safe, last})}, {{"axis", std::int64_t{-1}}});
  const std::string loss = g.add("Neg", {g.add("Squeeze", {one, last})});
  return g.add("Where", {at.inside, loss, g.scalar(n.dtype, onnx_invalid(n.dtype))});
}
inline std::string onnx_cross_entropy(OnnxWriter& w, const ExportedNode& n) {
  const std::string log = w.g.add("LogSoftmax", {w.in(n, 0)}, {{"axis", std::int64_t{-1}}});
  const std::string sum =
      w.g.add("ReduceSum", {w.g.add("Mul", {log, w.in(n, 1)}), w.g.integers({-1})}, {{"keepdims", std::int64_t{0}}});
  return w.g.add("Neg", {sum});
}

/// The result of one of these operations; empty if there is none.
inline std::string onnx_array(OnnxWriter& w, const ExportedNode& n) {
  if (n.op == &op::reshape) return w.reshape(w.in(n, 0), n.shape);
  if (n.op == &op::broadcast_to) return w.g.add("Expand", {w.in(n, 0), w.sizes(n.shape)});
  if (n.op == &op::transpose) return onnx_transpose(w, n);
  if (n.op == &op::slice) return onnx_slice(w, n);
  if (n.op == &op::pad) return onnx_pad(w, n);
  if (n.op == &op::concat) return onnx_concat(w, n);
  if (n.op == &op::gather) return onnx_gather(w, n);
  if (n.op == &op::take_along_rows) return onnx_take_along_rows(w, n);
  if (n.op == &op::top_k) return onnx_top_k(w, n);
  if (n.op == &op::cumulative_sum) return onnx_cumulative_sum(w, n);
  if (n.op == &op::iota) return onnx_iota(w, n);
  if (n.op == &op::count) return onnx_count(w, n);
  if (n.op == &op::sparse_cross_entropy) return onnx_sparse_cross_entropy(w, n);
  if (n.op == &op::cross_entropy) return onnx_cross_entropy(w, n);
  return {};
}

}  // namespace crochet::detail
