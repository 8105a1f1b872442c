// SPDX-License-Identifier: Apache-2.0
// Products, windows, reductions, softmax, normalization and attention in ONNX. Only compiled halves include it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <crochet/export/onnx_elementwise.ipp>
#include <crochet/graph/ops/attention.hpp>
#include <crochet/graph/ops/batched_matmul.hpp>
#include <crochet/graph/ops/conv.hpp>
#include <crochet/graph/ops/depthwise.hpp>
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/graph/ops/pool.hpp>
#include <crochet/graph/ops/reductions.hpp>
#include <crochet/graph/ops/softmax.hpp>

namespace crochet::detail {

/// The order of axes that exchanges the last two.
inline OnnxInts onnx_swapped(std::size_t rank) {
  OnnxInts order;
  for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}
inline std::string onnx_product(OnnxWriter& w, const ExportedNode& n) {
  std::string operands[2];
  for (std::size_t k = 0; k < 2; ++k) {
    operands[k] = w.cast(w.in(n, k), w.input(n, k).dtype, n.dtype);
    if (n.attributes.ints[k] != 0) operands[k] = w.transpose(operands[k], onnx_swapped(w.input(n, k).shape.rank));
  }
  return w.g.add("MatMul", {operands[0], operands[1]});
}

/// Attributes of windows on NCHW images. Padding: ceil(n / stride) positions, an odd element at the end.
inline std::vector<OnnxAttribute> onnx_window(const ExportedNode& image, const ExportedNode& n) {
  const auto* a = n.attributes.ints;
  OnnxInts pads(4, 0);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t extent = (a[i] - std::int64_t{1}) * a[5 + i] + 1, stride = a[2 + i];
    const std::int64_t covered = (n.shape[1 + i].factor - 1) * stride + extent;
    const std::int64_t padding = std::max<std::int64_t>(covered - image.shape[1 + i].factor, 0);
    if (static_cast<Padding>(a[4]) == Padding::valid) continue;
    pads[i] = padding / 2;
    pads[2 + i] = padding - padding / 2;
  }
  return {{"kernel_shape", OnnxInts{a[0], a[1]}}, {"strides", OnnxInts{a[2], a[3]}}, {"pads", pads}};
}
inline std::string onnx_conv(OnnxWriter& w, const ExportedNode& n) {
  const ExportedNode &image = w.input(n, 0), &filter = w.input(n, 1);
  const bool depthwise = n.op == &op::depthwise_conv2d;
  auto attributes = onnx_window(image, n);
  attributes.push_back({"dilations", OnnxInts{n.attributes.ints[5], n.attributes.ints[6]}});
  // HWIO to OIHW; the filters of a depthwise one are those of `group` convolutions.
  std::string turned = w.transpose(w.in(n, 1), depthwise ? OnnxInts{2, 3, 0, 1} : OnnxInts{3, 2, 0, 1});
  if (depthwise) {
    const Shape& f = filter.shape;
    attributes.push_back({"group", f[2].factor});
    turned = w.reshape(turned, OnnxInts{f[2].factor * f[3].factor, 1, f[0].factor, f[1].factor});
  }
  const std::string y = w.g.add("Conv", {w.transpose(w.in(n, 0), {0, 3, 1, 2}), turned}, attributes);
  return w.transpose(y, {0, 2, 3, 1});
}
inline std::string onnx_pool(OnnxWriter& w, const ExportedNode& n) {
  auto attributes = onnx_window(w.input(n, 0), n);
  if (n.op == &op::mean_pool) attributes.push_back({"count_include_pad", std::int64_t{0}});
  const std::string op = n.op == &op::mean_pool ? "AveragePool" : "MaxPool";
  return w.transpose(w.g.add(op, {w.transpose(w.in(n, 0), {0, 3, 1, 2})}, attributes), {0, 2, 3, 1});
}

