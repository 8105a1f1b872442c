// SPDX-License-Identifier: Apache-2.0
// Early stopping, best checkpoints and the rate of a plateau give the same results however often a training is
// interrupted.
#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hook/chain_state.hpp>
#include <crochet/hooks/best_checkpoint.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/early_stopping.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/in_memory_evaluator.hpp>
#include <crochet/hooks/reduce_on_plateau.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/stop_if.hpp>
#include <crochet/hooks/stop_on_signal.hpp>

#include "directory.hpp"

namespace crochet {
namespace metrics_resume_test {

using namespace literals;
using Steps = std::set<std::int64_t>;

const auto silent = [](std::string_view) {};
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t interval = 40;

/// The accuracy at a step, with ties and a NaN. Steps between evaluations have a high value, which an undisturbed
/// training never evaluates.
double accuracy_at(std::int64_t step) {
  const double evaluated[] = {0.1, 0.5, 0.7, 0.7, nan_value, 0.9, 0.8, 0.85, 0.9, 0.95, 0.96};
  return step % interval == 0 ? evaluated[step / interval] : 0.99;
}
/// The loss falls until step 300, then rises.
double loss_at(std::int64_t step) { return static_cast<double>(step < 300 ? 300 - step : step - 300); }

/// The result of a training, which must not depend on the number of programs.
struct Outcome {
  std::map<std::int64_t, double> rates;  // by step
  std::vector<std::int64_t> evaluated;
  std::vector<std::pair<std::int64_t, double>> best;
  Steps saved;  // the steps of the files of the best checkpoints
  std::int64_t stopped_at = 0;
  std::string reason;
  double weight = 0;  // at the end: the weight of the best checkpoint
  friend bool operator==(const Outcome&, const Outcome&) = default;
};
void PrintTo(const Outcome& outcome, std::ostream* out) {
  *out << "stopped at " << outcome.stopped_at << " (" << outcome.reason << "), evaluated at";
  for (const std::int64_t step : outcome.evaluated) *out << ' ' << step;
  *out << ", best";
  for (const auto& [step, value] : outcome.best) *out << ' ' << step << ": " << value;
  *out << ", files of";
  for (const std::int64_t step : outcome.saved) *out << ' ' << step;
  *out << ", weight " << outcome.weight << ", runs " << outcome.rates.size();
}

/// A training with interruptions. Each interruption is a SIGINT in a run, after which a new program continues.
class Training {
 public:
  explicit Training(Steps interruptions) : interruptions_(std::move(interruptions)) {}

  /// Evaluation by Evaluate or InMemoryEvaluator. A metric or the value of each run stops the training.
  Outcome with_evaluate() {
    return run([](const MetricChannel& metrics, auto& note) {
      return HookChain{Evaluate{fetches<"accuracy">,
                                std::vector(1, feeds()),
                                {.every_steps = interval, .at_start = true, .then = metrics, .sink = note}},
                       plateau(metrics), stop_if_no_increase(metrics, "accuracy", 120, {.sink = silent})};
    });
  }
  Outcome with_in_memory_evaluator() {
    return run([](const MetricChannel& metrics, auto& note) {
      return HookChain{InMemoryEvaluator{fetches<"accuracy">,
                                         std::vector(1, feeds()),
                                         HookChain{},
                                         {.every_steps = interval, .then = metrics, .sink = note}},
                       stop_if_no_increase(metrics, "accuracy", 120, {.sink = silent}), plateau(metrics)};
    });
  }
  Outcome stopped_by_its_loss() {
    return run([](const MetricChannel& metrics, auto& note) {
      return HookChain{
          Evaluate{
              fetches<"accuracy">, std::vector(1, feeds()), {.every_steps = interval, .then = metrics, .sink = note}},
          EarlyStopping<"loss">{.aim = Aim::lowest, .patience = 15}, plateau(metrics)};
    });
  }
  Outcome stopped_at_a_step() {
    return run([](const MetricChannel& metrics, auto& note) {
      return HookChain{
          Evaluate{
              fetches<"accuracy">, std::vector(1, feeds()), {.every_steps = interval, .then = metrics, .sink = note}},
          StopAtStep{.last_step = 130}, plateau(metrics)};
    });
  }

 private:
  static ReduceOnMetricPlateau<> plateau(const MetricChannel& metrics) {
    return {.metrics = metrics,
            .metric = "accuracy",
            .rule = {.aim = Aim::highest, .rate = 1, .factor = 0.5, .patience = 2},
            .sink = silent};
  }
  template <class Hooks>
  Outcome run(Hooks hooks) {
    for (std::size_t programs = 0; programs <= interruptions_.size(); ++programs) {
      if (is_over(hooks)) break;
    }
    return outcome_;
  }

