// SPDX-License-Identifier: Apache-2.0
// Checks a gradient by central finite differences in double. The loss may come from an executor, the Oracle, or a
// function.
#pragma once
#include <cmath>
#include <cstddef>
#include <span>

namespace crochet::testing {

/// The element of a gradient with the largest error. `error` is its distance from the difference quotient, relative to
/// the largest element of either (or to 1, if they are all smaller).
struct GradientCheck {
  double error = 0;
  std::size_t worst = 0;
  double expected = 0;  ///< by finite differences
  double given = 0;
};

/// Compares `gradient` with (loss(x + h) - loss(x - h)) / 2h for every element of x. With an executor:
///   check_gradient(e.variable("w"_n), e.template fetch<Name<"dw">>(workspace), [&] { e.run<...>(...); return ...; })
/// - `loss` is called as loss() and must read x. x is restored.
/// - Accuracy: about 1e-9 where the loss is smooth and of the order of 1. Points where it is not smooth (relu at 0,
///   ties of a maximum) must be further away than `step`.
template <class Loss>
GradientCheck check_gradient(std::span<double> x, std::span<const double> gradient, Loss loss, double step = 1e-5) {
  GradientCheck result;
  double scale = 1, distance = gradient.size() == x.size() ? -1 : HUGE_VAL;
  for (std::size_t i = 0; i < x.size() && i < gradient.size(); ++i) {
    const double before = x[i];
    x[i] = before + step;
    const double above = loss();
    x[i] = before - step;
    const double below = loss();
    x[i] = before;
    const double expected = (above - below) / (2 * step), d = std::abs(expected - gradient[i]);
    scale = std::fmax(scale, std::fmax(std::abs(expected), std::abs(gradient[i])));
    if (d <= distance) continue;  // a NaN counts as the largest error
    distance = std::isnan(d) ? HUGE_VAL : d;
    result = {0, i, expected, gradient[i]};
  }
  result.error = distance < 0 ? 0 : std::isinf(distance) ? HUGE_VAL : distance / scale;
  return result;
}

}  // namespace crochet::testing
