// SPDX-License-Identifier: Apache-2.0
// StopWhen on a device: a session is the same as on the CPU when it is closed, and launches and waits are those of
// NanTensor.
#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/recording_sink.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulation/software_device.hpp"

namespace crochet {
namespace stop_when_test {

using namespace crochet::literals;
using emulation::Counters;
using emulation::SoftwareDevice;

/// In step k (from 1) the loss is 3 - 3 k + x.
struct Falling {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {});
    const Tensor w = g.variable<float>("w", {3}, zeros());
    const Tensor loss = g.name("loss", reduce_sum(w) + x);
    g.name("wide", cast<double>(loss));
    g.name("count", cast<std::int32_t>(loss));
    g.name("train", minimize(loss, SGD{.learning_rate = 1.0}));
  }
};
using Gpu = cuda::Executor<SoftwareDevice, Falling>;
/// Crossed by step k, not by the one before.
constexpr double bound_of(int k) { return 3 - 3 * k + 1.5; }

/// Keeps the steps at which it was called, and the variable then; a step that is saved again at the end, once.
struct Saver {
  std::string* saved;
  std::string save(auto& session, std::int64_t step) const {
    const auto& executor = session.executor();
    executor.for_each_variable([&]<class X>(std::string_view name, std::span<X> elements, const auto&) {
      const std::string line = std::to_string(step) + ": " + std::to_string(static_cast<double>(elements[0])) + "\n";
      if (name == "w" && !saved->ends_with(line)) *saved += line;
    });
    return "";
  }
  static bool just_restored(std::int64_t) { return false; }
};

/// What is left of a session.
struct Outcome {
  std::string stopped_by, reason, lines, saved;
  std::int64_t stopped_at = 0, step = 0;
  std::vector<float> w{};
  int runs = 0;  ///< of the loop
};
void expect_equal(const Outcome& device, const Outcome& cpu) {
  EXPECT_EQ(device.stopped_by, cpu.stopped_by);
  EXPECT_EQ(device.reason, cpu.reason);
  EXPECT_EQ(device.stopped_at, cpu.stopped_at);
  EXPECT_EQ(device.step, cpu.step);
  EXPECT_EQ(device.w, cpu.w);
  EXPECT_EQ(device.lines, cpu.lines);
  EXPECT_EQ(device.saved, cpu.saved);
}

/// Runs until the session stops. The feed of step 3 is NaN.
template <class Executor, class... H>
Outcome outcome_of(Executor executor, H... hooks) {
  constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
  Outcome o;
  MonitoredSession session{std::move(executor), HookChain{std::move(hooks)...}};
  while (!session.should_stop()) session.run("train"_n, feed<"x">(++o.runs == 3 ? nan_value : 0.0F));
  session.close();
  o.stopped_by = session.stop_reason().hook;
  o.reason = session.stop_reason().reason;
  o.stopped_at = session.stop_reason().step;
  o.step = session.step();
  const auto w = session.executor().variable("w"_n);
  o.w.assign(w.begin(), w.end());
  return o;
}
Gpu gpu(CudaMode mode = CudaMode::steps_per_launch) {
  return Gpu(std::make_shared<SoftwareDevice>(1), {.mode = mode, .steps_per_launch = 8});
}

TEST(StopWhenOnADevice, TheSessionIsThatOfTheCpuWhereverTheBoundIsCrossed) {
  for (const int step : {1, 2, 7, 8, 9, 16, 37, 40, 41}) {
    const auto train = [&](auto executor) {
      return outcome_of(std::move(executor), StopAtStep{.last_step = 40}, StopWhen<"loss">{.below = bound_of(step)});
    };
    const Outcome cpu = train(Cpu{}.compile<Falling>()), device = train(gpu());
    EXPECT_EQ(cpu.step, std::min(step, 40));
    expect_equal(device, cpu);
    EXPECT_EQ(device.runs, std::min((step + 7) / 8 * 8 + 8, 40)) << "the run that filled the next launch";
  }
}

TEST(StopWhenOnADevice, AGraphOfStepsStopsToo) {
  const auto train = [&](auto executor) { return outcome_of(std::move(executor), StopWhen<"loss">{.below = -31}); };
  expect_equal(train(gpu(CudaMode::graph)), train(Cpu{}.compile<Falling>()));
}

