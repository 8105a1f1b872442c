// SPDX-License-Identifier: Apache-2.0
// Functions of elements that are several operators in ONNX. Only compiled halves include it.
#pragma once

#include <numbers>
#include <string>

#include <crochet/export/onnx_writer.ipp>
#include <crochet/graph/ops/loss.hpp>

namespace crochet::detail {

/// tanh(x / 2) (e^x + 1), which is exact for small x too.
inline std::string onnx_expm1(OnnxWriter& w, const std::string& x, DType t) {
  const std::string half = w.g.add("Tanh", {w.g.add("Mul", {x, w.g.scalar(t, 0.5)})});
  return w.g.add("Mul", {half, w.g.add("Add", {w.g.add("Exp", {x}), w.g.scalar(t, 1)})});
}
/// With u = 1 + x: log(u) x / (u - 1) for small x, where the rounding errors of u cancel, else log(u). Source:
/// Goldberg, ACM Computing Surveys 23, 1991, theorem 4.
inline std::string onnx_log1p(OnnxWriter& w, const std::string& x, DType t) {
  OnnxGraph& g = w.g;
  const std::string one = g.scalar(t, 1), u = g.add("Add", {x, one}), log = g.add("Log", {u});
  const std::string small = g.add("Div", {g.add("Mul", {log, x}), g.add("Sub", {u, one})});
  const std::string near = g.add("Where", {g.add("Equal", {u, one}), x, small});
  return g.add("Where", {g.add("Less", {g.add("Abs", {x}), g.scalar(t, 0.5)}), near, log});
}
/// max(z, 0) - z p + log(1 + exp(-|z|)).
inline std::string onnx_sigmoid_cross_entropy(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const std::string z = w.in(n, 0);
  const std::string tail = onnx_log1p(w, g.add("Exp", {g.add("Neg", {g.add("Abs", {z})})}), n.dtype);
  return g.add("Add", {g.add("Sub", {g.add("Relu", {z}), g.add("Mul", {z, w.in(n, 1)})}), tail});
}

/// Whether x has a minus sign, also for -0: its reciprocal is below 0.
inline std::string onnx_has_minus(OnnxWriter& w, const std::string& x, DType t) {
  OnnxGraph& g = w.g;
  const std::string zero = g.scalar(t, 0), below = g.add("Less", {x, zero});
  return g.add("Or", {below, g.add("Less", {g.add("Div", {g.scalar(t, 1), x}), zero})});
}
/// atan(y / x), and pi with the sign of y where x has a minus sign. Of two zeros y / 1 is used, of two infinities the
/// quotient of their signs. Zeros are last in each Where: onnxruntime's loses the sign of a zero before.
inline std::string onnx_atan2(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const std::string y = w.in(n, 0), x = w.in(n, 1), zero = g.scalar(n.dtype, 0);
  const auto pi = [&](double sign) { return g.scalar(n.dtype, sign * std::numbers::pi); };
  const std::string zeros = g.add("And", {g.add("Equal", {y, zero}), g.add("Equal", {x, zero})});
  const std::string infinities = g.add("And", {g.add("IsInf", {y}), g.add("IsInf", {x})});
  const std::string above = g.add("Where", {infinities, g.add("Sign", {y}), y});
  const std::string some = g.add("Where", {zeros, g.scalar(n.dtype, 1), x});
  const std::string below = g.add("Where", {infinities, g.add("Sign", {x}), some});
  const std::string angle = g.add("Atan", {g.add("Div", {above, below})});
  const std::string turn = g.add("Where", {onnx_has_minus(w, y, n.dtype), pi(-1), pi(1)});
  return g.add("Where", {onnx_has_minus(w, x, n.dtype), g.add("Add", {angle, turn}), angle});
}

}  // namespace crochet::detail
