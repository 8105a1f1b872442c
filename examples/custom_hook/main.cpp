// SPDX-License-Identifier: Apache-2.0
// A user's own hook in a user's own loop.
//
// The loop fits a line to forty noisy points by gradient descent. The hook decides when it stops. A hook is a plain
// class: no base class, no registration. A hook that cannot work does not compile: try after_rum, or fetches<"lose">.
#include <crochet/crochet.hpp>

#include <cmath>
#include <cstdio>
#include <limits>

namespace cr = crochet;
using namespace cr::literals;

/// Stops when the loss has not improved by `min_delta` for `patience` steps.
struct Plateau {
  static constexpr auto fetches = cr::fetches<"loss">;  // checked at compile time against the values of the step

  void after_run(auto& run, const auto& values) {
    const double loss = values["loss"_n];
    if (loss < best - min_delta) {
      best = loss;
      since = 0;
    } else if (++since >= patience) {
      run.request_stop("no improvement in loss");  // the other hooks still complete this step
    }
  }

  // With these two, checkpoints contain the hook's state, under these names.
  void save_state(auto& out) const {
    out.put("best", best);
    out.put("since", since);
  }
  void load_state(auto& in) {
    in.get("best", best);
    in.get("since", since);
  }

  double min_delta = 1e-5;
  int patience = 20;
  double best = std::numeric_limits<double>::infinity();
  int since = 0;
};

/// The model and its training step, without a reference to hooks.
struct Line {
  double slope = 0;
  double offset = 0;

  /// Makes a step along the negative gradient of the mean squared error; returns the error before the step.
  double step(double rate) {
    constexpr int points = 40;
    double loss = 0, by_slope = 0, by_offset = 0;
    for (int i = 0; i < points; ++i) {
      const double x = i / 20.0 - 1;
      const double y = 2 * x + 1 + 0.1 * std::sin(37.0 * i);  // the same noise in every run
      const double error = slope * x + offset - y;
      loss += error * error / points;
      by_slope += 2 * error * x / points;
      by_offset += 2 * error / points;
    }
    slope -= rate * by_slope;
    offset -= rate * by_offset;
    return loss;
  }
};

int main() {
  Line line;
  cr::StepExecutor step{[&](auto& out) { out["loss"_n] = line.step(0.1); }, cr::output<double, "loss">};

  cr::MonitoredSession session{step, cr::HookChain{Plateau{.patience = 10}}};
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) {
      const auto [loss] = s.run(cr::fetches<"loss">);
      if (s.step() % 20 == 1) std::printf("step %3d  loss %.5f\n", static_cast<int>(s.step()), loss);
    }
  });

  const auto& why = session.stop_reason();
  std::printf("stopped after %d steps by %s: %s\n", static_cast<int>(session.step()), why.hook.c_str(),
              why.reason.c_str());
  std::printf("y = %.2f x + %.2f\n", line.slope, line.offset);
}