TEST(StopWhenOnADevice, SeveralRulesOfAValueAreChecked) {
  for (const double above : {-20.5, 1e30}) {
    const auto train = [&](auto executor) {
      return outcome_of(std::move(executor), NanTensor<"w">{}, StopWhen<"wide">{.below = -40, .above = above},
                        StopWhen<"wide">{.below = -35});
    };
    expect_equal(train(gpu()), train(Cpu{}.compile<Falling>()));
  }
}

/// Runs whose caller reads the loss, so that it knows the crossing before the next run.
TEST(StopWhenOnADevice, WhereTheCallerReadsARunTheStopComesInThatRun) {
  const auto device = std::make_shared<SoftwareDevice>(1);
  MonitoredSession session{Gpu(device, {.steps_per_launch = 8}), HookChain{StopWhen<"loss">{.below = bound_of(5)}}};
  std::vector<float> losses;
  while (!session.should_stop()) {
    losses.push_back(session.run(fetches<"loss">, "train"_n, feed<"x">(0.0F))["loss"_n]);
  }
  EXPECT_EQ(losses, std::vector<float>({0, -3, -6, -9, -12}));
  EXPECT_EQ(session.stop_reason().reason, "loss = -12.0 is below -10.5");
  EXPECT_EQ(device->counters.downloads, 5) << "the hook and the caller share a copy";
  session.close();
}

/// The bound is crossed in a queued run, and all later runs have a caller that reads.
TEST(StopWhenOnADevice, ARunWhoseCallerReadsReportsAnEarlierCrossing) {
  for (const int queued : {3, 5, 6, 12}) {
    MonitoredSession session{Gpu(std::make_shared<SoftwareDevice>(1), {.steps_per_launch = 8}),
                             HookChain{StopWhen<"loss">{.below = bound_of(5)}}};
    int runs = 0;
    while (!session.should_stop() && runs < queued) ++runs, session.run("train"_n, feed<"x">(0.0F));
    while (!session.should_stop() && runs < 40) ++runs, session.run(fetches<"wide">, "train"_n, feed<"x">(0.0F));
    EXPECT_EQ(runs, std::max(queued + 1, 5));
    session.close();
    EXPECT_EQ(session.step(), 5);
    EXPECT_EQ(session.stop_reason().reason, "loss = -12.0 is below -10.5");
  }
}
TEST(StopWhenOnADevice, ARunWhoseCallerReadsReportsAnEarlierNaN) {
  constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
  MonitoredSession session{Gpu(std::make_shared<SoftwareDevice>(1), {.steps_per_launch = 8}),
                           HookChain{StopWhen<"loss">{.above = 1e30}, NanTensor<"loss">{}}};
  for (const float x : {0.0F, 0.0F, nan_value, 0.0F}) session.run("train"_n, feed<"x">(x));
  std::string error;
  try {
    session.run(fetches<"wide">, "train"_n, feed<"x">(0.0F));
  } catch (const NanLossError& e) {
    error = e.what();
  }
  EXPECT_NE(error.find("loss is NaN at step 3"), std::string::npos) << error;
  EXPECT_FALSE(session.should_stop() && session.stop_reason().hook.starts_with("StopWhen"));
}

/// No aggregate in the generic lambda below: g++ 12 fails on it.
LoggingTensor<"loss"> logging(bool at_end, const Sink& sink) {
  return {.every_steps = 10, .at_end = at_end, .sink = sink, .clock = testing::ManualClock{}};
}
/// Hooks that act in some runs: the runs behind the crossing are none for them.
TEST(StopWhenOnADevice, LinesAndCheckpointsAreThoseOfTheCpu) {
  for (const int step : {10, 13, 15, 17, 24, 37}) {
    const auto train = [&](auto executor, bool at_end) {
      testing::RecordingSink sink;
      std::string saved;
      const WeightAverages averages;
      Outcome o = outcome_of(std::move(executor), StopWhen<"loss">{.below = bound_of(step)}, logging(at_end, sink),
                             MovingAverage{.averages = averages, .every_steps = 7}, StopAtStep{.last_step = 40},
                             CheckpointSaver{Saver{&saved}, {.save_steps = 4}});
      o.lines = sink.text();
      o.saved = saved + std::to_string(averages.updates()) + " updates";
      return o;
    };
    for (const bool at_end : {false, true}) expect_equal(train(gpu(), at_end), train(Cpu{}.compile<Falling>(), at_end));
  }
}

