// SPDX-License-Identifier: Apache-2.0
// Recovery from a checkpoint: which batch the repeated run uses.
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/feed_fn.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/session/monitored_session.hpp>

#include "directory.hpp"

namespace crochet {
namespace recovery_test {

/// The numbers 1, 2, 3, ...
struct Numbers {
  struct Position {
    std::int64_t epoch = 0, batch = 0;
  };
  [[nodiscard]] Position position() const { return at; }
  void seek(Position to) { at = to; }
  double next() { return static_cast<double>(++at.batch); }
  Position at{};
};

/// A training of ten steps that loses its machine in step 7; the last checkpoint is that of step 4.
class RecoveredTraining : public ::testing::Test {
 protected:
  RecoveredTraining() : before_(set_diagnostic_sink([](std::string_view) {})) {}
  ~RecoveredTraining() override { set_diagnostic_sink(before_); }

  /// Runs `loop(session)` with a chain that begins with these hooks. Returns the batches of all runs.
  template <class Loop, class... H>
  std::vector<double> train(const Loop& loop, H... first) {
    std::vector<double> used;
    double sum = 0;
    StepExecutor step{[&](auto& out) {
                        used.push_back(out.input("number"_n, 0.0));
                        if (used.size() == 7) throw AbortedError("the machine is lost");
                        sum += used.back();
                      },
                      input<double, "number">, variable<"sum">(sum)};
    Saver saver{dir_.path(), {.say = [](std::string_view) {}}};
    HookChain chain{first..., StopAtStep{.last_step = 10}, CheckpointInputPipeline{data},
                    CheckpointSaver{saver, {.save_steps = 4, .sink = [](std::string_view) {}}}};
    MonitoredSession session{std::move(step), std::move(chain), restore_latest(saver),
                             SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
    while (!session.should_stop()) loop(session);
    session.close();
    return used;
  }

  Numbers data;

 private:
  Directory dir_;
  DiagnosticSink before_;
};

using Batches = std::vector<double>;
const Batches in_order{1, 2, 3, 4, 5, 6, 7, 5, 6, 7, 8, 9, 10};

TEST_F(RecoveredTraining, RepeatsTheCallWithTheBatchThatItWasGiven) {
  const Batches used = train([&](auto& session) { session.run(feed<"number">(data.next())); });
  EXPECT_EQ(used, (Batches{1, 2, 3, 4, 5, 6, 7, 7, 5, 6, 7, 8, 9})) << "sessions.md, Recovery";
}

TEST_F(RecoveredTraining, UsesTheBatchesInOrderIfTheStepTakesThem) {
  EXPECT_EQ(train([&](auto& session) {
              session.run_step_fn([&](auto& step) { return step.run_with_hooks(feed<"number">(data.next())); });
            }),
            in_order);
}

TEST_F(RecoveredTraining, UsesTheBatchesInOrderIfAHookTakesThem) {
  EXPECT_EQ(train([](auto& session) { session.run(); }, FeedFn{[&] { return feed<"number">(data.next()); }}), in_order);
}

}  // namespace recovery_test
}  // namespace crochet
