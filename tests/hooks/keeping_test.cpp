// SPDX-License-Identifier: Apache-2.0
// MovingAverage, BestCheckpoint, MemoryMonitor.
#include <crochet/crochet.hpp>
#include <crochet/hooks/best_checkpoint.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/memory_monitor.hpp>
#include <crochet/hooks/moving_average.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace keeping_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::testing::ManualClock;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;

template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const cr::LogicError& error) {
    return error.what();
  }
  return "";
}

/// Adds one to every weight in each step.
struct Model {
  std::vector<float> w{0, 10};
  double b = 100;
  std::int64_t count = 0;

  auto executor() {
    return cr::StepExecutor{[this](auto& out) {
                              for (float& x : w) ++x;
                              ++b, ++count;
                              out["sum"_n] = static_cast<double>(w[0]) + static_cast<double>(w[1]) + b;
                            },
                            cr::output<double, "sum">, cr::variable<"w">(w), cr::variable<"b">(b),
                            cr::variable<"count">(count)};
  }
};
template <class Chain>
using SessionOf = cr::MonitoredSession<decltype(std::declval<Model&>().executor())&, Chain&>;

TEST(MovingAverage, FollowsTheWeights) {
  Model model;
  auto executor = model.executor();
  cr::WeightAverages averages;
  cr::HookChain chain{cr::MovingAverage{.averages = averages, .decay = 0.75}};
  SessionOf<decltype(chain)> session{executor, chain};
  EXPECT_EQ(averages.names(), (Lines{"w", "b"})) << "count is no floating number";
  double expected = 0;
  for (int i = 1; i <= 3; ++i) {
    session.run();
    expected = 0.75 * expected + 0.25 * i;
  }
  EXPECT_EQ(averages.updates(), 3);
  averages.swap();
  EXPECT_TRUE(averages.are_swapped());
  EXPECT_EQ(model.w, (std::vector<float>{static_cast<float>(expected), static_cast<float>(10 + expected)}));
  EXPECT_EQ(model.b, 100 + expected);
  EXPECT_EQ(model.count, 3);
  averages.swap();
  EXPECT_EQ(model.w, (std::vector<float>{3, 13}));
  EXPECT_EQ(model.b, 103);
  session.close();
}

TEST(MovingAverage, WarmsUpAsTheOriginalDoes) {
  Model model;
  auto executor = model.executor();
  cr::WeightAverages averages;
  cr::HookChain chain{cr::MovingAverage{.averages = averages, .decay = 0.15, .warm_up = true}};
  SessionOf<decltype(chain)> session{executor, chain};
  session.run();  // decay 1/10
  session.run();  // min(0.15, 2/11)
  session.close();
  const double first = 0.1 * 100 + 0.9 * 101, second = 0.15 * first + 0.85 * 102;
  const auto scope = averages.swap_for_a_while();
  EXPECT_DOUBLE_EQ(model.b, second);
}

TEST(MovingAverage, EveryNStepsAndOnlyWhatIsIncluded) {
  Model model;
  auto executor = model.executor();
  cr::WeightAverages averages;
  cr::HookChain chain{cr::MovingAverage{
      .averages = averages, .decay = 0.5, .every_steps = 2, .include = [](auto name) { return name == "b"; }}};
  SessionOf<decltype(chain)> session{executor, chain};
  for (int i = 0; i < 5; ++i) session.run();
  session.close();
  EXPECT_EQ(averages.names(), Lines{"b"});
  EXPECT_EQ(averages.updates(), 2);
  const auto scope = averages.swap_for_a_while();
  EXPECT_EQ(model.b, 102.5) << "(100 + 102) / 2 = 101, (101 + 104) / 2";
  EXPECT_EQ(model.w[0], 5) << "as it was";
}

TEST(MovingAverage, EvaluationHasTheAverages) {
  Model model;
  auto executor = model.executor();
  cr::WeightAverages averages;
  std::vector<double> seen;
  cr::HookChain chain{cr::MovingAverage{.averages = averages, .decay = 0},
                      cr::Evaluate{cr::fetches<"sum">,
                                   std::vector{cr::feeds()},
                                   {.every_steps = 2, .during = averages.swapped(), .sink = [](auto) {}}}};
  SessionOf<decltype(chain)> session{executor, chain};
  session.run();
  model.b = 1000;  // a side run's change of the averaged weights is dropped
  session.run();
  EXPECT_EQ(model.b, 1001);
  EXPECT_FALSE(averages.are_swapped());
  session.close();
  EXPECT_EQ(chain.at<1>().latest()["sum"_n], 2 + 12 + 1001 + 3) << "the pass made a step of the averages";
}

