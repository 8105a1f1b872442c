// SPDX-License-Identifier: Apache-2.0
// Elementwise operations and conversions.
#include "agree.hpp"

using namespace agreement;  // NOLINT(google-build-using-namespace): a table reads better
using namespace crochet;    // NOLINT(google-build-using-namespace)

int main(int count, char** words) {
  if (count != 2) return 2;
  Recorder agree(words[1]);
  agree(
      "add", [](auto x, auto y) { return x + y; }, normal<5, 37>{}, normal<37>{});
  agree(
      "sub", [](auto x, auto y) { return x - y; }, normal<5, 1>{}, normal<5, 37>{});
  agree(
      "mul", [](auto x, auto y) { return x * y; }, normal<3, 5, 1>{}, normal<5, 19>{});
  agree(
      "div", [](auto x, auto y) { return x / y; }, normal<5, 37>{}, positive<5, 37>{});
  agree(
      "numbers", [](auto x) { return 2.0 - (x * 3.0 + 0.5) / 4.0; }, normal<67>{});
  agree(
      "neg", [](auto x) { return -x; }, normal<67>{});
  agree(
      "maximum", [](auto x, auto y) { return maximum(x, y); }, normal<5, 37>{}, normal<37>{});
  agree(
      "minimum", [](auto x, auto y) { return minimum(x, y); }, normal<5, 37>{}, normal<>{});
  agree(
      "abs", [](auto x) { return abs(x); }, normal<67>{});
  agree(
      "square", [](auto x) { return square(x); }, normal<67>{});
  agree(
      "relu", [](auto x) { return relu(x); }, normal<67>{});
  agree(
      "sigmoid", [](auto x) { return sigmoid(x); }, normal<67>{});
  agree(
      "tanh", [](auto x) { return tanh(x); }, normal<67>{});
  agree(
      "softplus", [](auto x) { return softplus(x * 10.0); }, normal<67>{});
  agree(
      "silu", [](auto x) { return silu(x); }, normal<67>{});
  agree(
      "gelu", [](auto x) { return gelu(x); }, normal<67>{});
  agree(
      "gelu_tanh", [](auto x) { return gelu_tanh(x); }, normal<67>{});
  agree(
      "elu", [](auto x) { return elu(x, 1.5); }, normal<67>{});
  agree(
      "selu", [](auto x) { return selu(x); }, normal<67>{});
  agree(
      "leaky_relu", [](auto x) { return leaky_relu(x, 0.1); }, normal<67>{});
  agree(
      "hard_sigmoid", [](auto x) { return hard_sigmoid(x * 4.0); }, normal<67>{});
  agree(
      "softsign", [](auto x) { return softsign(x); }, normal<67>{});
  agree(
      "floor_divide", [](auto x, auto y) { return floor_divide(x, y); }, fixed<5, 37>{}, fixed<37>{});
  agree(
      "mod", [](auto x, auto y) { return mod(x, y); }, fixed<5, 37>{}, fixed<37>{});
  agree(
      "clip", [](auto x) { return clip(x, -0.5, 1.0); }, normal<67>{});
  agree(
      "squared_difference", [](auto x, auto y) { return squared_difference(x, y); }, normal<5, 37>{}, normal<37>{});
  agree(
      "reciprocal", [](auto x) { return reciprocal(x); }, positive<67>{});
  agree(
      "sign", [](auto x) { return sign(x); }, fixed<67>{});
  agree(
      "floor", [](auto x) { return floor(x * 3.0); }, fixed<67>{});
  agree(
      "ceil", [](auto x) { return ceil(x * 3.0); }, fixed<67>{});
  agree(
      "round", [](auto x) { return round(floor(x * 8.0) * 0.25); }, fixed<67>{});
  agree(
      "trunc", [](auto x) { return trunc(x * 3.0); }, fixed<67>{});
  agree(
      "less_equal", [](auto x, auto y) { return less_equal(x, y); }, classes<3, 67>{}, classes<3, 67>{});
  agree(
      "greater_equal", [](auto x) { return greater_equal(x, 0.25); }, fixed<67>{});
  agree(
      "logic", [](auto a, auto b) { return logical_xor(logical_and(a, b), logical_or(a, logical_not(b))); }, flag<67>{},
      flag<67>{});
  agree(
      "select", [](auto c, auto x, auto y) { return select(c, x, y); }, flag<5, 37>{}, normal<5, 37>{}, normal<37>{});
  agree(
      "equal", [](auto x, auto y) { return equal(x, y); }, classes<3, 67>{}, classes<3, 67>{});
  agree(
      "not_equal", [](auto x, auto y) { return not_equal(x, y); }, classes<3, 67>{}, classes<3, 67>{});
  agree(
      "less", [](auto x, auto y) { return less(x, y); }, normal<67>{}, normal<67>{});
  agree(
      "greater", [](auto x, auto y) { return greater(x, y); }, normal<5, 37>{}, normal<37>{});
  agree(
      "cast_down", [](auto x) { return cast<std::int32_t>(x * 10.0); }, fixed<67>{});
  agree(
      "cast_up", [](auto x) { return cast<double>(x) * 0.1; }, normal<67>{});
  agree(
      "isnan", [](auto x) { return isnan(sqrt(x)); }, fixed<67>{});
  agree(
      "isinf", [](auto x) { return isinf(1.0 / floor(x)); }, fixed<67>{});
  agree(
      "isfinite", [](auto x) { return isfinite(log(floor(x))); }, fixed<67>{});
  agree(
      "chain", [](auto x) { return exp(-sqrt(square(tanh(x * 1.1 + 0.3)) + 1.0)) * x; }, normal<1031>{});
}
