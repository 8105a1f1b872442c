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
      "exp", [](auto x) { return exp(x); }, normal<67>{});
  agree(
      "log", [](auto x) { return log(x); }, positive<67>{});
  agree(
      "sqrt", [](auto x) { return sqrt(x); }, positive<67>{});
  agree(
      "tanh", [](auto x) { return tanh(x); }, normal<67>{});
  agree(
      "sigmoid", [](auto x) { return sigmoid(x); }, normal<67>{});
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
      "chain", [](auto x) { return exp(-sqrt(square(tanh(x * 1.1 + 0.3)) + 1.0)) * x; }, normal<1031>{});
}
