// SPDX-License-Identifier: Apache-2.0
// Arithmetic on bytes in ONNX as int32, modulo 256, and moves of bfloat16 as floats, since runtimes have few operators
// for these types. Only compiled halves include it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <crochet/export/onnx_writer.ipp>
#include <crochet/graph/ops/activations.hpp>
#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/graph/ops/gather.hpp>
#include <crochet/graph/ops/reductions.hpp>
#include <crochet/graph/ops/top_k.hpp>

namespace crochet::detail {

/// An int32 modulo 256, as uint8.
inline std::string onnx_byte(OnnxWriter& w, const std::string& x) {
  return w.cast(w.g.add("Mod", {x, w.g.scalar(DType::int32, 256)}), DType::int32, DType::uint8);
}
/// Whether a node computes with the numbers of bytes; others compare, convert or move them.
inline bool onnx_computes_on_bytes(OnnxWriter& w, const ExportedNode& n) {
  static constexpr const Op* arithmetic[] = {
      &op::add,     &op::sub,        &op::mul,         &op::div,           &op::floor_divide, &op::mod,
      &op::neg,     &op::abs,        &op::sign,        &op::square,        &op::relu,         &op::maximum,
      &op::minimum, &op::reduce_sum, &op::reduce_max,  &op::reduce_min,    &op::reduce_prod,  &op::argmax,
      &op::argmin,  &op::top_k,      &op::segment_sum, &op::cumulative_sum};
  if (n.inputs.empty() || w.input(n, 0).dtype != DType::uint8) return false;
  return std::find(std::begin(arithmetic), std::end(arithmetic), n.op) != std::end(arithmetic);
}
/// rule(w, node) with the type `wide` in place of `from`, also of its result.
template <class Rule>
std::string onnx_with(DType wide, DType from, OnnxWriter& w, const ExportedNode& n, Rule rule) {
  ExportedNode as = n;
  if (n.dtype == from) as.dtype = wide;
  std::vector<std::pair<int, std::string>> narrow;
  for (std::size_t k = 0; k < n.inputs.size(); ++k) {
    const int in = n.inputs[k];
    const bool done = std::any_of(narrow.begin(), narrow.end(), [in](const auto& v) { return v.first == in; });
    if (done || w.input(n, k).dtype != from) continue;
    narrow.emplace_back(in, w.in(n, k));
    w.value(in) = w.cast(w.in(n, k), from, wide);
  }
  std::string y = rule(w, as);
  for (const auto& [in, name] : narrow) w.value(in) = name;
  return y;
}
template <class Rule>
std::string onnx_of_bytes(OnnxWriter& w, const ExportedNode& n, Rule rule) {
  const std::string y = onnx_with(DType::int32, DType::uint8, w, n, rule);
  return y.empty() || n.dtype != DType::uint8 ? y : onnx_byte(w, y);
}
/// Whether a node moves elements of bfloat16.
inline bool onnx_moves_bfloat16(const ExportedNode& n) {
  return n.dtype == DType::bfloat16 && n.op->kind != OpKind::view && n.op != &op::cast;
}
template <class Rule>
std::string onnx_of_bfloat16(OnnxWriter& w, const ExportedNode& n, Rule rule) {
  const std::string y = onnx_with(DType::float32, DType::bfloat16, w, n, rule);
  return y.empty() ? y : w.cast(y, DType::float32, DType::bfloat16);
}

}  // namespace crochet::detail