TEST(MovingAverage, AScopeInAScopeKeepsTheAverages) {
  Model model;
  const cr::WeightAverages averages;
  auto executor = model.executor();
  cr::HookChain chain{cr::MovingAverage{.averages = averages, .decay = 0.75}};
  SessionOf<decltype(chain)> session{executor, chain};
  session.run();
  const auto weight = model.b;
  {
    const auto outer = averages.swap_for_a_while();
    const auto average = model.b;
    EXPECT_NE(average, weight);
    {
      const auto inner = averages.swap_for_a_while();
      EXPECT_EQ(model.b, average) << "what is saved during an evaluation of the averages";
    }
    EXPECT_EQ(model.b, average);
  }
  EXPECT_EQ(model.b, weight);
}

TEST(MovingAverage, TheLastOfSeveralScopesSwapsBack) {
  Model model;
  const cr::WeightAverages averages;
  auto executor = model.executor();
  averages.bind(executor, {});
  model.b = 2;
  auto first = averages.swap_for_a_while();
  const auto second = averages.swap_for_a_while();
  first.reset();
  EXPECT_TRUE(averages.are_swapped());
}

TEST(MovingAverage, AScopeThatOutlivesItsSessionChangesNothing) {
  Model model;
  auto executor = model.executor();
  const cr::WeightAverages averages;
  for (const bool anew : {true, false}) {
    model.b = 1;
    averages.clear();
    averages.bind(executor, {});
    model.b = 2;
    auto scope = averages.swap_for_a_while();
    EXPECT_EQ(model.b, 1);
    model.b = 3;  // a new session restored this value from a checkpoint
    averages.clear();
    if (anew) averages.bind(executor, {});
    scope.reset();
    EXPECT_EQ(model.b, 3);
    EXPECT_FALSE(averages.are_swapped());
  }
}

TEST(MovingAverage, ARunOfAveragedWeightsIsAnError) {
  Model model;
  auto executor = model.executor();
  cr::WeightAverages averages;
  cr::HookChain chain{cr::MovingAverage{.averages = averages}};
  SessionOf<decltype(chain)> session{executor, chain};
  averages.swap();
  EXPECT_NE(refusal([&] { session.run(); }).find("swap them back"), std::string::npos);
  session.close();
  EXPECT_NE(refusal([] { cr::WeightAverages{}.swap(); }), "");
  EXPECT_NE(refusal([] { cr::MovingAverage{.decay = 1}.begin(); }), "");
  EXPECT_NE(refusal([] { cr::MovingAverage{.every_steps = 0}.begin(); }), "");
}

TEST(MovingAverage, ItsStateGoesOnExactly) {
  cr::testing::StateBox box;
  const auto run = [&](int from, int to, Model& model, bool load, bool save) {
    auto executor = model.executor();
    cr::WeightAverages averages;
    cr::MovingAverage hook{.averages = averages, .decay = 0.9, .warm_up = true};
    cr::Coordinator coordinator;
    cr::RawSession raw{executor};
    hook.begin();
    if (load) hook.load_state(box);
    hook.after_create_session(raw, coordinator);
    cr::StopState stop;
    cr::HookChain chain{hook};
    for (int i = from; i < to; ++i) cr::detail::hooked_run(raw, chain, stop, cr::RunArgs{});
    if (save) hook.save_state(box);
    averages.swap();
    const std::pair result{model.w, model.b};
    averages.swap();
    return result;
  };
  Model whole, parts;
  const auto expected = run(0, 7, whole, false, false);
  run(0, 3, parts, false, true);
  EXPECT_EQ(run(3, 7, parts, true, false), expected);
}

TEST(MovingAverage, StateOfOtherVariablesIsNotUsed) {
  cr::testing::StateBox box;
  box.put("updates", std::int64_t{5});
  box.put("names", Lines{"w", "gone"});
  box.put("sizes", std::vector<std::int64_t>{3, 0, 99, 0});
  box.put("floats", std::vector<float>{7, 7, 7, 7});
  box.put("doubles", std::vector<double>{});
  Model model;
  auto executor = model.executor();
  cr::RawSession raw{executor};
  cr::Coordinator coordinator;
  cr::MovingAverage hook;
  hook.begin();
  hook.load_state(box);
  hook.after_create_session(raw, coordinator);
  hook.averages.swap();
  EXPECT_EQ(model.w, (std::vector<float>{0, 10})) << "the saved one had three elements";
}