  /// Runs one program. Returns whether the training is complete.
  template <class Hooks>
  bool is_over(Hooks hooks) {
    StopOnSignal::forget();
    double weight = 0, rate = 0;
    StepExecutor step{[&](auto& out) {
                        if (out.due("loss"_n)) train(weight += 1, rate);  // otherwise an evaluation
                        const auto at = static_cast<std::int64_t>(weight);
                        out["loss"_n] = loss_at(at);
                        out["accuracy"_n] = accuracy_at(at);
                      },
                      output<double, "loss">, output<double, "accuracy">, variable<"weight">(weight),
                      variable<"learning_rate">(rate)};
    const MetricChannel metrics;
    const auto note = [&](std::string_view line) {
      outcome_.evaluated.push_back(std::stoll(std::string(line.substr(5))));
    };
    Saver all{dir_ / "all"};
    BestCheckpoint best{Saver{dir_ / "best", {.max_to_keep = 0}},
                        metrics,
                        "accuracy",
                        {.aim = Aim::highest, .keep = 3, .sink = silent}};
    auto chain = HookChain{StopOnSignal{}} | hooks(metrics, note) |
                 HookChain{best, CheckpointSaver{all, {.save_steps = 1000, .sink = silent}}, best.restore_at_end()};
    MonitoredSession<decltype(step)&, decltype(chain)&, RestoreLatest<Saver<>>> session{step, chain,
                                                                                        restore_latest(all)};
    run_session(session, [](auto& s) {
      while (!s.should_stop()) s.run(fetches<"loss">);
    });
    const StopReason& why = session.stop_reason();
    outcome_.stopped_at = why.step;
    outcome_.reason = why.reason;
    outcome_.weight = weight;
    outcome_.best.clear();
    for (const RankedCheckpoint& c : best.kept()) outcome_.best.emplace_back(c.step, c.value);
    outcome_.saved = steps_in(dir_ / "best");
    return why.kind == StopKind::end;
  }
  void train(double weight, double rate) {
    const auto at = static_cast<std::int64_t>(weight);
    EXPECT_TRUE(outcome_.rates.emplace(at, rate).second) << "step " << at << " was run twice";
    if (interruptions_.contains(at)) std::raise(SIGINT);
  }
  static Steps steps_in(const std::filesystem::path& folder) {
    Steps all;
    if (!std::filesystem::exists(folder)) return all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".index")
        all.insert(std::stoll(entry.path().stem().extension().string().substr(6)));
    }
    return all;
  }

  Directory dir_;
  Steps interruptions_;
  Outcome outcome_;
};

class MetricsResume : public ::testing::Test {
 protected:
  MetricsResume() : before_(set_diagnostic_sink([](std::string_view) {})) {}
  ~MetricsResume() override {
    set_diagnostic_sink(before_);
    StopOnSignal::forget();
  }

 private:
  DiagnosticSink before_;
};

using Method = Outcome (Training::*)();

/// Compares trainings with interruptions: one at a single step, at each of the steps if `singly`; at every 10th step;
/// and at every 10th step and next to the evaluations.
void expect_the_same_when_interrupted(Method train, const Outcome& undisturbed, bool singly = false) {
  Steps tenth, all;
  for (std::int64_t step = 10; step <= undisturbed.stopped_at; step += 10) tenth.insert(step);
  all = tenth;
  for (std::int64_t step = interval; step <= undisturbed.stopped_at; step += interval) {
    for (const std::int64_t near : {step - 1, step + 1}) {
      if (near <= undisturbed.stopped_at) all.insert(near);
    }
  }
  for (const std::int64_t step : singly ? all : Steps{undisturbed.stopped_at})
    EXPECT_EQ((Training{{step}}.*train)(), undisturbed) << "interrupted at " << step;
  EXPECT_EQ((Training{tenth}.*train)(), undisturbed) << "interrupted at every 10th step";
  EXPECT_EQ((Training{all}.*train)(), undisturbed) << "interrupted at all of them";
}

