// SPDX-License-Identifier: Apache-2.0
// Stock hooks with the same N in one chain act in the same steps: with either anchor, and after a resume.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/csv_logger.hpp>
#include <crochet/hooks/io/json_lines_logger.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../../io/temporary_folder.hpp"

namespace anchor_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::Anchor;
using cr::test::TemporaryFolder;
using cr::testing::ManualClock;
using cr::testing::RecordedSummaries;
using Steps = std::set<std::int64_t>;
constexpr std::int64_t every = 10;

/// The number after the text `before`; -1 if there is none.
std::int64_t number_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  return at == std::string::npos ? -1 : std::atoll(text.c_str() + at + before.size());
}

/// The steps in which each hook acted, and the current step of the training.
struct Acted {
  std::map<std::string, Steps> steps{};
  std::int64_t now = 0;

  void note(const std::string& hook, std::int64_t step) { steps[hook].insert(step); }
  /// A sink that takes the step of each line from the number after `before`.
  auto lines(const std::string& hook, const std::string& before = "step ") {
    return [this, hook, before](std::string_view line) {
      const std::int64_t step = number_after(std::string(line), before);
      if (step >= 0) note(hook, step);
    };
  }
};

/// First in the chain: records the step of the run.
struct Now {
  Acted* acted;
  void after_run(auto& run, const auto&) const { acted->now = run.step(); }
};
struct Noted {
  Acted* acted;
  std::string name;
  void after_run(auto& run, const auto&) const { acted->note(name, run.step()); }
};
/// Records the updates of a MovingAverage that precedes it in the chain.
struct Updates {
  Acted* acted;
  cr::WeightAverages averages;
  std::int64_t seen = 0;
  void after_create_session(auto&, auto&) { seen = averages.updates(); }
  void after_run(auto& run, const auto&) {
    if (averages.updates() != std::exchange(seen, averages.updates())) acted->note("MovingAverage", run.step());
  }
};
struct NotesSaves {
  Acted* acted;
  void after_save(auto&, std::int64_t step) const { acted->note("CheckpointSaver", step); }
};
struct NotesTraces {
  Acted* acted;
  void start() {}
  void stop(std::int64_t step) { acted->note("Profiler", step); }
  void abandon() {}
};

/// A training with every hook, up to a step. It continues an earlier one in the same folder.
class Training {
 public:
  Training(const TemporaryFolder& folder, Anchor anchor) : folder_(folder), anchor_(anchor) {}

  void until(std::int64_t last_step) {
    double w = 0, rate = 1;
    ManualClock clock;
    const std::vector<cr::RunArgs<>> data(1);
    const cr::Saver<> saver{folder_ / "checkpoints", {.say = [](std::string_view) {}}};
    const RecordedSummaries saved, histograms;
    const cr::WeightAverages averages;
    cr::StepExecutor step{[&](auto& out) {
                            clock.advance(1);
                            w += 1;
                            out["loss"_n] = w;
                          },
                          cr::output<double, "loss">, cr::variable<"w">(w), cr::variable<"rate">(rate)};
    cr::MonitoredSession session{
        step,
        cr::HookChain{
            Now{&acted_},
            cr::LoggingTensor<"loss">{
                .every_steps = every, .anchor = anchor_, .sink = acted_.lines("LoggingTensor"), .clock = clock},
            cr::SummarySaver<cr::summary::Scalar<"loss">>{
                .every_steps = every, .anchor = anchor_, .summaries = saved, .clock = clock},
            cr::CsvLogger<"loss">{
                .path = folder_ / "rows.csv", .every_steps = every, .anchor = anchor_, .clock = clock},
            cr::JsonLinesLogger<"loss">{
                .path = folder_ / "rows.jsonl", .every_steps = every, .anchor = anchor_, .clock = clock},
            cr::LearningRateMonitor<"loss">{
                .every_steps = every, .anchor = anchor_, .sink = acted_.lines("LearningRateMonitor"), .clock = clock},
            cr::MemoryMonitor{
                .every_steps = every, .anchor = anchor_, .sink = acted_.lines("MemoryMonitor"), .clock = clock},
            cr::StepCounter{
                .every_steps = every, .anchor = anchor_, .sink = acted_.lines("StepCounter"), .clock = clock},
            cr::WeightHistograms{.every_steps = every,
                                 .anchor = anchor_,
                                 .accept = [](std::string_view) { return true; },
                                 .summaries = histograms,
                                 .clock = clock},
            cr::EveryN<every, Noted>{{&acted_, "EveryN"}, {.anchor = anchor_}},
            cr::Evaluate{cr::fetches<"loss">,
                         data,
                         {.every_steps = every,
                          .anchor = anchor_,
                          .at_end = false,
                          .then = [this](const auto& result) { acted_.note("Evaluate", result.step); },
                          .sink = [](std::string_view) {},
                          .clock = clock}},
            cr::make_early_stopping(
                [this] {
                  acted_.note("make_early_stopping", acted_.now);
                  return false;
                },
                {.run_every_steps = every, .anchor = anchor_, .clock = clock}),
            cr::ReduceOnPlateau<"loss", "rate">{
                .rule = {.aim = cr::Aim::lowest, .rate = 1, .factor = 0.9, .patience = 1},
                .every_steps = every,
                .anchor = anchor_,
                .sink = acted_.lines("ReduceOnPlateau", "from step ")},
            cr::MovingAverage{.averages = averages, .every_steps = every, .anchor = anchor_},
            Updates{&acted_, averages},
            cr::InMemoryEvaluator{cr::fetches<"loss">,
                                  data,
                                  cr::HookChain{},
                                  {.every_steps = every,
                                   .anchor = anchor_,
                                   .then = [this](const auto& r) { acted_.note("InMemoryEvaluator", r.step); },
                                   .sink = [](std::string_view) {},
                                   .clock = clock}},
            cr::Profiler{NotesTraces{&acted_}, {.every_steps = every, .anchor = anchor_, .clock = clock}},
            cr::ProfilerHook{{.save_steps = every,
                              .anchor = anchor_,
                              .output_dir = folder_ / "profile",
                              .event_file = false,
                              .clock = clock,
                              .wall_clock = [] { return 1000.0; },
                              .sink = [](std::string_view) {}}},
            cr::StopAtStep{.last_step = last_step},
            cr::CheckpointSaver{saver, {.save_steps = every, .anchor = anchor_, .clock = clock}, NotesSaves{&acted_}}},
        cr::restore_latest(saver), cr::SessionOptions{.clock = clock}};
    while (!session.should_stop()) session.run();
    session.close();
    for (const std::string& line : saved.lines()) {
      if (line[0] != 's' && line[0] != 'f') acted_.note("SummarySaver", std::atoll(line.c_str()));
    }
    for (const std::string& line : histograms.lines()) acted_.note("WeightHistograms", std::atoll(line.c_str()));
  }

