// SPDX-License-Identifier: Apache-2.0
// Shapes, parts and selections of tensors in ONNX. Only compiled halves include it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <crochet/export/onnx_bytes.ipp>
#include <crochet/export/onnx_elementwise.ipp>
#include <crochet/export/onnx_indices.ipp>
#include <crochet/export/onnx_slices.ipp>
#include <crochet/export/onnx_writer.ipp>
#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/graph/ops/top_k.hpp>
#include <crochet/graph/ops/transpose.hpp>

namespace crochet::detail {

inline std::string onnx_transpose(OnnxWriter& w, const ExportedNode& n) {
  return w.transpose(w.in(n, 0), OnnxInts(n.attributes.ints, n.attributes.ints + n.shape.rank));
}
inline std::string onnx_concat(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph::Names inputs;
  for (std::size_t k = 0; k < n.inputs.size(); ++k) inputs.push_back(w.in(n, k));
  return w.g.add("Concat", inputs, {{"axis", std::int64_t{n.attributes.ints[0]}}});
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
/// Start and step of integers are rounded towards 0, as by the CPU. Bytes are taken modulo 256.
inline std::string onnx_iota(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const auto wide = [&](double x) { return g.scalar(DType::float64, is_floating(n.dtype) ? x : std::trunc(x)); };
  const std::string x = w.cast(w.range(n.shape[0]), DType::int64, DType::float64);
  const std::string scaled = g.add("Mul", {x, wide(n.attributes.reals[1])});
  const std::string sum = g.add("Add", {scaled, wide(n.attributes.reals[0])});
  if (n.dtype == DType::uint8) return onnx_byte(w, w.cast(sum, DType::float64, DType::int32));
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
  if (n.op == &op::segment_sum) return onnx_segment_sum(w, n);
  if (n.op == &op::top_k) return onnx_top_k(w, n);
  if (n.op == &op::cumulative_sum) return onnx_cumulative_sum(w, n);
  if (n.op == &op::iota) return onnx_iota(w, n);
  if (n.op == &op::count) return onnx_count(w, n);
  if (n.op == &op::sparse_cross_entropy) return onnx_sparse_cross_entropy(w, n);
  if (n.op == &op::cross_entropy) return onnx_cross_entropy(w, n);
  return {};
}

}  // namespace crochet::detail
