// SPDX-License-Identifier: Apache-2.0
// Hooks that are on in one program, off in the next one and on again in a third, which continue one training.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/epoch_means.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/switched.hpp>
#include <crochet/testing.hpp>

#include "directory.hpp"

namespace crochet {
namespace switched_hooks_test {

using namespace literals;
using Steps = std::vector<std::int64_t>;

const auto silent = [](std::string_view) {};

/// Counts ten steps an epoch.
struct TenSteps {
  struct Position {
    std::int64_t epoch = 0, batch = 0;
  };
  Position at;
  Position position() const { return at; }
  void seek(Position to) { at = to; }
  void next() {
    if (++at.batch == 10) at = {at.epoch + 1, 0};
  }
};

class SwitchedHooks : public ::testing::Test {
 protected:
  Directory dir_;
  Steps steps_;

  /// One program: the hook is on or off, until step `last`.
  template <class Hook>
  void train(Hook hook, bool on, std::int64_t last) {
    double weight = 0;
    StepExecutor step{[&](auto& out) {
                        if (out.due("loss"_n)) weight += 1;
                        out["loss"_n] = weight;
                        out["accuracy"_n] = weight;
                      },
                      output<double, "loss">, output<double, "accuracy">, variable<"weight">(weight)};
    Saver all{dir_.path()};
    TenSteps data;
    auto chain = HookChain{CheckpointInputPipeline{data}, Switched<Hook>{std::move(hook), {.on = on}},
                           StopAtStep{.last_step = last}, CheckpointSaver{all, {.save_steps = 1000, .sink = silent}}};
    MonitoredSession session{step, std::move(chain), restore_latest(all)};
    run_session(session, [&](auto& s) {
      while (!s.should_stop()) {
        data.next();
        s.run(fetches<"loss">);
      }
    });
  }
  template <class Make>
  Steps on_off_on(Make make) {
    const DiagnosticSink before = set_diagnostic_sink(silent);
    for (const auto& [on, last] : {std::pair{true, 15}, {false, 32}, {true, 52}}) train(make(), on, last);
    set_diagnostic_sink(before);
    return steps_;
  }
};

TEST_F(SwitchedHooks, ActAtMultiples) {
  const auto make = [&] {
    return Evaluate{fetches<"accuracy">,
                    std::vector(1, feeds()),
                    {.every_steps = 10,
                     .at_end = false,
                     .then = [&](const auto& result) { steps_.push_back(result.step); },
                     .sink = silent}};
  };
  EXPECT_EQ(on_off_on(make), (Steps{10, 40, 50}));
}

TEST_F(SwitchedHooks, PublishMeansOfEpochsOfWhichTheyHaveSeenTheEnd) {
  const MetricChannel metrics;
  on_off_on([&] { return EpochMeans<"loss">{metrics}; });
  std::vector<std::pair<std::int64_t, double>> means;
  for (const auto& entry : metrics.history("training/loss")) means.emplace_back(entry.step, entry.value);
  EXPECT_EQ(means, (std::vector<std::pair<std::int64_t, double>>{{10, 5.5}, {40, (33 + 40) / 2.0}, {50, 45.5}}))
      << "none of the runs of step 11 to 15 is in a later epoch's mean";
}

TEST_F(SwitchedHooks, PublishTheMeanOfAllRunsOfAnEpochThatWasInterrupted) {
  const MetricChannel metrics;
  for (const std::int64_t last : {15, 32}) train(EpochMeans<"loss">{metrics}, true, last);
  std::vector<std::pair<std::int64_t, double>> means, epochs;
  for (const auto& entry : metrics.history("training/loss")) means.emplace_back(entry.step, entry.value);
  for (const auto& entry : metrics.history("training/epoch")) epochs.emplace_back(entry.step, entry.value);
  EXPECT_EQ(means, (std::vector<std::pair<std::int64_t, double>>{{10, 5.5}, {20, 15.5}, {30, 25.5}}));
  EXPECT_EQ(epochs, (std::vector<std::pair<std::int64_t, double>>{{10, 1}, {20, 2}, {30, 3}}));
}

}  // namespace switched_hooks_test
}  // namespace crochet