/// Keeps copies of a model in memory, by path.
class MemorySaver {
 public:
  explicit MemorySaver(Model& model) : model_(&model) {}

  std::string save(auto& session, std::int64_t step) {
    EXPECT_EQ(session.step(), step);
    const std::string path = "best-" + std::to_string(step);
    (*saved_)[path] = model_->b;
    return path;
  }
  void restore(auto& /*session*/, const std::string& path) { model_->b = saved_->at(path); }
  void remove(const std::string& path) { EXPECT_EQ(saved_->erase(path), 1u); }

  [[nodiscard]] std::string paths() const {
    std::string all;
    for (const auto& [path, value] : *saved_) (all += all.empty() ? "" : " ") += path;
    return all;
  }
  [[nodiscard]] double value(const std::string& path) const { return saved_->at(path); }

 private:
  Model* model_;
  std::shared_ptr<std::map<std::string, double>> saved_ = std::make_shared<std::map<std::string, double>>();
};

/// Publishes the value for the step of each run. It publishes nothing if the value is NaN.
struct Publisher {
  void after_run(auto& run, const auto&) const {
    const double value = values.at(static_cast<std::size_t>(run.step() - 1));
    if (!std::isnan(value)) metrics.publish("accuracy", run.step() - late, value);
  }
  cr::MetricChannel metrics;
  std::vector<double> values;
  std::int64_t late = 0;
};
constexpr double none = std::numeric_limits<double>::quiet_NaN();

TEST(BestCheckpoint, KeepsTheBestAndRemovesWhatFallsOut) {
  Model model;
  auto executor = model.executor();
  const cr::MetricChannel metrics;
  MemorySaver saver{model};
  RecordingSink sink;
  cr::BestCheckpoint best{saver, metrics, "accuracy", {.aim = cr::Aim::highest, .keep = 2, .sink = sink}};
  cr::HookChain chain{Publisher{metrics, {0.5, none, 0.4, 0.7, 0.6, 0.1, 0.7}}, best, best.restore_at_end()};
  SessionOf<decltype(chain)> session{executor, chain};
  std::string history;
  for (int i = 0; i < 7; ++i) {
    session.run();
    history += saver.paths() + ", ";
  }
  EXPECT_EQ(history, "best-1, best-1, best-1 best-3, best-1 best-4, best-4 best-5, best-4 best-5, best-4 best-7, ");
  const auto& kept = chain.at<1>().kept();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].step, 4) << "of equal ones the earlier is the better";
  EXPECT_EQ(kept[1].step, 7);
  EXPECT_EQ(sink.lines().front(), "crochet: saved best-1: best accuracy 0.5 (highest) at step 1");
  session.close();
  EXPECT_EQ(model.b, 104) << "as it was at step 4";
  EXPECT_EQ(sink.lines().back(), "crochet: restored best-4: best accuracy 0.7 (highest) at step 4");
}

TEST(BestCheckpoint, LowestAndNaN) {
  Model model;
  auto executor = model.executor();
  const cr::MetricChannel metrics;
  MemorySaver saver{model};
  cr::HookChain chain{Publisher{metrics, {none, 3, 2, 2.5}},
                      cr::BestCheckpoint{saver, metrics, "accuracy", {.aim = cr::Aim::lowest, .sink = [](auto) {}}}};
  metrics.publish("accuracy", 0, none);
  SessionOf<decltype(chain)> session{executor, chain};
  metrics.publish("accuracy", 1, none);
  for (int i = 0; i < 4; ++i) session.run();
  session.close();
  EXPECT_EQ(saver.paths(), "best-3");
  EXPECT_EQ(model.b, 104) << "not restored unless that is asked for";
}

TEST(BestCheckpoint, AMetricOfWeightsThatAreGoneIsReportedOnce) {
  Model model;
  auto executor = model.executor();
  const cr::MetricChannel metrics;
  MemorySaver saver{model};
  RecordingSink sink;
  cr::HookChain chain{Publisher{metrics, {0.5, 0.6, 0.7}, 1},
                      cr::BestCheckpoint{saver, metrics, "accuracy", {.aim = cr::Aim::highest, .sink = sink}}};
  SessionOf<decltype(chain)> session{executor, chain};
  for (int i = 0; i < 3; ++i) session.run();
  session.close();
  EXPECT_EQ(saver.paths(), "");
  EXPECT_EQ(sink.lines(), Lines{"crochet: BestCheckpoint: accuracy of step 0 is seen at step 1, when those weights are "
                                "gone; put the evaluator before this hook"});
}

