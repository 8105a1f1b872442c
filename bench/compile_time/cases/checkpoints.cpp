// SPDX-License-Identifier: Apache-2.0
// A step function with progress in the log, values in a CSV file, and checkpoints.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>

#include <cstdint>

namespace cr = crochet;
using namespace cr::literals;

double train(std::int64_t steps) {
  double x = 3;
  cr::StepExecutor step{[&](auto& out) {
                          x -= 0.1 * x;
                          if (out.due("loss"_n)) out["loss"_n] = x * x;
                        },
                        cr::output<double, "loss">, cr::variable<"x">(x)};
  const cr::Saver saver{"out"};
  cr::MonitoredSession session{
      std::move(step),
      cr::HookChain{cr::StopAtStep{.last_step = steps}, cr::LoggingTensor<"loss">{.every_steps = 100},
                    cr::CsvLogger<"loss">{.path = "out/training.csv", .every_steps = 10},
                    cr::CheckpointSaver{saver, {.save_steps = 1000}}},
      cr::restore_latest(saver)};
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
  });
  return x;
}