TEST_F(MetricsResume, StopIfAndTheBestAndThePlateauActAsWithoutAnInterruption) {
  const Outcome undisturbed = Training{{}}.with_evaluate();
  EXPECT_EQ(undisturbed.stopped_at, 320) << "in the step of the evaluation";
  EXPECT_EQ(undisturbed.reason, "accuracy is not higher than 0.9, of step 200, for 120 steps");
  EXPECT_EQ(undisturbed.evaluated, (std::vector<std::int64_t>{0, 40, 80, 120, 160, 200, 240, 280, 320}));
  using Best = std::vector<std::pair<std::int64_t, double>>;
  EXPECT_EQ(undisturbed.best, (Best{{200, 0.9}, {320, 0.9}, {280, 0.85}}));
  EXPECT_EQ(undisturbed.saved, (Steps{200, 280, 320}));
  EXPECT_EQ(undisturbed.weight, 200);
  EXPECT_EQ(undisturbed.rates.at(160), 1.0);
  EXPECT_EQ(undisturbed.rates.at(161), 0.5) << "in the run after the evaluation";
  EXPECT_EQ(undisturbed.rates.at(281), 0.25);
  expect_the_same_when_interrupted(&Training::with_evaluate, undisturbed, true);
}

TEST_F(MetricsResume, UnderAnInMemoryEvaluatorToo) {
  const Outcome undisturbed = Training{{}}.with_in_memory_evaluator();
  EXPECT_EQ(undisturbed.stopped_at, 320);
  EXPECT_EQ(undisturbed.evaluated, (std::vector<std::int64_t>{0, 40, 80, 120, 160, 200, 240, 280, 320}));
  expect_the_same_when_interrupted(&Training::with_in_memory_evaluator, undisturbed);
}

TEST_F(MetricsResume, EarlyStoppingStopsAtTheSameStep) {
  const Outcome undisturbed = Training{{}}.stopped_by_its_loss();
  EXPECT_EQ(undisturbed.stopped_at, 315);
  EXPECT_EQ(undisturbed.evaluated.back(), 315) << "the end of the training is evaluated";
  EXPECT_EQ(undisturbed.best.front().first, 315);
  expect_the_same_when_interrupted(&Training::stopped_by_its_loss, undisturbed);
}

TEST_F(MetricsResume, TheLastStepIsEvaluatedOnce) {
  const Outcome undisturbed = Training{{}}.stopped_at_a_step();
  EXPECT_EQ(undisturbed.evaluated, (std::vector<std::int64_t>{40, 80, 120, 130}));
  EXPECT_EQ(undisturbed.best.front(), (std::pair<std::int64_t, double>{130, 0.99}));
  expect_the_same_when_interrupted(&Training::stopped_at_a_step, undisturbed);
}

/// Loses the session once, after the run of this step.
struct LosesTheMachine {
  std::int64_t step;
  bool* lost;
  void after_run(auto& run, const auto&) const {
    if (run.step() == step && !std::exchange(*lost, true)) throw UnavailableError("the machine went away");
  }
};

TEST_F(MetricsResume, ARecoveryForgetsWhatWasEvaluatedAtTheLostSteps) {
  Directory dir;
  bool lost = false;
  double weight = 0;
  StepExecutor step{[&](auto& out) {
                      if (out.due("loss"_n)) weight += 1;
                      out["loss"_n] = 1.0;
                      out["accuracy"_n] = weight == 10 ? 0.5 : lost ? 0.1 : 0.9;  // the lost evaluation was the best
                    },
                    output<double, "loss">, output<double, "accuracy">, variable<"weight">(weight)};
  const MetricChannel metrics;
  Saver all{dir / "all"};
  BestCheckpoint best{
      Saver{dir / "best", {.max_to_keep = 0}}, metrics, "accuracy", {.aim = Aim::highest, .keep = 1, .sink = silent}};
  HookChain chain{
      Evaluate{fetches<"accuracy">, std::vector(1, feeds()), {.every_steps = 10, .then = metrics, .sink = silent}},
      stop_if_no_increase(metrics, "accuracy", 30, {.sink = silent}), best,
      CheckpointSaver{all, {.save_steps = 15, .sink = silent}}, LosesTheMachine{28, &lost}};
  MonitoredSession<decltype(step)&, decltype(chain)&, RestoreLatest<Saver<>>> session{
      step, chain, restore_latest(all), SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run(fetches<"loss">);
  });
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_EQ(session.stop_reason().reason, "accuracy is not higher than 0.5, of step 10, for 30 steps");
  EXPECT_EQ(session.stop_reason().step, 40);
  const std::vector<MetricChannel::Entry> history = metrics.history("accuracy");
  ASSERT_EQ(history.size(), 4U);
  EXPECT_EQ(history[1].value, 0.1) << "of step 20, evaluated again";
  EXPECT_EQ(best.kept().at(0).value, 0.1) << "that of step 10 was removed when the lost one of step 20 was saved";
}

