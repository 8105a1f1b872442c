// SPDX-License-Identifier: Apache-2.0
// A training with checkpoints, event files, evaluation, early stopping and the best checkpoint.
#include <crochet/checkpoint/monitored_training_session.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>

#include <array>
#include <cstdint>
#include <span>

#include "../../models.hpp"

namespace cr = crochet;

std::int64_t train(std::span<const float> images, std::span<const std::int32_t> labels) {
  const auto feeds = cr::feeds(cr::feed<"images">(images), cr::feed<"labels">(labels));
  const cr::MetricChannel metrics;
  cr::MonitoredTrainingSession session{
      cr::Cpu{}.compile<bench::Mlp<cr::SGD>>(),
      cr::HookChain{
          cr::StopAtStep{.last_step = 1000},
          cr::Evaluate{cr::fetches<"loss">, std::array{feeds}, {.every_steps = 100, .then = metrics}},
          cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 100},
          cr::BestCheckpoint{
              cr::Saver{"out/best", {.max_to_keep = 0}}, metrics, "loss", {.aim = cr::Aim::lowest, .keep = 3}}},
      {.checkpoint_dir = "out", .save_checkpoint_steps = 100},
      cr::summaries<cr::summary::Scalar<"loss">>};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run(cr::targets<"train">, feeds);
  });
  return session.step();
}
