// SPDX-License-Identifier: Apache-2.0
// Elementwise operations in ONNX. Only compiled halves include it.
#pragma once

#include <map>
#include <string>

#include <crochet/export/onnx_divisions.ipp>
#include <crochet/export/onnx_functions.ipp>
#include <crochet/export/onnx_writer.ipp>
#include <crochet/graph/ops/activations.hpp>
#include <crochet/graph/ops/control.hpp>

namespace crochet::detail {

/// Operations with one counterpart of the same meaning.
inline const std::map<const Op*, std::string>& onnx_counterparts() {
  static const std::map<const Op*, std::string> all{
      {&op::add, "Add"},         {&op::sub, "Sub"},         {&op::mul, "Mul"},           {&op::neg, "Neg"},
      {&op::abs, "Abs"},         {&op::sign, "Sign"},       {&op::exp, "Exp"},           {&op::log, "Log"},
      {&op::sqrt, "Sqrt"},       {&op::pow, "Pow"},         {&op::sin, "Sin"},           {&op::cos, "Cos"},
      {&op::asin, "Asin"},       {&op::acos, "Acos"},       {&op::atan, "Atan"},         {&op::asinh, "Asinh"},
      {&op::acosh, "Acosh"},     {&op::atanh, "Atanh"},     {&op::erf, "Erf"},           {&op::tanh, "Tanh"},
      {&op::sigmoid, "Sigmoid"}, {&op::relu, "Relu"},       {&op::softplus, "Softplus"}, {&op::maximum, "Max"},
      {&op::minimum, "Min"},     {&op::logical_and, "And"}, {&op::logical_or, "Or"},     {&op::logical_xor, "Xor"},
      {&op::logical_not, "Not"}};
  return all;
}
inline const std::map<const Op*, std::string>& onnx_comparisons() {
  static const std::map<const Op*, std::string> all{{&op::equal, "Equal"},     {&op::not_equal, "Equal"},
                                                    {&op::less, "Less"},       {&op::less_equal, "LessOrEqual"},
                                                    {&op::greater, "Greater"}, {&op::greater_equal, "GreaterOrEqual"}};
  return all;
}

/// Of bools and bytes as int32, which all runtimes compare.
inline std::string onnx_comparison(OnnxWriter& w, const ExportedNode& n, const std::string& op) {
  const DType type = w.input(n, 0).dtype;
  const DType wide = size_of(type) == 1 ? DType::int32 : type;
  const std::string y = w.g.add(op, {w.cast(w.in(n, 0), type, wide), w.cast(w.in(n, 1), type, wide)});
  return n.op == &op::not_equal ? w.g.add("Not", {y}) : y;
}
inline std::string onnx_where(OnnxWriter& w, const std::string& condition, const std::string& a, const std::string& b,
                              DType type) {
  if (type != DType::boolean) return w.g.add("Where", {condition, a, b});
  const std::string y = w.g.add("Where", {condition, w.cast(a, type, DType::uint8), w.cast(b, type, DType::uint8)});
  return w.cast(y, DType::uint8, type);
}
inline std::string onnx_rounding(OnnxWriter& w, const ExportedNode& n) {
  const std::string x = w.in(n, 0);
  if (!is_floating(n.dtype)) return x;
  if (n.op == &op::floor) return w.g.add("Floor", {x});
  if (n.op == &op::ceil) return w.g.add("Ceil", {x});
  if (n.op == &op::round) return w.g.add("Round", {x});
  return w.g.add("Mul", {w.g.add("Sign", {x}), w.g.add("Floor", {w.g.add("Abs", {x})})});
}
/// The result of an elementwise operation; empty if there is none.
inline std::string onnx_elementwise(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const auto compared = onnx_comparisons().find(n.op);
  if (compared != onnx_comparisons().end()) return onnx_comparison(w, n, compared->second);
  if (n.op == &op::cast) return w.cast(w.in(n, 0), w.input(n, 0).dtype, n.dtype);
  if (n.op == &op::select) return onnx_where(w, w.in(n, 0), w.in(n, 1), w.in(n, 2), n.dtype);
  if (n.op == &op::identity || n.op == &op::stop_gradient) return w.in(n, 0);
  if (n.op == &op::div || n.op == &op::floor_divide || n.op == &op::mod) return onnx_division(w, n);
  if (n.op == &op::relu && !is_floating(n.dtype)) return g.add("Max", {w.in(n, 0), g.scalar(n.dtype, 0)});
  const auto same = onnx_counterparts().find(n.op);
  if (same != onnx_counterparts().end()) {
    OnnxGraph::Names inputs;
    for (std::size_t k = 0; k < n.inputs.size(); ++k) inputs.push_back(w.in(n, k));
    return g.add(same->second, inputs);
  }
  if (n.op == &op::floor || n.op == &op::ceil || n.op == &op::round || n.op == &op::trunc) return onnx_rounding(w, n);
  if (n.op == &op::square) return g.add("Mul", {w.in(n, 0), w.in(n, 0)});
  if (n.op == &op::rsqrt) return g.add("Reciprocal", {g.add("Sqrt", {w.in(n, 0)})});
  if (n.op == &op::erfc) return g.add("Sub", {g.scalar(n.dtype, 1), g.add("Erf", {w.in(n, 0)})});
  if (n.op == &op::expm1) return onnx_expm1(w, w.in(n, 0), n.dtype);
  if (n.op == &op::log1p) return onnx_log1p(w, w.in(n, 0), n.dtype);
  if (n.op == &op::atan2) return onnx_atan2(w, n);
  if (n.op == &op::sigmoid_cross_entropy) return onnx_sigmoid_cross_entropy(w, n);
  return {};
}

}  // namespace crochet::detail