  /// The steps in which each hook acted.
  std::map<std::string, Steps> acted() {
    std::string line;
    for (std::ifstream rows(folder_ / "rows.csv"); std::getline(rows, line);) {
      if (line != "step,loss") acted_.note("CsvLogger", std::atoll(line.c_str()));
    }
    for (std::ifstream rows(folder_ / "rows.jsonl"); std::getline(rows, line);) {
      acted_.note("JsonLinesLogger", number_after(line, "\"step\":"));
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "profile")) {
      acted_.note("ProfilerHook", number_after(entry.path().filename().string(), "timeline-"));
    }
    return acted_.steps;
  }

 private:
  const TemporaryFolder& folder_;
  Anchor anchor_;
  Acted acted_{};
};

Steps without(Steps steps, const Steps& others) {
  for (const std::int64_t step : others) steps.erase(step);
  return steps;
}

/// The first and last steps of the sessions: some hooks act there, too.
const Steps borders{0, 17, 35};

TEST(Anchor, HooksWithEqualCadencesActAtTheSameMultiples) {
  const TemporaryFolder folder;
  Training training{folder, Anchor::global_step};
  training.until(17);
  training.until(35);
  const auto acted = training.acted();
  EXPECT_EQ(acted.size(), 17u) << "every hook of the chain is observed";
  for (const auto& [hook, steps] : acted) {
    const Steps expected = hook == "ReduceOnPlateau" ? Steps{20, 30} : Steps{10, 20, 30};  // its first value is best
    EXPECT_EQ(without(steps, borders), expected) << hook;
  }
}

TEST(Anchor, HooksWithEqualCadencesActInTheFirstRunAndNStepsLater) {
  const TemporaryFolder folder;
  Training training{folder, Anchor::first_run};
  training.until(17);
  training.until(35);
  const std::map<std::string, Steps> others{
      {"StepCounter", {11, 21, 31}},  // rate and mean need an interval; the first run starts it
      {"ReduceOnPlateau", {21, 31}},
      {"InMemoryEvaluator", {10, 20, 30}},  // these count from the creation of the session
      {"CheckpointSaver", {10, 27}},
      {"Profiler", {10, 27}},
      {"ProfilerHook", {10, 27}},
  };
  for (const auto& [hook, steps] : training.acted()) {
    const auto other = others.find(hook);
    EXPECT_EQ(without(steps, borders), other == others.end() ? (Steps{1, 11, 21, 31}) : other->second) << hook;
  }
}

TEST(Anchor, EarlyStoppingActsInTheStepOfTheEvaluation) {
  const cr::MetricChannel metrics;
  const std::vector<cr::RunArgs<>> data(1);
  double loss = 0;
  cr::StepExecutor step{[&](auto& out) { out["loss"_n] = loss += 1; }, cr::output<double, "loss">};
  cr::MonitoredSession session{
      step, cr::HookChain{
                cr::Evaluate{
                    cr::fetches<"loss">, data, {.every_steps = 10, .then = metrics, .sink = [](std::string_view) {}}},
                cr::stop_if_higher(metrics, "loss", 15, {.run_every_steps = 10})}};
  while (!session.should_stop()) session.run();
  EXPECT_EQ(session.step(), 20);
  EXPECT_EQ(metrics.latest("loss")->step, 20);
  session.close();
}

}  // namespace anchor_test
