// SPDX-License-Identifier: Apache-2.0
// Quotients and remainders in ONNX. Only compiled halves include it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <crochet/export/onnx_writer.ipp>
#include <crochet/graph/ops/elementwise.hpp>

namespace crochet::detail {

/// The divisor of integers, 1 where a runtime would trap: for 0, and for -1 below the least number. `zero`: where it
/// was 0; empty if it is a constant.
struct OnnxDivisor {
  std::string safe, zero;
};
inline OnnxDivisor onnx_divisor(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const std::string a = w.in(n, 0), b = w.in(n, 1);
  const ExportedNode& by = w.input(n, 1);
  if (by.op == &op::constant && by.attributes.reals[0] != 0 && by.attributes.reals[0] != -1) return {b, {}};
  const double least = n.dtype == DType::int64 ? static_cast<double>(std::numeric_limits<std::int64_t>::min())
                                               : static_cast<double>(std::numeric_limits<std::int32_t>::min());
  const std::string zero = g.add("Equal", {b, g.scalar(n.dtype, 0)});
  const std::string overflows =
      g.add("And", {g.add("Equal", {b, g.scalar(n.dtype, -1)}), g.add("Equal", {a, g.scalar(n.dtype, least)})});
  return {g.add("Where", {g.add("Or", {zero, overflows}), g.scalar(n.dtype, 1), b}), zero};
}
/// The quotient rounded down: 1 less than the truncated one where that is rounded up.
inline std::string onnx_integer_floor_divide(OnnxWriter& w, const std::string& a, const std::string& b, DType t) {
  OnnxGraph& g = w.g;
  const std::string zero = g.scalar(t, 0), rest = g.add("Not", {g.add("Equal", {g.add("Mod", {a, b}), zero})});
  const std::string negative = g.add("Xor", {g.add("Less", {a, zero}), g.add("Less", {b, zero})});
  const std::string up = w.cast(g.add("And", {rest, negative}), DType::boolean, t);
  return g.add("Sub", {g.add("Div", {a, b}), up});
}
/// a / 0 and floor_divide(a, 0) are -1, mod(a, 0) is a. Div truncates, Mod has the sign of the divisor.
inline std::string onnx_integer_division(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const std::string a = w.in(n, 0);
  const OnnxDivisor b = onnx_divisor(w, n);
  const std::string y = n.op == &op::floor_divide ? onnx_integer_floor_divide(w, a, b.safe, n.dtype)
                                                  : g.add(n.op == &op::div ? "Div" : "Mod", {a, b.safe});
  if (b.zero.empty()) return y;
  return g.add("Where", {b.zero, n.op == &op::mod ? a : g.scalar(n.dtype, -1), y});
}
/// The remainder with the sign of a; whether that is another sign than b's; whether it is not 0.
struct OnnxRemainder {
  std::string r, differ, some;
};
inline OnnxRemainder onnx_remainder(OnnxWriter& w, const std::string& a, const std::string& b, DType t) {
  OnnxGraph& g = w.g;
  const std::string zero = g.scalar(t, 0), r = g.add("Mod", {a, b}, {{"fmod", std::int64_t{1}}});
  return {r, g.add("Xor", {g.add("Less", {r, zero}), g.add("Less", {b, zero})}),
          g.add("Or", {g.add("IsNaN", {r}), g.add("Greater", {g.add("Abs", {r}), zero})})};
}
/// The remainder with the sign of b, also of 0: Mod of floating types has that of a. Zeros are last in the Where:
/// onnxruntime's loses the sign of a zero before, and it exchanges both after a Not.
inline std::string onnx_floating_mod(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const std::string a = w.in(n, 0), b = w.in(n, 1), zero = g.scalar(n.dtype, 0);
  const auto [r, differ, some] = onnx_remainder(w, a, b, n.dtype);
  const std::string y = g.add("Where", {differ, g.add("Add", {r, b}), r});
  return g.add("Where", {some, y, g.add("Mul", {g.add("Sign", {b}), zero})});
}
/// From the remainder, which is exact, as on the CPU; a / b for b = 0.
inline std::string onnx_floating_floor_divide(OnnxWriter& w, const ExportedNode& n) {
  OnnxGraph& g = w.g;
  const std::string a = w.in(n, 0), b = w.in(n, 1), zero = g.scalar(n.dtype, 0);
  const auto [r, differ, some] = onnx_remainder(w, a, b, n.dtype);
  const std::string truncated = g.add("Add", {g.add("Div", {g.add("Sub", {a, r}), b}), zero});
  const std::string down = g.add("Sub", {truncated, w.cast(differ, DType::boolean, n.dtype)});
  const std::string q = g.add("Where", {some, down, g.add("Div", {a, b})}), whole = g.add("Floor", {q});
  const std::string above = g.add("Greater", {g.add("Sub", {q, whole}), g.scalar(n.dtype, 0.5)});
  const std::string y = g.add("Where", {above, g.add("Add", {whole, g.scalar(n.dtype, 1)}), whole});
  return g.add("Where", {g.add("Equal", {b, g.scalar(n.dtype, 0)}), g.add("Div", {a, b}), y});
}
/// Of div, floor_divide and mod.
inline std::string onnx_division(OnnxWriter& w, const ExportedNode& n) {
  if (!is_floating(n.dtype)) return onnx_integer_division(w, n);
  if (n.op == &op::div) return w.g.add("Div", {w.in(n, 0), w.in(n, 1)});
  return n.op == &op::mod ? onnx_floating_mod(w, n) : onnx_floating_floor_divide(w, n);
}

}  // namespace crochet::detail
