// SPDX-License-Identifier: Apache-2.0
// The compiled half of header_functions.hpp. The functions have the results of the CPU's (kernels/elementwise) up to
// rounding, also for NaN, infinity and integers divided by 0.
#pragma once

#include <crochet/export/header_functions.hpp>

#include <cstddef>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/graph/ops/activations.hpp>
#include <crochet/graph/ops/control.hpp>
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/loss.hpp>

namespace crochet::detail {

struct HeaderFunction {
  const Op* op;
  const char* body;
};

inline constexpr HeaderFunction unary_functions[] = {
    {&op::neg, "static_cast<T>(-a)"},
    {&op::square, "static_cast<T>(a * a)"},
    {&op::abs, "a < T(0) ? static_cast<T>(-a) : a + T(0)"},
    {&op::sign, "a > T(0) ? T(1) : (a < T(0) ? static_cast<T>(T(0) - T(1)) : a)"},
    {&op::relu, "a < T(0) ? T(0) : a"},
    {&op::identity, "a"},
    {&op::stop_gradient, "a"},
    {&op::logical_not, "!a"}};
inline constexpr HeaderFunction binary_functions[] = {{&op::add, "static_cast<T>(a + b)"},
                                                      {&op::sub, "static_cast<T>(a - b)"},
                                                      {&op::mul, "static_cast<T>(a * b)"},
                                                      {&op::maximum, "a > b || a != a ? a : b"},
                                                      {&op::minimum, "a < b || a != a ? a : b"}};
inline constexpr HeaderFunction comparison_functions[] = {
    {&op::equal, "a == b"},       {&op::not_equal, "a != b"},  {&op::less, "a < b"},
    {&op::less_equal, "a <= b"},  {&op::greater, "a > b"},     {&op::greater_equal, "a >= b"},
    {&op::logical_and, "a && b"}, {&op::logical_or, "a || b"}, {&op::logical_xor, "a != b"}};
/// Functions of the compiler's name, and functions of floating types: `F(name)` is the compiler's function.
inline constexpr HeaderFunction floating_functions[] = {
    {&op::exp, "F(exp)(a)"},
    {&op::expm1, "F(expm1)(a)"},
    {&op::log, "F(log)(a)"},
    {&op::log1p, "F(log1p)(a)"},
    {&op::sqrt, "F(sqrt)(a)"},
    {&op::rsqrt, "T(1) / F(sqrt)(a)"},
    {&op::sin, "F(sin)(a)"},
    {&op::cos, "F(cos)(a)"},
    {&op::asin, "F(asin)(a)"},
    {&op::acos, "F(acos)(a)"},
    {&op::atan, "F(atan)(a)"},
    {&op::asinh, "F(asinh)(a)"},
    {&op::acosh, "F(acosh)(a)"},
    {&op::atanh, "F(atanh)(a)"},
    {&op::erf, "F(erf)(a)"},
    {&op::erfc, "F(erfc)(a)"},
    {&op::tanh, "F(tanh)(a)"},
    {&op::sigmoid, "T(1) / (T(1) + F(exp)(-a))"},
    {&op::softplus, "a > T(0) ? a + F(log1p)(F(exp)(-a)) : F(log1p)(F(exp)(a))"}};
inline constexpr HeaderFunction rounding_functions[] = {
    {&op::floor, "F(floor)(a)"}, {&op::ceil, "F(ceil)(a)"}, {&op::round, "F(rint)(a)"}, {&op::trunc, "F(trunc)(a)"}};
inline constexpr HeaderFunction floating_pairs[] = {
    {&op::pow, "F(pow)(a, b)"},
    {&op::atan2, "F(atan2)(a, b)"},
    {&op::sigmoid_cross_entropy, "(a > T(0) ? a : T(0)) - a * b + F(log1p)(F(exp)(-F(fabs)(a)))"}};
/// A quotient or remainder: the statements for floating types and, as a template, for integers.
struct HeaderDivision {
  const Op* op;
  const char *floating, *whole;
};
inline constexpr HeaderDivision divisions[] = {
    {&op::div, "    return a / b;\n",
     "    if (b == T(0)) return static_cast<T>(T(0) - T(1));\n"
     "    if (T(-1) < T(0) && b == T(-1)) return static_cast<T>(0u - static_cast<unsigned long long>(a));\n"
     "    return static_cast<T>(a / b);\n"},
    {&op::floor_divide,
     "    if (b == T(0)) return a / b;\n"
     "    const T r = F(fmod)(a, b), down = (r < T(0)) != (b < T(0)) ? T(1) : T(0);\n"
     "    const T q = r == T(0) ? a / b : (a - r) / b + T(0) - down, whole = F(floor)(q);\n"
     "    return q - whole > T(0.5) ? whole + T(1) : whole;\n",
     "    if (b == T(0)) return static_cast<T>(T(0) - T(1));\n"
     "    if (T(-1) < T(0) && b == T(-1)) return static_cast<T>(0u - static_cast<unsigned long long>(a));\n"
     "    const bool below = a % b != T(0) && (a < T(0)) != (b < T(0));\n"
     "    return static_cast<T>(a / b - (below ? T(1) : T(0)));\n"},
    {&op::mod,
     "    const T r = F(fmod)(a, b);\n"
     "    if (r == T(0)) return F(copysign)(T(0), b);\n"
     "    return (r < T(0)) != (b < T(0)) ? r + b : r;\n",
     "    if (b == T(0)) return a;\n"
     "    const T r = T(-1) < T(0) && b == T(-1) ? T(0) : static_cast<T>(a % b);\n"
     "    return r != T(0) && (r < T(0)) != (b < T(0)) ? static_cast<T>(r + b) : r;\n"}};
template <std::size_t N>
const char* body_of(const HeaderFunction (&table)[N], const Op& op) {
  for (const HeaderFunction& f : table) {
    if (f.op == &op) return f.body;
  }
  return nullptr;
}

/// The function for float and for double. `statements`: lines in which T is the type.
CROCHET_INLINE std::string for_both(const std::string& name, const std::string& parameters,
                                    const std::string& statements) {
  std::string all;
  for (const std::string type : {"float", "double"}) {
    std::string text = "  static " + type + " " + name + "_(" + parameters + ") noexcept {" + statements + "}\n";
    for (std::size_t at = 0; (at = text.find("T ", at)) != std::string::npos;) {
      const bool word = at == 0 || text[at - 1] == '(' || text[at - 1] == ' ';
      word ? text.replace(at, 1, type) : text;
      at += 2;
    }
    for (std::size_t at = 0; (at = text.find("T(", at)) != std::string::npos;) text.replace(at, 1, type);
    for (std::size_t at = 0; (at = text.find("F(", at)) != std::string::npos;) {
      const std::size_t end = text.find(')', at);
      text.replace(at, end - at + 1, "__builtin_" + text.substr(at + 2, end - at - 2) + (type == "float" ? "f" : ""));
    }
    all += text;
  }
  return all;
}

/// The same for a function of one expression.
CROCHET_INLINE std::string for_both_returns(const std::string& name, const std::string& parameters,
                                            const std::string& expression) {
  return for_both(name, parameters, " return " + expression + "; ");
}
CROCHET_INLINE std::string division_function(const std::string& name, const HeaderDivision& d) {
  return for_both(name, "T a, T b", std::string("\n") + d.floating + "  ") + "  template <class T>\n  static T " +
         name + "_(T a, T b) noexcept {\n" + d.whole + "  }\n";
}

CROCHET_INLINE std::string header_function(const Op& op) {
  const std::string name(op.name), open = "  template <class T>\n  static ";
  const auto defined = [&](const char* result, const char* parameters, const char* body) {
    return open + result + " " + name + "_(" + parameters + ") noexcept {\n    return " + body + ";\n  }\n";
  };
  if (const char* body = body_of(unary_functions, op)) return defined("T", "T a", body);
  if (const char* body = body_of(binary_functions, op)) return defined("T", "T a, T b", body);
  if (const char* body = body_of(comparison_functions, op)) return defined("bool", "T a, T b", body);
  if (const char* body = body_of(floating_functions, op)) return for_both_returns(name, "T a", body);
  if (const char* body = body_of(floating_pairs, op)) return for_both_returns(name, "T a, T b", body);
  if (const char* body = body_of(rounding_functions, op)) {
    return defined("T", "T a", "a") + for_both_returns(name, "T a", body);  // integers are unchanged
  }
  for (const HeaderDivision& d : divisions) {
    if (d.op == &op) return division_function(name, d);
  }
  if (&op == &op::select)
    return "  template <class T>\n  static T select_(bool c, T a, T b) noexcept {\n    return c ? a : b;\n  }\n";
  return {};
}

}  // namespace crochet::detail
