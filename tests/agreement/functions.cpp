// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one or two numbers.
#include "agree.hpp"

using namespace agreement;  // NOLINT(google-build-using-namespace): a table reads better
using namespace crochet;    // NOLINT(google-build-using-namespace)

int main(int count, char** words) {
  if (count != 2) return 2;
  Recorder agree(words[1]);
  agree(
      "exp", [](auto x) { return exp(x); }, normal<67>{});
  agree(
      "expm1", [](auto x) { return expm1(x); }, normal<67>{});
  agree(
      "exp2", [](auto x) { return exp2(x); }, normal<67>{});
  agree(
      "log", [](auto x) { return log(x); }, positive<67>{});
  agree(
      "log1p", [](auto x) { return log1p(x); }, positive<67>{});
  agree(
      "log2", [](auto x) { return log2(x); }, positive<67>{});
  agree(
      "log10", [](auto x) { return log10(x); }, positive<67>{});
  agree(
      "sqrt", [](auto x) { return sqrt(x); }, positive<67>{});
  agree(
      "rsqrt", [](auto x) { return rsqrt(x); }, positive<67>{});
  agree(
      "sin", [](auto x) { return sin(x); }, normal<67>{});
  agree(
      "cos", [](auto x) { return cos(x); }, normal<67>{});
  agree(
      "tan", [](auto x) { return tan(x); }, unit<67>{});
  agree(
      "asin", [](auto x) { return asin(x); }, unit<67>{});
  agree(
      "acos", [](auto x) { return acos(x); }, unit<67>{});
  agree(
      "atan", [](auto x) { return atan(x); }, normal<67>{});
  agree(
      "sinh", [](auto x) { return sinh(x); }, normal<67>{});
  agree(
      "cosh", [](auto x) { return cosh(x); }, normal<67>{});
  agree(
      "asinh", [](auto x) { return asinh(x); }, normal<67>{});
  agree(
      "atanh", [](auto x) { return atanh(x); }, unit<67>{});
  agree(
      "erf", [](auto x) { return erf(x); }, normal<67>{});
  agree(
      "erfc", [](auto x) { return erfc(x); }, normal<67>{});
  agree(
      "acosh", [](auto x) { return acosh(x + 1.0); }, positive<67>{});
  agree(
      "pow", [](auto x, auto y) { return pow(x, y); }, positive<5, 37>{}, normal<37>{});
  agree(
      "pow_number", [](auto x) { return pow(x, 3.0); }, normal<67>{});
  agree(
      "atan2", [](auto y, auto x) { return atan2(y, x); }, normal<5, 37>{}, normal<37>{});
}