inline OnnxInts onnx_axes(const ExportedNode& n) {
  OnnxInts axes;
  for (std::int64_t i = 0; i < 31; ++i) {
    if (((static_cast<unsigned>(n.attributes.ints[0]) >> i) & 1U) != 0) axes.push_back(i);
  }
  return axes;
}
inline std::string onnx_reduced(OnnxWriter& w, const std::string& op, const std::string& x, const OnnxInts& axes,
                                std::int64_t keep) {
  if (op == "ReduceSum") return w.g.add(op, {x, w.g.integers(axes)}, {{"keepdims", keep}});
  return w.g.add(op, {x}, {{"axes", axes}, {"keepdims", keep}});
}
/// Whether any, or no, element is true: the number of them.
inline std::string onnx_logical_reduction(OnnxWriter& w, const ExportedNode& n) {
  const bool all = n.op == &op::reduce_all;
  const std::string x = all ? w.g.add("Not", {w.in(n, 0)}) : w.in(n, 0);
  const std::string count =
      onnx_reduced(w, "ReduceSum", w.cast(x, DType::boolean, DType::int32), onnx_axes(n), n.attributes.ints[1]);
  return w.g.add(all ? "Equal" : "Greater", {count, w.g.scalar(DType::int32, 0)});
}
/// A reduction; empty if there is none.
inline std::string onnx_reduction(OnnxWriter& w, const ExportedNode& n) {
  if (n.op == &op::reduce_any || n.op == &op::reduce_all) return onnx_logical_reduction(w, n);
  const std::int64_t keep = n.attributes.ints[1];
  if (n.op == &op::argmax || n.op == &op::argmin) {
    const std::string op = n.op == &op::argmax ? "ArgMax" : "ArgMin";
    const std::string y = w.g.add(op, {w.in(n, 0)}, {{"axis", onnx_axes(n)[0]}, {"keepdims", keep}});
    return w.cast(y, DType::int64, DType::int32);
  }
  std::string op;
  if (n.op == &op::reduce_sum) op = "ReduceSum";
  if (n.op == &op::reduce_mean) op = "ReduceMean";
  if (n.op == &op::reduce_max) op = "ReduceMax";
  if (n.op == &op::reduce_min) op = "ReduceMin";
  if (n.op == &op::reduce_prod) op = "ReduceProd";
  if (op.empty()) return {};
  return onnx_reduced(w, op, w.in(n, 0), onnx_axes(n), keep);
}

inline std::string onnx_softmax(OnnxWriter& w, const ExportedNode& n) {
  const std::int64_t axis = n.attributes.ints[0];
  if (n.op == &op::softmax) return w.g.add("Softmax", {w.in(n, 0)}, {{"axis", axis}});
  if (n.op == &op::log_softmax) return w.g.add("LogSoftmax", {w.in(n, 0)}, {{"axis", axis}});
  return onnx_reduced(w, "ReduceLogSumExp", w.in(n, 0), {axis}, n.attributes.ints[1]);
}

/// x / sqrt(mean(x^2) + epsilon), with the mean over the axes.
inline std::string onnx_scaled(OnnxWriter& w, const std::string& x, const ExportedNode& n, const OnnxInts& axes) {
  OnnxGraph& g = w.g;
  const std::string mean = onnx_reduced(w, "ReduceMean", g.add("Mul", {x, x}), axes, 1);
  const std::string variance = g.add("Add", {mean, g.scalar(n.dtype, n.attributes.reals[0])});
  return g.add("Div", {x, g.add("Sqrt", {variance})});
}
/// The same of x - mean(x).
inline std::string onnx_normalized(OnnxWriter& w, const std::string& x, const ExportedNode& n, const OnnxInts& axes) {
  return onnx_scaled(w, w.g.add("Sub", {x, onnx_reduced(w, "ReduceMean", x, axes, 1)}), n, axes);
}
/// The inputs are x, its moments, gamma and, except in rms_norm, beta. LayerNormalization computes in float.
inline std::string onnx_row_norm(OnnxWriter& w, const ExportedNode& n) {
  const std::string x = w.in(n, 0);
  if (n.op == &op::rms_norm) return w.g.add("Mul", {onnx_scaled(w, x, n, {-1}), w.in(n, 2)});
  if (n.dtype == DType::float32) {
    return w.g.add("LayerNormalization", {x, w.in(n, 2), w.in(n, 3)},
                   {{"axis", std::int64_t{-1}}, {"epsilon", static_cast<float>(n.attributes.reals[0])}});
  }
  return w.g.add("Add", {w.g.add("Mul", {onnx_normalized(w, x, n, {-1}), w.in(n, 2)}), w.in(n, 3)});
}
inline std::string onnx_group_norm(OnnxWriter& w, const ExportedNode& n) {
  const std::int64_t groups = n.attributes.ints[0], channels = n.shape[n.shape.rank - 1].factor;
  const std::string x = w.reshape(w.in(n, 0), OnnxInts{0, -1, groups, channels / groups});
  const std::string y = w.reshape(onnx_normalized(w, x, n, {1, 3}), n.shape);
  return w.g.add("Add", {w.g.add("Mul", {y, w.in(n, 1)}), w.in(n, 2)});
}

