// SPDX-License-Identifier: Apache-2.0
// A loop without a graph, under the same hooks: a solver for the temperature of a plate.
//
// The plate is square. Its upper edge is kept at 100 degrees, the other three at 0. Step by step the heat spreads until
// the temperatures are constant. The centre must then have 25 degrees: four such plates, each heated at another edge,
// add up to one that has 100 degrees everywhere.
#include <crochet/crochet.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/stop_when.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <vector>

namespace cr = crochet;
using namespace cr::literals;

/// Solves the heat equation on a grid by explicit time steps. A plain class without a reference to hooks.
class HeatSolver {
 public:
  explicit HeatSolver(std::size_t side) : side_(side), now_(side * side), before_(now_) {
    std::fill_n(now_.begin(), side, 100.0);
    before_ = now_;
  }

  void advance() {
    std::swap(now_, before_);
    for (std::size_t row = 1; row + 1 < side_; ++row)
      for (std::size_t i = row * side_ + 1; i + 1 < (row + 1) * side_; ++i)
        now_[i] = before_[i] +
                  rate * (before_[i - side_] + before_[i - 1] + before_[i + 1] + before_[i + side_] - 4 * before_[i]);
    ++steps_;
  }

  /// The largest change in the last step. Costs as much as the step itself.
  double residual() const {
    double largest = 0;
    for (std::size_t i = 0; i < now_.size(); ++i) largest = std::max(largest, std::abs(now_[i] - before_[i]));
    return largest;
  }
  std::span<const double> field() const { return now_; }
  std::size_t side() const { return side_; }
  long steps() const { return steps_; }

 private:
  static constexpr double rate = 0.2;  // above 0.25 explicit steps are not stable
  std::size_t side_;
  std::vector<double> now_, before_;
  long steps_ = 0;
};

/// Draws the plate after 100, 1000, 10000 steps: a user's own hook with its own output.
struct Picture {
  static constexpr auto fetches = cr::fetches<"temperature">;

  // A request for some runs only is made in before_run; nothing is fetched in the other runs.
  auto before_run(auto& run) { return run.step() + 1 == next ? std::optional{cr::RunArgs{fetches}} : std::nullopt; }

  void after_run(auto&, const auto& values) {
    if (!values.requested()) return;
    const std::span<const double> field = values["temperature"_n];
    std::printf("after %d steps:\n", next);
    for (std::size_t row = 0; row < side; row += 6) {
      for (std::size_t column = 0; column < side; column += 3) std::putchar(ink(field[row * side + column]));
      std::putchar('\n');
    }
    next *= 10;
  }

  static char ink(double degrees) { return " .:-=+*#%@"[std::min(9, static_cast<int>(degrees / 10))]; }

  std::size_t side = 0;
  int next = 100;
};

int main() {
  HeatSolver solver{61};
  cr::StepExecutor step{[&](auto& out) {
                          solver.advance();
                          out["temperature"_n] = solver.field();  // a view, not a copy
                          // Expensive, so computed only in the runs in which a hook fetches it: one in a hundred.
                          if (out.due("residual"_n)) out["residual"_n] = solver.residual();
                        },
                        cr::output<double, "residual">, cr::output<std::span<const double>, "temperature">};

  const auto why = cr::run(
      step, cr::HookChain{Picture{.side = solver.side()}, cr::EveryN<100, cr::StopWhen<"residual">>{{.below = 1e-7}}});

  const double centre = solver.field()[solver.field().size() / 2];
  std::printf("stopped after %ld steps by %s: %s\n", solver.steps(), why.hook.c_str(), why.reason.c_str());
  std::printf("centre: %.3f degrees, exact: 25\n", centre);
  return std::abs(centre - 25) < 0.001 ? 0 : 1;
}
