// SPDX-License-Identifier: Apache-2.0
// Elements by index in ONNX. Only compiled halves include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <crochet/export/onnx_elementwise.ipp>
#include <crochet/export/onnx_writer.ipp>
#include <crochet/graph/ops/gather.hpp>
#include <crochet/graph/ops/top_k.hpp>

namespace crochet::detail {

/// The result of an index outside the dimension.
inline double onnx_invalid(DType type) {
  if (is_floating(computed_as(type))) return std::numeric_limits<double>::quiet_NaN();
  if (type == DType::int32) return std::numeric_limits<std::int32_t>::min();
  if (type == DType::int64) return static_cast<double>(std::numeric_limits<std::int64_t>::min());
  return type == DType::uint8 ? 255 : 1;
}
/// Indices as int64, and which of them are inside [0, n); the others are replaced by 0.
struct OnnxIndices {
  std::string safe, inside;
};
inline OnnxIndices onnx_indices(OnnxWriter& w, const std::string& all, const Extent& size) {
  OnnxGraph& g = w.g;
  const std::string zero = g.scalar(DType::int64, 0);
  const std::string end =
      size.is_static() ? g.scalar(DType::int64, static_cast<double>(size.factor)) : g.add("Squeeze", {w.size(size)});
  const std::string inside = g.add("And", {g.add("GreaterOrEqual", {all, zero}), g.add("Less", {all, end})});
  return {g.add("Where", {inside, all, zero}), inside};
}
/// Those of input 1.
inline OnnxIndices onnx_indices(OnnxWriter& w, const ExportedNode& n, const Extent& size) {
  return onnx_indices(w, w.cast(w.in(n, 1), w.input(n, 1).dtype, DType::int64), size);
}
/// The slices of input 0 at indices of that rank; `missing` for those outside.
inline std::string onnx_selected(OnnxWriter& w, const ExportedNode& n, std::size_t axis, const OnnxIndices& at,
                                 std::size_t rank, double missing) {
  const std::string y = w.g.add("Gather", {w.in(n, 0), at.safe}, {{"axis", static_cast<std::int64_t>(axis)}});
  OnnxInts inner;
  for (std::size_t i = axis + 1; i < w.input(n, 0).shape.rank; ++i) {
    inner.push_back(static_cast<std::int64_t>(rank + inner.size()));
  }
  const std::string inside = inner.empty() ? at.inside : w.g.add("Unsqueeze", {at.inside, w.g.integers(inner)});
  return onnx_where(w, inside, y, w.g.scalar(n.dtype, missing), n.dtype);
}
inline std::string onnx_gather(OnnxWriter& w, const ExportedNode& n) {
  const auto axis = static_cast<std::size_t>(n.attributes.ints[0]);
  const OnnxIndices at = onnx_indices(w, n, w.input(n, 0).shape[axis]);
  return onnx_selected(w, n, axis, at, w.input(n, 1).shape.rank, n.attributes.ints[2] != 0 ? 0 : onnx_invalid(n.dtype));
}
inline std::string onnx_take_along_rows(OnnxWriter& w, const ExportedNode& n) {
  const Shape& x = w.input(n, 0).shape;
  const OnnxIndices at = onnx_indices(w, n, x[x.rank - 1]);
  const std::string y = w.g.add("GatherElements", {w.in(n, 0), at.safe}, {{"axis", std::int64_t{-1}}});
  return onnx_where(w, at.inside, y, w.g.scalar(n.dtype, 0), n.dtype);
}
/// Values [outer, count, inner] are added to zeros [outer, n, inner]; those with an index outside are 0.
inline std::string onnx_segment_sum(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const auto axis = static_cast<std::size_t>(n.attributes.ints[0]);
  const Extent count = w.input(n, 1).shape.size(), outer = n.shape.product(0, axis),
               inner = n.shape.product(axis + 1, n.shape.rank);
  const Shape values{outer, count, inner}, sums{outer, n.shape[axis], inner}, column{count, 1};
  const OnnxIndices at = onnx_indices(w, n, n.shape[axis]);
  const std::string zero = g.scalar(n.dtype, 0), ids = w.reshape(at.safe, column), x = w.reshape(w.in(n, 0), values);
  const std::string used = g.add("Where", {w.reshape(at.inside, column), x, zero});
  const std::string added =
      g.add("ScatterElements", {g.add("Expand", {zero, w.sizes(sums)}), g.add("Expand", {ids, w.sizes(values)}), used},
            {{"axis", std::int64_t{1}}, {"reduction", std::string("add")}});
  return w.reshape(added, n.shape);
}

}  // namespace crochet::detail