/// Part 0, 1 or 2 (q, k, v) of qkv [batch, length, 3 d], by head: [batch, heads, length, d / heads].
inline std::string onnx_heads(OnnxWriter& w, const std::string& qkv, const Shape& shape, const ExportedNode& n,
                              std::int64_t part, const OnnxInts& order) {
  const std::int64_t width = shape[2].factor / 3, heads = n.attributes.ints[0];
  const OnnxGraph::Names range{qkv, w.g.integers({part * width}), w.g.integers({(part + 1) * width}),
                               w.g.integers({2})};
  return w.transpose(w.reshape(w.g.add("Slice", range), OnnxInts{0, 0, heads, width / heads}), order);
}
/// -infinity where the key is behind the query.
inline std::string onnx_masked(OnnxWriter& w, const std::string& scores, const Extent& length, DType type) {
  OnnxGraph& g = w.g;
  const std::string keys = w.range(length);
  const std::string behind = g.add("Greater", {keys, g.add("Unsqueeze", {keys, g.integers({1})})});
  return g.add("Where", {behind, g.scalar(type, -std::numeric_limits<double>::infinity()), scores});
}
inline std::string onnx_probabilities(OnnxWriter& w, const ExportedNode& n, const std::string& qkv,
                                      const Shape& shape) {
  const double width = static_cast<double>(shape[2].factor) / (3.0 * n.attributes.ints[0]);
  const std::string q = onnx_heads(w, qkv, shape, n, 0, {0, 2, 1, 3}),
                    k = onnx_heads(w, qkv, shape, n, 1, {0, 2, 3, 1});
  std::string scores = w.g.add("MatMul", {w.g.add("Mul", {q, w.g.scalar(n.dtype, 1 / std::sqrt(width))}), k});
  if (n.attributes.ints[1] != 0) scores = onnx_masked(w, scores, shape[1], n.dtype);
  return w.g.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
}
inline std::string onnx_attention(OnnxWriter& w, const ExportedNode& n) {
  const bool mix = n.op == &op::attention_mix;
  const std::string qkv = w.in(n, mix ? 1 : 0);
  const Shape& shape = w.input(n, mix ? 1 : 0).shape;
  const std::string p = mix ? w.in(n, 0) : onnx_probabilities(w, n, qkv, shape);
  if (n.op == &op::attention_probabilities) return p;
  const std::string y = w.g.add("MatMul", {p, onnx_heads(w, qkv, shape, n, 2, {0, 2, 1, 3})});
  return w.reshape(w.transpose(y, {0, 2, 1, 3}), OnnxInts{0, 0, n.shape[2].factor});
}

/// The result of one of these operations; empty if there is none.
inline std::string onnx_kernel(OnnxWriter& w, const ExportedNode& n) {
  if (n.op == &op::matmul || n.op->name == "batched_matmul") return onnx_product(w, n);
  if (n.op == &op::conv2d || n.op == &op::depthwise_conv2d) return onnx_conv(w, n);
  if (n.op == &op::max_pool || n.op == &op::mean_pool) return onnx_pool(w, n);
  if (n.op == &op::softmax || n.op == &op::log_softmax || n.op == &op::logsumexp) return onnx_softmax(w, n);
  if (n.op == &op::layer_norm || n.op == &op::rms_norm) return onnx_row_norm(w, n);
  if (n.op == &op::group_norm) return onnx_group_norm(w, n);
  if (n.op == &op::self_attention || n.op == &op::attention_mix || n.op == &op::attention_probabilities) {
    return onnx_attention(w, n);
  }
  return onnx_reduction(w, n);
}

}  // namespace crochet::detail