/// Two hooks with one channel, and one hook with another channel that has the same metric names.
auto readers(const MetricChannel& metrics, const MetricChannel& other) {
  return HookChain{stop_if_no_increase(metrics, "accuracy", 100, {.sink = silent}),
                   ReduceOnMetricPlateau<>{.metrics = metrics, .metric = "loss", .rule = {.aim = Aim::lowest}},
                   stop_if_higher(other, "accuracy", 0.9, {.sink = silent})};
}
ChainState state_of(const auto& chain) {
  return ChainState::of([&](StateWriter& out) { chain.save_state(out); });
}
StateReport load(const ChainState& state, auto& chain) {
  return state.load([&](StateWriter& out) { chain.save_state(out); }, [&](StateReader& in) { chain.load_state(in); });
}

TEST_F(MetricsResume, AChannelIsSavedOnceByTheFirstHookThatHasIt) {
  const MetricChannel metrics, other;
  metrics.publish("accuracy", 10, 0.5);
  metrics.publish("accuracy", 20, 0.6);
  metrics.publish("loss", 10, 2);
  other.publish("accuracy", 7, 0.25);
  const auto chain = readers(metrics, other);
  const ChainState state = state_of(chain);
  const auto values = [&](std::string_view key) { return state.find(key)->find("values")->count; };
  EXPECT_EQ(values("StopIfMetric<NoImprovement>@metrics"), 3U);
  EXPECT_EQ(values("ReduceOnMetricPlateau<\"learning_rate\">@metrics"), 0U);
  EXPECT_EQ(values("StopIfMetric<CrossedThreshold>@metrics"), 1U);

  const MetricChannel metrics_again, other_again;
  auto again = readers(metrics_again, other_again);
  EXPECT_TRUE(load(state, again).all_loaded());
  EXPECT_EQ(metrics_again.latest("accuracy")->value, 0.6);
  EXPECT_EQ(metrics_again.history("accuracy").size(), 2U);
  EXPECT_EQ(metrics_again.latest("loss")->step, 10);
  EXPECT_EQ(other_again.latest("accuracy")->value, 0.25);
}

TEST_F(MetricsResume, TheHistoryComesBackInAnotherOrderOfHooks) {
  const MetricChannel metrics;
  metrics.publish("loss", 10, 2);
  const auto stop = stop_if_no_increase(metrics, "loss", 100, {.sink = silent});
  const ReduceOnMetricPlateau<> reduce{.metrics = metrics, .metric = "loss", .rule = {.aim = Aim::lowest}};
  const ChainState state = state_of(HookChain{stop, reduce});
  metrics.forget_after(-1);
  HookChain other_way_round{reduce, stop};
  EXPECT_TRUE(load(state, other_way_round).all_loaded());
  EXPECT_EQ(metrics.latest("loss")->value, 2);
}

TEST_F(MetricsResume, ACheckpointWithoutTheHistoryIsAcceptedAndReported) {
  const MetricChannel metrics;
  metrics.publish("loss", 10, 2);
  const auto hooks = [&] {
    return HookChain{
        ReduceOnMetricPlateau<>{.metrics = metrics, .metric = "loss", .rule = {.aim = Aim::lowest, .rate = 3}}};
  };
  auto saved = hooks();
  saved.at<0>().begin();
  ChainState old = state_of(saved);
  std::erase_if(old.sections, [](const StateSection& section) { return section.key.ends_with("@metrics"); });
  auto chain = hooks();
  const StateReport report = load(old, chain);
  EXPECT_EQ(report.text(), "1 loaded; added: ReduceOnMetricPlateau<\"learning_rate\">@metrics");
  EXPECT_EQ(chain.at<0>().rate(), 3);
}

TEST_F(MetricsResume, AHistoryThatDoesNotFitTogetherIsDamaged) {
  const MetricChannel metrics;
  metrics.publish("loss", 10, 2);
  HookChain chain{stop_if_no_increase(metrics, "loss", 100, {.sink = silent})};
  const ChainState good = state_of(chain);
  for (const std::int64_t count : {-1, 0, 2, 1 << 30}) {
    ChainState state = good;
    for (StateField& field : state.sections.back().fields) {
      if (field.key == "counts") std::memcpy(field.bytes.data(), &count, sizeof count);
    }
    EXPECT_THROW(load(state, chain), DataLossError) << count;
  }
  EXPECT_NO_THROW(load(good, chain));
}

}  // namespace metrics_resume_test
}  // namespace crochet