/// The file of the last step is not replaced by what a skipped run of another demand leaves.
TEST(StopWhenOnADevice, SnapshotWritesNoSkippedRun) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "snapshot_of_a_skipped_run";
  std::filesystem::remove_all(folder);
  MonitoredSession session{Gpu(std::make_shared<SoftwareDevice>(1), {.steps_per_launch = 8}),
                           HookChain{StopWhen<"loss">{.below = bound_of(2)}, Snapshot<"loss">{folder}}};
  session.run("train"_n, feed<"x">(0.0F));
  session.run("train"_n, feed<"x">(0.0F));
  session.run(fetches<"wide">, "train"_n, feed<"x">(0.0F));
  EXPECT_TRUE(session.should_stop());
  session.close();
  std::ifstream file(folder / "loss-2.npy", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GE(bytes.size(), sizeof(float));
  float value = 0;
  std::memcpy(&value, bytes.data() + bytes.size() - sizeof value, sizeof value);
  EXPECT_EQ(value, -3);
  EXPECT_FALSE(std::filesystem::exists(folder / "loss-3.npy"));
}

/// EarlyStopping reads the loss in every run.
TEST(StopWhenOnADevice, AHookWithAStateDoesNotCountASkippedRun) {
  const auto looks = [](auto executor) {
    using Early = EarlyStopping<"loss">;
    MonitoredSession session{std::move(executor), HookChain{StopWhen<"loss">{.below = bound_of(13)},
                                                            Early{.aim = Aim::highest, .patience = 30}}};
    while (!session.should_stop()) session.run("train"_n, feed<"x">(0.0F));
    session.close();
    return session.hooks().template get<Early>().seen.since;
  };
  EXPECT_EQ(looks(gpu()), 12);
  EXPECT_EQ(looks(Cpu{}.compile<Falling>()), 12);
}

/// The counters of 100 steps under the hook.
template <class H>
Counters counted(H hook) {
  const auto device = std::make_shared<SoftwareDevice>(1);
  MonitoredSession session{Gpu(device, {.steps_per_launch = 8}), HookChain{hook, StopAtStep{.last_step = 100}}};
  device->counters = {};
  while (!session.should_stop()) session.run("train"_n, feed<"x">(0.0F));
  session.close();
  return device->counters;
}
TEST(StopWhenOnADevice, WithoutACrossingItWaitsAsOftenAsNanTensor) {
  const Counters stop = counted(StopWhen<"loss">{.below = -1e30}), nan = counted(NanTensor<"loss">{});
  EXPECT_EQ(stop.launches, 13);
  EXPECT_EQ(stop.runs, 100);
  EXPECT_EQ(stop.downloads, 0);
  EXPECT_EQ(stop.waits, 14) << "the flags of 12 launches behind the next one each, of the last one, and the close";
  EXPECT_EQ(nan.launches, 13);
  EXPECT_EQ(nan.waits, 14);
}
TEST(StopWhenOnADevice, AnIntegerAndADecoratedHookAreReadOnTheHost) {
  EXPECT_EQ(counted(StopWhen<"count">{.below = -1e30}).launches, 100);
  EXPECT_EQ(counted(EveryN<10, StopWhen<"loss">>{{.below = -1e30}}).launches, 30)
      << "of 10 runs 8, 1, and the one that is due";
}

