// SPDX-License-Identifier: Apache-2.0
// Operations that depend on state (assignments, dependencies, dropout), and stops of gradients.
#include "agree.hpp"

using namespace agreement;  // NOLINT(google-build-using-namespace): a table reads better
using namespace crochet;    // NOLINT(google-build-using-namespace)

namespace {
/// A variable of ones in addition to the inputs.
constexpr Tensor ones_beside(Tensor x) { return x.graph->variable<float>("state", x.shape(), ones(), false); }
}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  Recorder agree(words[1]);
  agree(
      "identity", [](auto x) { return identity(x) * x; }, normal<5, 37>{});
  agree(
      "stop_gradient", [](auto x) { return stop_gradient(square(x)) * x; }, normal<5, 37>{});
  agree(
      "stop_gradient_in_the_middle", [](auto x, auto y) { return sin(x * y) + stop_gradient(sin(x) * y) * x; },
      normal<5, 37>{}, normal<37>{});
  agree(
      "assign",
      [](auto x, auto y) {
        const Tensor state = ones_beside(x);
        const Tensor before = state * y;
        const Tensor after = x.graph->assign(state, x * 2.0);
        return before + after * y + square(state) * y;
      },
      fixed<5, 37>{}, normal<37>{});
  agree(
      "assign_add",
      [](auto x, auto y) {
        const Tensor state = ones_beside(x);
        const Tensor first = assign_add(state, x) * y;
        const Tensor between = state * y;
        return first + between * assign_add(state, 0.5);
      },
      fixed<5, 37>{}, normal<37>{});
  agree(
      "assign_sub",
      [](auto x, auto y) {
        const Tensor state = ones_beside(x);
        const Tensor first = assign_sub(state, square(x)) * y;
        return first * assign_sub(state, 0.25);
      },
      fixed<5, 37>{}, normal<37>{});
  agree(
      "with_dependencies",
      [](auto x, auto y) {
        const Tensor state = ones_beside(x);
        const Tensor doubled = x.graph->assign(state, state * 2.0);
        return with_dependencies(x * y, {doubled, assign_add(state, 3.0)}) * state;
      },
      normal<5, 37>{}, normal<37>{});
  agree(
      "select_whole", [](auto x, auto y) { return select(greater(reduce_sum(x), 0.0), sin(x) * y, x + square(y)); },
      normal<5, 37>{}, normal<37>{});
  agree(
      "dropout", [](auto x) { return dropout(x, 0.25); }, normal<31, 37>{});
  agree(
      "dropout_rare", [](auto x) { return dropout(square(x), 0.01); }, normal<31, 37>{});
}
