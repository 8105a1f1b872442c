// SPDX-License-Identifier: Apache-2.0
// A loop of Boost.Odeint under crochet's hooks: coupled oscillators (Kuramoto's model) that synchronize.
//
// The step is that of a controlled Dormand-Prince stepper. State: the angles, the time, and the step size that the
// stepper has chosen. The stepper also keeps the last derivative, which resume() makes it compute again.
#include <boost/numeric/odeint.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

#include "../program.hpp"

namespace odeint = boost::numeric::odeint;
using namespace crochet::literals;

/// d theta_i / dt = omega_i + coupling / n * sum_j sin(theta_j - theta_i)
struct Oscillators {
  using State = std::vector<double>;
  using Stepper = odeint::controlled_runge_kutta<odeint::runge_kutta_dopri5<State>>;
  static constexpr std::size_t n = 100;
  static constexpr std::int64_t last_step = 5000;
  static constexpr double min_delta = 1e-5;

  Oscillators() : theta(n), omega(n) {
    for (std::size_t i = 0; i < n; ++i) {
      const double place = static_cast<double>(i) / (n - 1) - 0.5;
      theta[i] = 6.0 * place + 0.4 * std::sin(37.0 * place);
      omega[i] = 0.5 * place;
    }
  }

  /// The mean of exp(i theta): its real and its imaginary part.
  static std::array<double, 2> mean(const State& theta) {
    double x = 0, y = 0;
    for (const double angle : theta) x += std::cos(angle), y += std::sin(angle);
    return {x / n, y / n};
  }
  void advance() {
    const auto derivative = [this](const State& now, State& slope, double /*time*/) {
      const auto [x, y] = mean(now);
      for (std::size_t i = 0; i < n; ++i) slope[i] = omega[i] + 0.4 * (y * std::cos(now[i]) - x * std::sin(now[i]));
    };
    while (stepper.try_step(derivative, theta, time, dt) == odeint::fail) {
    }
  }
  /// 0 if all angles are equal.
  double loss() const {
    const auto [x, y] = mean(theta);
    return 1 - std::hypot(x, y);
  }
  void resume() { stepper.reset(); }

  auto executor() {
    return crochet::StepExecutor{[this](auto& out) {
                                   advance();
                                   if (out.due("loss"_n)) out["loss"_n] = loss();
                                 },
                                 crochet::output<double, "loss">, crochet::variable<"theta">(theta),
                                 crochet::variable<"time">(time), crochet::variable<"dt">(dt)};
  }

  State theta, omega;
  double time = 0, dt = 0.01;
  Stepper stepper = odeint::make_controlled(1e-9, 1e-9, 0.05, odeint::runge_kutta_dopri5<State>{});
};

int main(int argc, char** argv) { return loops::program<Oscillators>(argc, argv); }
