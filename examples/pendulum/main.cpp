// SPDX-License-Identifier: Apache-2.0
// A user's own simulation under StepExecutor: a damped pendulum. Hooks read an output, the loop feeds the step size,
// and checkpoints hold the state. docs/step-functions.md explains it part by part.
//
// The program simulates 2000 steps twice: once without a break, once with an end and a restart after 600 steps. Both
// give the same numbers, bit for bit.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace cr = crochet;
using namespace cr::literals;

/// A plain class without a reference to hooks or sessions.
struct Pendulum {
  std::array<double, 2> y{3.0, 0.0};  // angle, angular velocity
  double time = 0;

  static std::array<double, 2> derivative(const std::array<double, 2>& y) {
    return {y[1], -std::sin(y[0]) - 0.05 * y[1]};
  }
  /// One step of the classical Runge-Kutta method.
  void advance(double dt) {
    const auto at = [&](const std::array<double, 2>& k, double h) {
      return std::array{y[0] + h * k[0], y[1] + h * k[1]};
    };
    const auto k1 = derivative(y), k2 = derivative(at(k1, dt / 2)), k3 = derivative(at(k2, dt / 2));
    const auto k4 = derivative(at(k3, dt));
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    time += dt;
  }
  double energy() const { return y[1] * y[1] / 2 + 1 - std::cos(y[0]); }
};

auto step_of(Pendulum& pendulum) {
  return cr::StepExecutor{[&](auto& out) {
                            pendulum.advance(out.input("dt"_n, 0.02));
                            if (out.due("energy"_n)) out["energy"_n] = pendulum.energy();
                          },
                          cr::input<double, "dt">, cr::output<double, "energy">,  //
                          cr::variable<"y">(pendulum.y), cr::variable<"time">(pendulum.time)};
}

/// Runs up to a step and saves there; continues from the folder's latest checkpoint.
Pendulum simulate(const std::filesystem::path& folder, int last_step) {
  Pendulum pendulum;
  const cr::Saver saver{folder};
  cr::MonitoredSession session{
      step_of(pendulum),
      cr::HookChain{cr::StopAtStep{.last_step = last_step}, cr::LoggingTensor<"energy">{.every_steps = 500},
                    cr::CheckpointSaver{saver, {.save_steps = 1000}}},
      cr::restore_latest(saver)};
  std::printf("begins at step %d, time %.2f\n", static_cast<int>(session.step()), pendulum.time);
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) {
      const double dt = s.step() < 100 ? 0.005 : 0.02;  // smaller steps at first
      s.run(cr::feed<"dt">(dt));
    }
  });
  return pendulum;
}

int main() {
  std::filesystem::remove_all("pendulum_checkpoints");
  const Pendulum at_once = simulate("pendulum_checkpoints/at_once", 2000);
  simulate("pendulum_checkpoints/in_parts", 600);
  const Pendulum in_parts = simulate("pendulum_checkpoints/in_parts", 2000);
  const bool equal = at_once.y == in_parts.y && at_once.time == in_parts.time;
  std::printf("time %.2f, energy %.6f, equal: %s\n", in_parts.time, in_parts.energy(), equal ? "yes" : "no");
  return equal ? 0 : 1;
}
