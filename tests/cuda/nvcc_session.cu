// SPDX-License-Identifier: Apache-2.0
// Sessions with hooks in a file that nvcc compiles: over a step function, and over a model with operations of its own,
// whose plans nvcc compiles too. Without a GPU the program says what is missing; nvcc_session.cmake lists the checks.
#include <crochet/crochet.hpp>
#include <crochet/executor/cuda/nvcc.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/stop_at_step.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

#include "own_operations.hpp"

namespace cr = crochet;
using namespace cr::literals;  // NOLINT(google-build-using-namespace)

namespace {

constexpr int updates = 6;
int failures = 0;

void expect_near(const char* what, double given, double expected) {
  if (std::abs(given - expected) <= 1e-5 * std::fmax(1, std::abs(expected))) return;
  std::printf("%s is %g instead of %g\n", what, given, expected);
  ++failures;
}

/// A hook that reads a value in every second run, so that the session has two demands.
struct EverySecondLoss {
  static constexpr auto fetches = cr::fetches<"loss">;
  std::vector<double> losses{};
  int run = 0;

  cr::MaybeFetch<"loss"> before_run(auto&) {
    if (run++ % 2 != 0) return std::nullopt;
    return cr::RunArgs{cr::fetches<"loss">};
  }
  void after_run(auto&, const auto& values) {
    if (values.requested()) losses.push_back(static_cast<double>(values["loss"_n]));
  }
};

void run_a_step_function() {
  double r = 1;
  cr::MonitoredSession session{
      cr::StepExecutor{[&](auto& out) { out["loss"_n] = r *= 0.5; }, cr::output<double, "loss">},
      cr::HookChain{cr::StopAtStep{.last_step = updates}, EverySecondLoss{},
                    cr::LoggingTensor<"loss">{.every_steps = 4}}};
  while (!session.should_stop()) session.run(cr::fetches<"loss">);
  expect_near("the step function's result", r, std::exp2(-updates));
  expect_near("the number of the step function's values", session.hooks().get<EverySecondLoss>().losses.size(),
              updates / 2);
  session.close();
}

void train_on_a_gpu() {
  const own::Expected expected(updates);
  cr::MonitoredSession session{cr::NvccCuda{}.compile<own::Model>(),
                               cr::HookChain{cr::StopAtStep{.last_step = updates}, EverySecondLoss{}}};
  const std::vector<float> x = own::input();
  while (!session.should_stop()) session.run("train"_n, cr::feed<"x">(x));
  const auto& losses = session.hooks().get<EverySecondLoss>().losses;
  for (std::size_t k = 0; k < losses.size(); ++k) expect_near("a loss", losses[k], expected.losses[2 * k]);
  const auto w = session.executor().variable("w"_n);
  for (std::size_t t = 0; t < own::steps; ++t) expect_near("a weight", w[t], expected.w[t]);
  session.close();
  std::printf("trained on %s\n", session.executor().device()->name().c_str());
}

}  // namespace

int main() {
  run_a_step_function();
  try {
    train_on_a_gpu();
  } catch (const cr::DeviceError& error) {
    std::printf("not trained: %s\n", error.what());
  }
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
