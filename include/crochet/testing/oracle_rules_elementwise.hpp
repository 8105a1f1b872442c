// SPDX-License-Identifier: Apache-2.0
// The Oracle's rules of elementwise operations.
#pragma once
#include <cmath>
#include <map>

#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/testing/oracle_array.hpp>

namespace crochet::testing {

namespace detail {
inline double greater_of(double a, double b) { return std::isnan(a) || std::isnan(b) ? a + b : (a > b ? a : b); }
}  // namespace detail

/// Integer division, defined for every divisor as in XLA.
inline std::map<const Op*, ElementRule> rules_of_integers() {
  return {
      {&op::div, [](double a, double b, double) { return b == 0 ? -1.0 : std::trunc(a / b); }},
      {&op::floor_divide, [](double a, double b, double) { return b == 0 ? -1.0 : std::floor(a / b); }},
      {&op::mod, [](double a, double b, double) { return b == 0 ? a : a - b * std::floor(a / b); }},
  };
}

/// Arithmetic, comparisons, functions, activations.
inline std::map<const Op*, ElementRule> rules_of_arithmetic() {
  return {
      {&op::add, [](double a, double b, double) { return a + b; }},
      {&op::sub, [](double a, double b, double) { return a - b; }},
      {&op::mul, [](double a, double b, double) { return a * b; }},
      {&op::div, [](double a, double b, double) { return a / b; }},
      {&op::maximum, [](double a, double b, double) { return detail::greater_of(a, b); }},
      {&op::minimum, [](double a, double b, double) { return -detail::greater_of(-a, -b); }},
      {&op::floor_divide, [](double a, double b, double) { return std::floor(a / b); }},
      {&op::mod, [](double a, double b, double) { return a - b * std::floor(a / b); }},
      {&op::pow, [](double a, double b, double) { return std::pow(a, b); }},
      {&op::atan2, [](double a, double b, double) { return std::atan2(a, b); }},
      {&op::relu_gradient, [](double a, double b, double) { return b > 0 ? a : 0.0; }},
      {&op::equal, [](double a, double b, double) { return a == b ? 1.0 : 0.0; }},
      {&op::not_equal, [](double a, double b, double) { return a != b ? 1.0 : 0.0; }},
      {&op::less, [](double a, double b, double) { return a < b ? 1.0 : 0.0; }},
      {&op::less_equal, [](double a, double b, double) { return a <= b ? 1.0 : 0.0; }},
      {&op::greater, [](double a, double b, double) { return a > b ? 1.0 : 0.0; }},
      {&op::greater_equal, [](double a, double b, double) { return a >= b ? 1.0 : 0.0; }},
      {&op::logical_and, [](double a, double b, double) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
      {&op::logical_or, [](double a, double b, double) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
      {&op::logical_xor, [](double a, double b, double) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }},
      {&op::neg, [](double a, double, double) { return -a; }},
      {&op::square, [](double a, double, double) { return a * a; }},
      {&op::abs, [](double a, double, double) { return std::abs(a); }},
      {&op::sign, [](double a, double, double) { return std::isnan(a) ? a : (a > 0 ? 1.0 : (a < 0 ? -1.0 : 0.0)); }},
      {&op::floor, [](double a, double, double) { return std::floor(a); }},
      {&op::ceil, [](double a, double, double) { return std::ceil(a); }},
      {&op::round, [](double a, double, double) { return std::nearbyint(a); }},
      {&op::trunc, [](double a, double, double) { return std::trunc(a); }},
      {&op::logical_not, [](double a, double, double) { return a == 0 ? 1.0 : 0.0; }},
      {&op::exp, [](double a, double, double) { return std::exp(a); }},
      {&op::expm1, [](double a, double, double) { return std::expm1(a); }},
      {&op::log, [](double a, double, double) { return std::log(a); }},
      {&op::log1p, [](double a, double, double) { return std::log1p(a); }},
      {&op::sqrt, [](double a, double, double) { return std::sqrt(a); }},
      {&op::sin, [](double a, double, double) { return std::sin(a); }},
      {&op::cos, [](double a, double, double) { return std::cos(a); }},
      {&op::asin, [](double a, double, double) { return std::asin(a); }},
      {&op::acos, [](double a, double, double) { return std::acos(a); }},
      {&op::atan, [](double a, double, double) { return std::atan(a); }},
      {&op::asinh, [](double a, double, double) { return std::asinh(a); }},
      {&op::acosh, [](double a, double, double) { return std::acosh(a); }},
      {&op::atanh, [](double a, double, double) { return std::atanh(a); }},
      {&op::erf, [](double a, double, double) { return std::erf(a); }},
      {&op::erfc, [](double a, double, double) { return std::erfc(a); }},
      {&op::tanh, [](double a, double, double) { return std::tanh(a); }},
      {&op::rsqrt, [](double a, double, double) { return 1 / std::sqrt(a); }},
      {&op::relu, [](double a, double, double) { return a < 0 ? 0 : a; }},
      {&op::sigmoid, [](double a, double, double) { return 1 / (1 + std::exp(-a)); }},
      {&op::softplus, [](double a, double, double) { return a > 30 ? a : std::log1p(std::exp(a)); }},
      {&op::select, [](double c, double a, double b) { return c != 0 ? a : b; }},
      {&op::cast, [](double a, double, double) { return a; }},
  };
}

}  // namespace crochet::testing