TEST(BestCheckpoint, SeesAnEvaluationAtTheEndAndSavesAverages) {
  Model model;
  auto executor = model.executor();
  const cr::MetricChannel metrics;
  const cr::WeightAverages averages;
  MemorySaver saver{model};
  cr::HookChain chain{
      cr::MovingAverage{.averages = averages, .decay = 0.5},
      cr::Evaluate{cr::fetches<"sum">,
                   std::vector{cr::feeds()},
                   {.during = averages.swapped(), .then = metrics, .sink = [](auto) {}}},
      cr::BestCheckpoint{
          cr::AveragedSaver{saver, averages}, metrics, "sum", {.aim = cr::Aim::highest, .sink = [](auto) {}}}};
  SessionOf<decltype(chain)> session{executor, chain};
  session.run();
  session.close();
  EXPECT_EQ(saver.paths(), "best-1");
  EXPECT_EQ(saver.value("best-1"), 101.5) << "100.5, and the step that the evaluation made of the averages";
  EXPECT_EQ(model.b, 101);
}

TEST(BestCheckpoint, ItsStateIsWhatItKeeps) {
  Model model;
  cr::testing::StateBox box;
  const cr::MetricChannel metrics;
  MemorySaver saver{model};
  auto executor = model.executor();
  cr::HookChain chain{
      Publisher{metrics, {0.5, 0.6}},
      cr::BestCheckpoint{saver, metrics, "accuracy", {.aim = cr::Aim::highest, .keep = 2, .sink = [](auto) {}}}};
  SessionOf<decltype(chain)> session{executor, chain};
  session.run();
  session.run();
  session.close();
  chain.at<1>().save_state(box);
  cr::BestCheckpoint other{saver, metrics, "accuracy", {.aim = cr::Aim::highest}};
  other.begin();
  other.load_state(box);
  ASSERT_EQ(other.kept().size(), 2u);
  EXPECT_EQ(other.kept()[0].path, "best-2");
  EXPECT_EQ(other.kept()[1].value, 0.5);
  EXPECT_NE(refusal([&] {
              cr::BestCheckpoint{saver, metrics, "accuracy", {.aim = cr::Aim::highest, .keep = 0}}.begin();
            }),
            "");
}

TEST(MemoryMonitor, ReportsAtMultiplesOfTheInterval) {
  RecordingSink sink;
  std::int64_t mebibytes = 1;
  const auto read = [&] { return cr::HostMemory{.resident = mebibytes << 20, .peak = (mebibytes << 20) + (1 << 19)}; };
  std::vector<cr::MemoryUse> seen;
  Script run{cr::MemoryMonitor{.every_steps = 3,
                               .stop_above = 10 << 20,
                               .then = [&](const auto& use) { seen.push_back(use); },
                               .read = read,
                               .sink = sink}};
  for (; mebibytes <= 12 && !run.should_stop(); mebibytes += 2) run.step();
  EXPECT_EQ(sink.lines(),
            (Lines{"step 3: memory = 5.0 MiB, at most 5.5 MiB", "step 6: memory = 11.0 MiB, at most 11.5 MiB"}));
  EXPECT_TRUE(run.should_stop());
  EXPECT_EQ(run.stop_reason(), "the program uses 11.0 MiB of memory");
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[1].step, 6);
  EXPECT_FALSE(seen[1].workspace);
  EXPECT_EQ(run.fetched(), "");
}

TEST(MemoryMonitor, TheSystemTells) {
  const std::vector<char> block(32 << 20, 'x');
  const cr::HostMemory memory = cr::host_memory();
  EXPECT_GT(memory.resident, std::int64_t{32} << 20);
  EXPECT_GE(memory.peak, memory.resident);
  EXPECT_EQ(block.back(), 'x');
}

TEST(Laws, OfTheHooksThatKeep) {
  cr::testing::LawOptions options;
  RecordingSink sink;
  options.says = [&] { return sink.text(); };
  const auto read = [] { return cr::HostMemory{}; };
  EXPECT_EQ(broken_laws(cr::MemoryMonitor{.every_steps = 3, .read = read, .sink = sink}, options), "");
  Model model;
  const cr::MetricChannel metrics;
  EXPECT_EQ(
      broken_laws(cr::BestCheckpoint{MemorySaver{model}, metrics, "accuracy", {.aim = cr::Aim::highest, .sink = sink}},
                  options),
      "");
}

}  // namespace keeping_test