/// A table of one name.
struct OneName {
  static constexpr std::array<std::string_view, 1> fetchable{"loss"};
};
/// The device would check the old bounds too, and skip the runs behind one that is beyond them.
TEST(StopWhenOnADevice, ABoundThatChangesIsAnError) {
  for (const int steps : {1, 4}) {
    for (const bool caller_reads : {false, true}) {
      SCOPED_TRACE(::testing::Message() << steps << " a launch, " << (caller_reads ? "" : "not ") << "read");
      MonitoredSession session{Gpu(std::make_shared<SoftwareDevice>(1), {.steps_per_launch = steps}),
                               HookChain{StopWhen<"loss">{.below = bound_of(5)}}};
      const auto run = [&] {
        if (caller_reads) {
          (void)session.run(fetches<"loss">, "train"_n, feed<"x">(0.0F));
        } else {
          session.run("train"_n, feed<"x">(0.0F));
        }
      };
      for (int k = 0; k < 3; ++k) run();
      session.hooks().get<StopWhen<"loss">>().below = bound_of(50);
      try {
        run();
        ADD_FAILURE() << "no error";
      } catch (const LogicError& error) {
        EXPECT_NE(std::string(error.what()).find("checks loss has changed during the session"), std::string::npos);
      }
    }
  }
}
TEST(StatedRules, AreThoseOfTheFirstRun) {
  cuda::StatedRules stated;
  EXPECT_FALSE(stated.changes_with(0, 7));
  EXPECT_FALSE(stated.changes_with(3, 7));
  EXPECT_FALSE(stated.changes_with(0, 8));
  EXPECT_TRUE(stated.changes_with(1, 8));
}

TEST(WatchRules, EqualRulesShareAFlagAndThereIsRoomForSome) {
  cuda::WatchRules<OneName> rules;
  EXPECT_EQ(rules.add(cuda::watched_rule(0, FiniteRule{})), 0U);
  EXPECT_FALSE(rules.any_quiet());
  EXPECT_EQ(rules.add(cuda::watched_rule(0, BoundsRule{.lowest = 1})), 1U);
  EXPECT_TRUE(rules.any_quiet());
  EXPECT_EQ(rules.add(cuda::watched_rule(0, BoundsRule{.highest = 1})), 2U);
  EXPECT_EQ(rules.add(cuda::watched_rule(0, BoundsRule{.lowest = 1})), 1U);
  EXPECT_EQ(rules.add(cuda::watched_rule(0, FiniteRule{.allow_infinity = true})), 3U);
  for (std::size_t k = 4; k < rules.most; ++k) {
    EXPECT_EQ(rules.add(cuda::watched_rule(0, BoundsRule{.lowest = 100.0 + static_cast<double>(k)})), k);
  }
  EXPECT_EQ(rules.add(cuda::watched_rule(0, BoundsRule{.lowest = 7})), std::nullopt);
  EXPECT_EQ(rules.add(cuda::watched_rule(0, FiniteRule{})), 0U);
}

/// Loses the session behind step `at`, once.
struct LosesTheSession {
  using handles = Phases<phase::after_run>;
  std::int64_t at;
  bool* lost;
  void after_run(auto& run, const auto& /*values*/) const {
    if (run.step() == at && !std::exchange(*lost, true)) throw UnavailableError("the machine is gone");
  }
};
/// Restores the variables and the step that it has kept.
struct GoesBack {
  std::int64_t step;
  float w;
  template <class Session>
  void create_session(Session& session, Coordinator& /*coordinator*/) const {
    if (session.creation() == 1) return session.executor().initialize();
    session.executor().for_each_variable([&]<class X>(std::string_view name, std::span<X> elements, const auto&) {
      if (name == "w") std::fill(elements.begin(), elements.end(), static_cast<X>(w));
      if (name == "global_step") std::fill(elements.begin(), elements.end(), static_cast<X>(step));
    });
  }
};
/// What the device has found in runs that were lost does not stop the session that repeats them.
TEST(StopWhenOnADevice, ACrossingInALostRunIsForgotten) {
  const auto train = [](auto executor) {
    bool lost = false;
    MonitoredSession session{std::move(executor),
                             HookChain{StopWhen<"loss">{.below = bound_of(10)}, LosesTheSession{11, &lost}},
                             GoesBack{8, -8}, SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
    run_session(session, [](auto& s) {
      for (int run = 0; run < 40 && !s.should_stop(); ++run) s.run("train"_n, feed<"x">(0.0F));
    });
    return std::pair(session.stop_reason().step, static_cast<double>(session.executor().variable("w"_n)[0]));
  };
  const auto stopped = std::pair<std::int64_t, double>(10, -10);
  EXPECT_EQ(train(Cpu{}.compile<Falling>()), stopped);
  EXPECT_EQ(train(Gpu(std::make_shared<SoftwareDevice>(1), {.steps_per_launch = 32})), stopped);
}

}  // namespace stop_when_test
}  // namespace crochet
