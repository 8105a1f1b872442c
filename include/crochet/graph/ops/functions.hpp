// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of floating types. The most used have vector code (see kernels/simd_*.hpp for error bounds);
// the others call the standard library for each element.
#pragma once
#include <crochet/graph/ops/arithmetic.hpp>

namespace crochet {

namespace detail {
constexpr void gradient_of_exp(GradientScope& s);
constexpr void gradient_of_expm1(GradientScope& s);
constexpr void gradient_of_log(GradientScope& s);
constexpr void gradient_of_log1p(GradientScope& s);
constexpr void gradient_of_sqrt(GradientScope& s);
constexpr void gradient_of_rsqrt(GradientScope& s);
constexpr void gradient_of_pow(GradientScope& s);
constexpr void gradient_of_sin(GradientScope& s);
constexpr void gradient_of_cos(GradientScope& s);
constexpr void gradient_of_asin(GradientScope& s);
constexpr void gradient_of_acos(GradientScope& s);
constexpr void gradient_of_atan(GradientScope& s);
constexpr void gradient_of_atan2(GradientScope& s);
constexpr void gradient_of_asinh(GradientScope& s);
constexpr void gradient_of_acosh(GradientScope& s);
constexpr void gradient_of_atanh(GradientScope& s);
constexpr void gradient_of_erf(GradientScope& s);
constexpr void gradient_of_erfc(GradientScope& s);
}  // namespace detail

namespace op {
inline constexpr Op exp = detail::function("exp", detail::gradient_of_exp);
inline constexpr Op expm1 = detail::function("expm1", detail::gradient_of_expm1);
inline constexpr Op log = detail::function("log", detail::gradient_of_log);
inline constexpr Op log1p = detail::function("log1p", detail::gradient_of_log1p);
inline constexpr Op sqrt = detail::function("sqrt", detail::gradient_of_sqrt);
inline constexpr Op rsqrt = detail::function("rsqrt", detail::gradient_of_rsqrt);
inline constexpr Op pow{"pow", OpKind::elementwise, detail::infer_binary_function, detail::gradient_of_pow};
inline constexpr Op sin = detail::function("sin", detail::gradient_of_sin);
inline constexpr Op cos = detail::function("cos", detail::gradient_of_cos);
inline constexpr Op asin = detail::function("asin", detail::gradient_of_asin);
inline constexpr Op acos = detail::function("acos", detail::gradient_of_acos);
inline constexpr Op atan = detail::function("atan", detail::gradient_of_atan);
inline constexpr Op atan2{"atan2", OpKind::elementwise, detail::infer_binary_function, detail::gradient_of_atan2};
inline constexpr Op asinh = detail::function("asinh", detail::gradient_of_asinh);
inline constexpr Op acosh = detail::function("acosh", detail::gradient_of_acosh);
inline constexpr Op atanh = detail::function("atanh", detail::gradient_of_atanh);
inline constexpr Op erf = detail::function("erf", detail::gradient_of_erf);
inline constexpr Op erfc = detail::function("erfc", detail::gradient_of_erfc);
}  // namespace op

// clang-format off
constexpr Tensor exp(Tensor x) { return x.graph->apply(op::exp, x); }
/// e^x - 1, accurate for small x.
constexpr Tensor expm1(Tensor x) { return x.graph->apply(op::expm1, x); }
/// Natural logarithm. log(0) is -infinity, the logarithm of negative numbers NaN.
constexpr Tensor log(Tensor x) { return x.graph->apply(op::log, x); }
/// log(1 + x), accurate for small x.
constexpr Tensor log1p(Tensor x) { return x.graph->apply(op::log1p, x); }
constexpr Tensor log2(Tensor x) { return log(x) * 1.44269504088896340736; }
constexpr Tensor log10(Tensor x) { return log(x) * 0.43429448190325182765; }
constexpr Tensor sqrt(Tensor x) { return x.graph->apply(op::sqrt, x); }
/// 1 / sqrt(x).
constexpr Tensor rsqrt(Tensor x) { return x.graph->apply(op::rsqrt, x); }
/// a^b, as std::pow. The gradient with respect to b is 0 where a <= 0, as in TensorFlow. The gradient with respect to a
/// is 0 where b = 0, also at a = 0 (where TensorFlow's is NaN).
constexpr Tensor pow(Tensor a, Tensor b) { return a.graph->apply(op::pow, a, b); }
/// Common exponents become products, quotients and roots.
constexpr Tensor pow(Tensor a, double b) {
  if (b == 2) return square(a);
  if (b == 1) return a;
  if (b == 3) return square(a) * a;
  if (b == 0.5) return sqrt(a);
  if (b == -1) return 1 / a;
  if (b == -0.5) return rsqrt(a);
  return pow(a, a.graph->constant(a.dtype(), b));
}
constexpr Tensor pow(double a, Tensor b) { return pow(b.graph->constant(b.dtype(), a), b); }
/// 2^x. The error of exp(x * log(2)), which is faster, grows with |x|.
constexpr Tensor exp2(Tensor x) { return pow(2.0, x); }

// Angles are in radians.
constexpr Tensor sin(Tensor x) { return x.graph->apply(op::sin, x); }
constexpr Tensor cos(Tensor x) { return x.graph->apply(op::cos, x); }
constexpr Tensor tan(Tensor x) { return sin(x) / cos(x); }
constexpr Tensor asin(Tensor x) { return x.graph->apply(op::asin, x); }
constexpr Tensor acos(Tensor x) { return x.graph->apply(op::acos, x); }
constexpr Tensor atan(Tensor x) { return x.graph->apply(op::atan, x); }
/// The angle of the point (x, y), in (-pi, pi].
constexpr Tensor atan2(Tensor y, Tensor x) { return y.graph->apply(op::atan2, y, x); }
constexpr Tensor sinh(Tensor x) { return (expm1(x) - expm1(-x)) * 0.5; }
constexpr Tensor cosh(Tensor x) { return (exp(x) + exp(-x)) * 0.5; }
constexpr Tensor asinh(Tensor x) { return x.graph->apply(op::asinh, x); }
constexpr Tensor acosh(Tensor x) { return x.graph->apply(op::acosh, x); }
constexpr Tensor atanh(Tensor x) { return x.graph->apply(op::atanh, x); }

/// The error function, 2 / sqrt(pi) times the integral of e^-t^2 from 0 to x.
constexpr Tensor erf(Tensor x) { return x.graph->apply(op::erf, x); }
/// 1 - erf(x), accurate for small results.
constexpr Tensor erfc(Tensor x) { return x.graph->apply(op::erfc, x); }

namespace detail {
constexpr void gradient_of_exp(GradientScope& s) { s.give(0, s.upstream() * s.output()); }
constexpr void gradient_of_expm1(GradientScope& s) { s.give(0, s.upstream() * (s.output() + 1)); }
constexpr void gradient_of_log(GradientScope& s) { s.give(0, s.upstream() / s.input(0)); }
constexpr void gradient_of_log1p(GradientScope& s) { s.give(0, s.upstream() / (s.input(0) + 1)); }
constexpr void gradient_of_sqrt(GradientScope& s) { s.give(0, s.upstream() * 0.5 / s.output()); }
constexpr void gradient_of_rsqrt(GradientScope& s) { s.give(0, s.upstream() * -0.5 * (s.output() / s.input(0))); }
constexpr void gradient_of_sin(GradientScope& s) { s.give(0, s.upstream() * cos(s.input(0))); }
constexpr void gradient_of_cos(GradientScope& s) { s.give(0, -(s.upstream() * sin(s.input(0)))); }
constexpr void gradient_of_asin(GradientScope& s) { s.give(0, s.upstream() * rsqrt(1 - square(s.input(0)))); }
constexpr void gradient_of_acos(GradientScope& s) { s.give(0, -(s.upstream() * rsqrt(1 - square(s.input(0))))); }
constexpr void gradient_of_atan(GradientScope& s) { s.give(0, s.upstream() / (1 + square(s.input(0)))); }
constexpr void gradient_of_asinh(GradientScope& s) { s.give(0, s.upstream() * rsqrt(square(s.input(0)) + 1)); }
constexpr void gradient_of_acosh(GradientScope& s) { s.give(0, s.upstream() * rsqrt(square(s.input(0)) - 1)); }
constexpr void gradient_of_atanh(GradientScope& s) { s.give(0, s.upstream() / (1 - square(s.input(0)))); }
// clang-format on
constexpr void gradient_of_pow(GradientScope& s) {
  const Tensor a = s.input(0), b = s.input(1), zero = s.zero();
  if (s.wants(0)) {
    const Tensor constant = equal(b, 0);
    const Tensor slope = b * pow(a, select(constant, s.graph().constant(b.dtype(), 1), b - 1));
    s.give(0, s.upstream() * select(constant, zero, slope));
  }
  if (s.wants(1)) {
    const Tensor positive = greater(a, 0);
    const Tensor logarithm = log(select(positive, a, s.graph().constant(a.dtype(), 1)));
    // Where a <= 0, a^b may be infinite or NaN.
    s.give(1, select(less_equal(a, 0), zero, s.upstream() * (s.output() * logarithm)));
  }
}
constexpr void gradient_of_atan2(GradientScope& s) {
  const Tensor y = s.input(0), x = s.input(1), u = s.upstream() / (square(x) + square(y));
  if (s.wants(0)) s.give(0, u * x);
  if (s.wants(1)) s.give(1, -(u * y));
}
constexpr Tensor slope_of_erf(GradientScope& s) {
  return s.upstream() * (exp(-square(s.input(0))) * 1.12837916709551257390);
}
constexpr void gradient_of_erf(GradientScope& s) { s.give(0, slope_of_erf(s)); }
constexpr void gradient_of_erfc(GradientScope& s) { s.give(0, -slope_of_erf(s)); }
}  // namespace detail

}  // namespace crochet
