// SPDX-License-Identifier: Apache-2.0
// Evaluate: passes over a data set between the steps of the main run.
#include <crochet/hooks/early_stopping.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/in_memory_evaluator.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/terminate_on_time.hpp>
#include <crochet/testing.hpp>

#include <crochet/crochet.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace evaluate_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::feed;
using cr::testing::RecordingSink;
using Lines = std::vector<std::string>;

/// The "model": `mean` is the mean of the fed batch. A main run feeds nothing: it increments a counter, which is its
/// `mean`.
struct Model {
  std::vector<double> seen{};
  int main_runs = 0;

  auto executor() {
    using View = cr::TensorView<double, 1>;
    return cr::StepExecutor{[this](auto& out) {
                              const View batch = out.input("batch"_n, View{});
                              double sum = 0;
                              for (const double x : batch) sum += x;
                              if (batch.empty()) ++main_runs;
                              out["mean"_n] = batch.empty() ? main_runs : sum / static_cast<double>(batch.size());
                              out["largest"_n] = batch.empty() ? 0.0f : static_cast<float>(batch[batch.size() - 1]);
                            },
                            cr::output<double, "mean">, cr::output<float, "largest">, cr::input<View, "batch">};
  }
};

const std::vector<double> first{1, 2, 3};
const std::vector<double> second{10};

auto batch_of(const std::vector<double>& values) {
  const cr::TensorView<double, 1> view{values.data(), {static_cast<std::int64_t>(values.size())}};
  return cr::feeds(feed<"batch">(view));
}
using Batch = decltype(batch_of(first));

/// Returns an empty optional at the end of each pass, then starts again.
auto callable() {
  return [at = 0]() mutable -> std::optional<Batch> {
    at = (at + 1) % 3;
    if (at == 0) return {};
    return batch_of(at == 1 ? first : second);
  };
}

template <class Chain>
void run_steps(Model& model, Chain& chain, int steps) {
  auto executor = model.executor();
  cr::MonitoredSession<decltype(executor)&, Chain&> session{executor, chain};
  cr::run_session(session, [&](auto& s) {
    while (s.step() < steps && !s.should_stop()) s.run();
  });
}

TEST(Evaluate, AveragesWeightedByBatchSize) {
  Model model;
  RecordingSink sink;
  cr::HookChain chain{cr::Evaluate{
      cr::fetches<"mean", "largest">, callable(), {.every_steps = 4, .sink = sink, .clock = [] { return 0.0; }}}};
  run_steps(model, chain, 4);
  chain.for_each([](const auto& evaluate) {
    const auto& result = evaluate.latest();
    EXPECT_DOUBLE_EQ(result["mean"_n], (1 + 2 + 3 + 10) / 4.0) << "not (2 + 10) / 2";
    EXPECT_DOUBLE_EQ(result["largest"_n], (3 * 3 + 10) / 4.0);
    EXPECT_EQ(result.step, 4);
    EXPECT_EQ(result.batches, 2);
    EXPECT_EQ(result.weight, 4);
  });
  EXPECT_EQ(sink.lines(), Lines{"step 4: mean = 4, largest = 4.75 (2 batches, 0.000 sec)"}) << "the end adds none";
}

TEST(Evaluate, TheLineHasTheSecondsOfThePass) {
  Model model;
  RecordingSink sink;
  double now = 100;
  const auto takes_two_seconds = [&, at = 0]() mutable -> std::optional<Batch> {
    now += 1;
    return ++at % 2 == 0 ? std::optional<Batch>{} : batch_of(first);
  };
  const auto clock = [&] { return now; };
  cr::HookChain chain{
      cr::Evaluate{cr::fetches<"mean">, takes_two_seconds, {.every_steps = 1, .sink = sink, .clock = clock}},
      cr::InMemoryEvaluator{
          cr::fetches<"mean">, takes_two_seconds, cr::HookChain<>{}, {.every_steps = 1, .sink = sink, .clock = clock}}};
  run_steps(model, chain, 1);
  EXPECT_EQ(sink.lines(), (Lines{"step 0: mean = 2 (1 batches, 2.000 sec)", "step 1: mean = 2 (1 batches, 2.000 sec)",
                                 "step 1: mean = 2 (1 batches, 2.000 sec)"}));
}

TEST(Evaluate, ARangeIsGoneOverEachTime) {
  Model model;
  std::string when;
  const std::vector<Batch> data{batch_of(first), batch_of(second)};
  cr::HookChain chain{cr::Evaluate{cr::fetches<"mean">,
                                   data,
                                   {.every_steps = 4,
                                    .at_start = true,
                                    .then =
                                        [&](const auto& result) {
                                          when += std::to_string(result.step) + " ";
                                          EXPECT_DOUBLE_EQ(result["mean"_n], 4);
                                        },
                                    .sink = RecordingSink{}}}};
  run_steps(model, chain, 10);
  EXPECT_EQ(when, "0 4 8 10 ") << "start, every four, end";
}

TEST(Evaluate, LeavesTheMainRunsValuesAlone) {
  Model model;
  RecordingSink log;
  cr::HookChain chain{cr::Evaluate{cr::fetches<"mean">, callable(), {.every_steps = 1, .sink = RecordingSink{}}},
                      cr::LoggingTensor<"mean">{.every_steps = 1, .sink = log, .clock = [] { return 0.0; }}};
  run_steps(model, chain, 2);
  EXPECT_EQ(log.lines(), (Lines{"step 1: mean = 1.0", "step 2: mean = 2.0 (0.000 sec)"}))
      << "the hook after it reads the main run's";
  EXPECT_EQ(model.main_runs, 2) << "and the passes are no steps";
}

template <class Hook>
struct LoadsState {
  Hook* hook;
  cr::testing::StateBox* state;
  void create_session(auto& /*session*/, cr::Coordinator& /*coordinator*/) const { hook->load_state(*state); }
};
TEST(InMemoryEvaluator, ATrainingThatIsResumedWithAnotherIntervalIsNotEvaluatedAtItsStart) {
  Model model;
  std::string when;
  const cr::InMemoryEvaluatorOptions<cr::Name<"mean">> options{
      .every_steps = 4,
      .then = [&](const auto& result) { when += std::to_string(result.step) + " "; },
      .sink = cr::no_lines};
  cr::HookChain chain{cr::InMemoryEvaluator{cr::fetches<"mean">, callable(), cr::HookChain<>{}, options}};
  cr::testing::StateBox saved;  // with every_epochs the other section had another field
  saved.section("latest", [&] { saved.put("step", std::int64_t{0}); });
  auto executor = model.executor();
  using Hook = std::remove_reference_t<decltype(chain.at<0>())>;
  cr::MonitoredSession<decltype(executor)&, decltype(chain)&, LoadsState<Hook>> session{
      executor, chain, LoadsState<Hook>{&chain.at<0>(), &saved}};
  cr::run_session(session, [](auto& s) {
    while (s.step() < 5) s.run();
  });
  EXPECT_EQ(when, "4 5 ");
}

TEST(Evaluate, EarlyStoppingBelongsToStopIf) {
  Model model;
  cr::Patience patience{.aim = cr::Aim::lowest, .patience = 2};
  cr::HookChain chain{
      cr::Evaluate{cr::fetches<"mean">,
                   callable(),
                   {.every_steps = 5,
                    .stop_if = [&](const auto& result) { return patience.exhausted(result["mean"_n], result.step); },
                    .sink = RecordingSink{}}}};
  run_steps(model, chain, 1000);
  EXPECT_EQ(model.main_runs, 15) << "best at 5, then 10 and 15 are not better";
}

TEST(Evaluate, OnlyAtTheEnd) {
  Model model;
  RecordingSink sink;
  cr::HookChain chain{cr::Evaluate{cr::fetches<"mean">, callable(), {.sink = sink}}};
  run_steps(model, chain, 7);
  ASSERT_EQ(sink.lines().size(), 1U);
  EXPECT_TRUE(sink.lines()[0].starts_with("step 7: mean = 4 ")) << sink.lines()[0];
}

TEST(InMemoryEvaluator, AResumedOneHasTheLastResult) {
  Model model;
  const auto hook = [] {
    return cr::InMemoryEvaluator{
        cr::fetches<"mean">, callable(), cr::HookChain<>{}, {.every_steps = 2, .sink = RecordingSink{}}};
  };
  cr::HookChain chain{hook()};
  run_steps(model, chain, 4);
  EXPECT_EQ(chain.at<0>().latest().step, 4);
  cr::testing::StateBox box;
  chain.at<0>().save_state(box);
  auto resumed = hook();
  resumed.begin();
  resumed.load_state(box);
  EXPECT_EQ(resumed.latest().step, 4);
  EXPECT_EQ(resumed.latest()["mean"_n], 4);
  EXPECT_EQ(resumed.latest().batches, 2);
  EXPECT_EQ(resumed.latest().weight, 4);
}

/// Requests a stop of each of these kinds in the third run, in this order.
struct StopsInTheThirdRun {
  std::vector<cr::StopKind> kinds;
  void after_run(auto& run, const auto&) const {
    if (run.step() != 3) return;
    for (const cr::StopKind kind : kinds) run.request_stop("a reason", kind);
  }
};
/// Reports an error to the coordinator immediately, as a thread would.
struct ThreadFails {
  std::exception_ptr error;
  void after_create_session(auto&, auto& coordinator) const { coordinator.request_stop(error, "a thread"); }
};
/// The steps in which Evaluate evaluates in a chain with this hook.
template <class Hook>
std::vector<std::int64_t> evaluated_with(Hook hook) {
  Model model;
  std::vector<std::int64_t> steps;
  const auto note = [&](const auto& result) { steps.push_back(result.step); };
  cr::HookChain chain{
      hook, cr::Evaluate{cr::fetches<"mean">, callable(), {.every_steps = 2, .then = note, .sink = RecordingSink{}}},
      cr::InMemoryEvaluator{cr::fetches<"mean">,
                            callable(),
                            cr::HookChain<>{},
                            {.every_steps = 2, .then = note, .sink = RecordingSink{}}}};
  try {
    run_steps(model, chain, 5);
  } catch (const cr::Error&) {
  }
  return steps;
}

TEST(Evaluate, AnInterruptionIsNoEndOfTheTraining) {
  using Steps = std::vector<std::int64_t>;
  using enum cr::StopKind;
  EXPECT_EQ(evaluated_with(StopsInTheThirdRun{}), (Steps{0, 2, 2, 4, 4, 5, 5})) << "the loop's own end";
  EXPECT_EQ(evaluated_with(StopsInTheThirdRun{{end}}), (Steps{0, 2, 2, 3, 3}));
  EXPECT_EQ(evaluated_with(StopsInTheThirdRun{{interruption}}), (Steps{0, 2, 2}));
  EXPECT_EQ(evaluated_with(StopsInTheThirdRun{{interruption, end}}), (Steps{0, 2, 2, 3, 3})) << "it has ended as well";
  EXPECT_EQ(evaluated_with(StopsInTheThirdRun{{end, interruption}}), (Steps{0, 2, 2, 3, 3}));
  double now = 0;
  const auto clock = [&] { return now += 1; };  // begin reads 1, the runs 2, 3, 4
  EXPECT_EQ(evaluated_with(cr::TerminateOnTime{.seconds = 3, .clock = clock}), (Steps{0, 2, 2}));
  now = 0;  // the creation of the session reads it, too
  EXPECT_EQ(evaluated_with(cr::TerminateOnTime{.seconds = 4, .across_restarts = true, .clock = clock}),
            (Steps{0, 2, 2, 3, 3}))
      << "a budget of the whole training";
  EXPECT_EQ(evaluated_with(ThreadFails{std::make_exception_ptr(cr::IoError("a disk"))}), (Steps{0}));
  EXPECT_EQ(evaluated_with(ThreadFails{std::make_exception_ptr(cr::OutOfRangeError("no more data"))}), (Steps{0, 0}))
      << "the end of the data";
}

TEST(Evaluate, DataThatIsUsedUpIsAnError) {
  Model model;
  int left = 1;
  auto once = [&]() -> std::optional<Batch> {
    if (left-- <= 0) return {};
    return batch_of(first);
  };
  cr::HookChain chain{cr::Evaluate{cr::fetches<"mean">, once, {.every_steps = 1, .sink = RecordingSink{}}}};
  EXPECT_THROW(run_steps(model, chain, 2), cr::LogicError);
}

TEST(Evaluate, AnEndOfDataThatIsThrownEndsThePassAndNotTheTraining) {
  const auto throws_at_its_end = [&](int passes) {
    return [passes, at = 0]() mutable -> std::optional<Batch> {
      if (passes == 0 || (at = (at + 1) % 3) == 0) {
        passes -= passes > 0 ? 1 : 0;
        throw cr::OutOfRangeError();
      }
      return batch_of(at == 1 ? first : second);
    };
  };
  Model model;
  cr::HookChain chain{
      cr::Evaluate{cr::fetches<"mean">, throws_at_its_end(-1), {.every_steps = 2, .sink = RecordingSink{}}}};
  run_steps(model, chain, 4);
  EXPECT_EQ(model.main_runs, 4);
  chain.for_each([](const auto& evaluate) {
    EXPECT_EQ(evaluate.latest().step, 4);
    EXPECT_DOUBLE_EQ(evaluate.latest()["mean"_n], 4);
  });
  cr::HookChain once{
      cr::Evaluate{cr::fetches<"mean">, throws_at_its_end(1), {.every_steps = 2, .sink = RecordingSink{}}}};
  EXPECT_THROW(run_steps(model, once, 4), cr::LogicError) << "the second pass has no batch";
}

/// As callable(), but throws at the end of each pass.
template <class End>
auto throwing_callable() {
  return [next = std::function<std::optional<Batch>()>(callable())]() -> std::optional<Batch> {
    auto batch = next();
    if (!batch) throw End{};
    return batch;
  };
}

TEST(Evaluate, AnEndOfDataThatIsThrownBehindMaxBatchesBeginsTheDataAgain) {
  const auto end = throwing_callable<cr::OutOfRangeError>;
  Model model;
  cr::HookChain chain{
      cr::Evaluate{cr::fetches<"mean">, end(), {.every_steps = 1, .max_batches = 2, .sink = RecordingSink{}}},
      cr::InMemoryEvaluator{cr::fetches<"mean">,
                            end(),
                            cr::HookChain<>{},
                            {.every_steps = 1, .max_batches = 2, .sink = RecordingSink{}}}};
  run_steps(model, chain, 4);
  EXPECT_EQ(model.main_runs, 4);
  chain.for_each([](const auto& evaluate) {
    EXPECT_EQ(evaluate.latest().step, 4);
    EXPECT_EQ(evaluate.latest().batches, 2);
    EXPECT_DOUBLE_EQ(evaluate.latest()["mean"_n], 4);
  });
}

TEST(Evaluate, AStopIterationEndsTheTraining) {  // a rank that has ended, a wait that was interrupted
  Model model;
  cr::HookChain chain{cr::Evaluate{cr::fetches<"mean">,
                                   throwing_callable<cr::StopIteration>(),
                                   {.every_steps = 2, .at_end = false, .sink = RecordingSink{}}}};
  run_steps(model, chain, 4);
  EXPECT_EQ(model.main_runs, 2);
}

TEST(Evaluate, NeedsAMoment) {
  const auto refused = [](cr::EvaluateOptions<cr::Name<"mean">> options) {
    cr::Evaluate evaluate{cr::fetches<"mean">, callable(), options};
    EXPECT_THROW(evaluate.begin(), cr::LogicError);
  };
  refused({.at_end = false});
  refused({.every_steps = 1, .every_seconds = 1});
  refused({.every_steps = 0});
}

TEST(Evaluate, NeedsBatches) {
  const auto refusal = [](auto evaluate) -> std::string {
    try {
      evaluate.begin();
    } catch (const cr::LogicError& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(refusal(cr::Evaluate{cr::fetches<"mean">, callable(), {.max_batches = 0}}),
            "crochet: Evaluate: invalid max_batches = 0; it has to be above 0");
  EXPECT_EQ(refusal(cr::InMemoryEvaluator{cr::fetches<"mean">, callable(), cr::HookChain<>{}, {.max_batches = -1}}),
            "crochet: InMemoryEvaluator: invalid max_batches = -1; it has to be above 0");
}

const std::vector<double> empty{};

TEST(Evaluate, ABatchWithoutRowsDoesNotCount) {
  Model model;
  const std::vector<Batch> data{batch_of(first), batch_of(empty), batch_of(second)};
  cr::HookChain chain{cr::Evaluate{cr::fetches<"mean">, data, {.every_steps = 4, .sink = RecordingSink{}}}};
  run_steps(model, chain, 4);
  EXPECT_DOUBLE_EQ(chain.at<0>().latest()["mean"_n], 4);
  EXPECT_EQ(chain.at<0>().latest().batches, 3);
  EXPECT_EQ(chain.at<0>().latest().weight, 4);
}

TEST(Evaluate, NeedsABatchWithRows) {
  Model model;
  const std::vector<Batch> data{batch_of(empty)};
  cr::HookChain chain{cr::Evaluate{cr::fetches<"mean">, data, {.every_steps = 1, .sink = RecordingSink{}}}};
  EXPECT_THROW(run_steps(model, chain, 2), cr::LogicError);
}

TEST(InMemoryEvaluator, NamesItselfInTheErrorsOfAPass) {
  const auto refusal = [](std::vector<Batch> data) -> std::string {
    Model model;
    cr::HookChain chain{cr::InMemoryEvaluator{
        cr::fetches<"mean">, std::move(data), cr::HookChain<>{}, {.every_steps = 1, .sink = RecordingSink{}}}};
    try {
      run_steps(model, chain, 1);
    } catch (const cr::LogicError& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(refusal({}),
            "crochet: InMemoryEvaluator: the data gave no batch; after the last one they have to begin again");
  EXPECT_EQ(refusal({batch_of(empty)}), "crochet: InMemoryEvaluator: all batches of the data are empty");
}

/// Data with an end and a reset, like Batches.
struct Source {
  struct Position {
    std::size_t at = 0;
  };
  const std::vector<double>& next() { return at++ == 0 ? first : second; }
  [[nodiscard]] bool done() const { return at == 2; }
  void seek(Position to) { at = to.at; }
  std::size_t at = 0;
};

TEST(PassesOver, BeginsAgainAfterEachEnd) {
  auto data = cr::passes_over(Source{}, [](const std::vector<double>& values) { return batch_of(values); });
  for (int pass = 0; pass < 2; ++pass) {
    std::size_t count = 0;
    while (auto batch = data()) count += batch->get<cr::Name<"batch">>().value.size();
    EXPECT_EQ(count, 4U);
  }
}

TEST(BatchSize, IsTheFirstFeedsLeadingExtent) {
  using cr::detail::batch_size;
  const std::vector<float> images(12);
  EXPECT_EQ(batch_size(cr::feeds(feed<"rate">(0.5f), feed<"x">(cr::TensorView<float, 2>{images.data(), {3, 4}}),
                                 feed<"y">(images))),
            3);
  EXPECT_EQ(batch_size(cr::feeds(feed<"x">(images))), 12);
  EXPECT_EQ(batch_size(cr::feeds(feed<"x">(cr::TensorView<float, 2>{images.data(), {0, 4}}), feed<"w">(images))), 0);
  EXPECT_EQ(batch_size(cr::feeds(feed<"rate">(0.5f))), -1);
  EXPECT_EQ(batch_size(cr::Feeds<>{}), -1);
}

/// A new session begins at step `back`, except the first.
struct GoesBackTo {
  std::int64_t back;
  void create_session(auto& session, auto& /*coordinator*/) const {
    if (session.creation() > 1) session.set_step(back);
  }
};
/// Loses the session once, in the main run number `run`.
struct LosesTheSession {
  int run;
  void before_run(auto&) {
    if (--run == 0) throw cr::AbortedError("lost");
  }
};

TEST(Evaluate, AStepThatWasLostIsEvaluatedAgainAtTheEnd) {
  Model model;
  auto executor = model.executor();
  double now = 0;
  std::vector<std::int64_t> steps;
  cr::HookChain chain{cr::Evaluate{cr::fetches<"mean">,
                                   callable(),
                                   {.every_seconds = 10,
                                    .then = [&](const auto& result) { steps.push_back(result.step); },
                                    .sink = RecordingSink{},
                                    .clock = [&] { return now; }}},
                      LosesTheSession{.run = 5}};
  cr::MonitoredSession session{executor, std::move(chain), GoesBackTo{2},
                               cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  cr::run_session(session, [&](auto& s) {
    for (int run = 1; run <= 3; ++run) s.run();
    now = 10;
    s.run();
    EXPECT_EQ(steps, (std::vector<std::int64_t>{4}));
    s.run();
    EXPECT_EQ(s.step(), 3);
    s.run();
  });
  EXPECT_EQ(steps, (std::vector<std::int64_t>{4, 4}));
}

/// Data of one batch whose first pass loses the machine.
auto lost_once(std::vector<std::int64_t>& passes) {
  return cr::passes_over(Source{}, [&passes](const std::vector<double>& values) {
    passes.push_back(0);
    if (passes.size() == 1) throw cr::UnavailableError("a machine is lost");
    return batch_of(values);
  });
}
template <class Chain>
void run_three_steps(Model& model, Chain chain) {
  auto executor = model.executor();
  cr::MonitoredSession session{executor, std::move(chain), GoesBackTo{0},
                               cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
  cr::run_session(session, [](auto& s) {
    while (s.step() < 3) s.run();
  });
}
TEST(Evaluate, APassAtTheStartThatIsLostIsRepeated) {
  Model model, other;
  std::vector<std::int64_t> steps, passes, in_memory, other_passes;
  run_three_steps(model, cr::HookChain{cr::Evaluate{cr::fetches<"mean">,
                                                    lost_once(passes),
                                                    {.every_steps = 2,
                                                     .at_start = true,
                                                     .at_end = false,
                                                     .then = [&](const auto& result) { steps.push_back(result.step); },
                                                     .sink = cr::no_lines}}});
  EXPECT_EQ(steps, (std::vector<std::int64_t>{0, 2}));
  const cr::InMemoryEvaluatorOptions<cr::Name<"mean">> options{
      .every_steps = 2, .then = [&](const auto& result) { in_memory.push_back(result.step); }, .sink = cr::no_lines};
  run_three_steps(other, cr::HookChain{cr::InMemoryEvaluator{cr::fetches<"mean">, lost_once(other_passes),
                                                             cr::HookChain<>{}, options}});
  EXPECT_EQ(in_memory, (std::vector<std::int64_t>{0, 2, 3}));
}

TEST(Evaluate, APassBeginsWithTheFirstBatchAfterOneThatFailed) {
  Model model;
  auto executor = model.executor();
  int batches = 0;
  auto data = cr::passes_over(Source{}, [&](const std::vector<double>& values) {
    if (++batches == 2) throw cr::IoError("a disk");
    return batch_of(values);
  });
  cr::HookChain chain{
      cr::Evaluate{cr::fetches<"mean">, data, {.every_steps = 1, .at_end = false, .sink = RecordingSink{}}}};
  cr::MonitoredSession<decltype(executor)&, decltype(chain)&> session{executor, chain};
  cr::run_session(session, [&](auto& s) {
    EXPECT_THROW(s.run(), cr::IoError);
    s.run();
  });
  EXPECT_EQ(chain.at<0>().latest().batches, 2);
  EXPECT_EQ(chain.at<0>().latest()["mean"_n], (2.0 * 3 + 10.0) / 4);
}

TEST(Evaluate, APassEndsAfterSoManyBatches) {
  Model model;
  RecordingSink sink;
  cr::HookChain chain{cr::Evaluate{cr::fetches<"mean">,
                                   std::vector{batch_of(first), batch_of(second)},
                                   {.every_steps = 1, .at_end = false, .max_batches = 1, .sink = sink}}};
  run_steps(model, chain, 2);
  EXPECT_EQ(chain.at<0>().latest().batches, 1);
  EXPECT_EQ(chain.at<0>().latest()["mean"_n], 2);
}

TEST(Evaluate, ACallableGoesOnWhereTheNumberOfBatchesEndedThePass) {
  for (const std::int64_t batches : {1, 2}) {
    Model model;
    std::string means;
    cr::HookChain chain{
        cr::Evaluate{cr::fetches<"mean">,
                     callable(),
                     {.every_steps = 1,
                      .at_end = false,
                      .max_batches = batches,
                      .then = [&](const auto& pass) { means += std::to_string(pass["mean"_n]).substr(0, 2); },
                      .sink = [](auto) {}}}};
    run_steps(model, chain, 4);
    EXPECT_EQ(means, batches == 1 ? "2.102.10" : "4.4.4.4.") << "the passes have one batch, or all";
  }
}

TEST(Evaluate, WhatHoldsDuringAPassIsOverAfterIt) {
  Model model;
  std::string log;
  const auto during = [&] {
    log += "(";
    return std::shared_ptr<void>(nullptr, [&](void*) { log += ")"; });
  };
  cr::HookChain chain{cr::Evaluate{
      cr::fetches<"mean">,
      callable(),
      {.every_steps = 2, .during = during, .then = [&](const auto&) { log += "then"; }, .sink = [](auto) {}}}};
  run_steps(model, chain, 4);
  EXPECT_EQ(log, "()then()then");
}

/// A hook of the evaluation that records its phases.
struct EvalHook {
  void begin() { *log += "begin "; }
  void after_create_session(auto& session, auto&) { *log += "create@" + std::to_string(session.step()) + " "; }
  void before_run(auto&) { *log += "b "; }
  void after_run(auto& run, const auto&) {
    *log += "a ";
    if (++runs == stop_after) run.request_stop("enough batches");
  }
  void end(auto&) { *log += "end;"; }
  void on_error(const std::exception_ptr&) { *log += "error;"; }

  std::shared_ptr<std::string> log = std::make_shared<std::string>();
  int stop_after = -1;
  int runs = 0;
};

const cr::InMemoryEvaluatorOptions<cr::Name<"mean">> every_four{.every_steps = 4, .sink = [](auto) {}};

TEST(InMemoryEvaluator, EvaluatesAtTheStartEveryNAndAtTheEnd) {
  Model model;
  std::vector<std::int64_t> steps;
  auto options = every_four;
  options.then = [&](const auto& result) { steps.push_back(result.step); };
  cr::HookChain chain{cr::InMemoryEvaluator{cr::fetches<"mean">, callable(), cr::HookChain<>{}, options}};
  run_steps(model, chain, 10);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{0, 4, 8, 10}));
  EXPECT_EQ(model.main_runs, 10);
  EXPECT_EQ(chain.at<0>().latest()["mean"_n], (2.0 * 3 + 10.0) / 4);
}

TEST(InMemoryEvaluator, ItsHooksSeeASessionInEachPass) {
  Model model;
  EvalHook hook;
  cr::HookChain chain{cr::InMemoryEvaluator{cr::fetches<"mean">, callable(), cr::HookChain{hook}, every_four}};
  run_steps(model, chain, 4);
  EXPECT_EQ(*hook.log, "begin create@0 b a b a end;begin create@4 b a b a end;");
}

TEST(InMemoryEvaluator, AHookOfThePassEndsThePassAndNotTheTraining) {
  Model model;
  EvalHook hook{.stop_after = 1};
  cr::HookChain chain{cr::InMemoryEvaluator{cr::fetches<"mean">, std::vector{batch_of(first), batch_of(second)},
                                            cr::HookChain{hook}, every_four}};
  run_steps(model, chain, 2);
  EXPECT_EQ(model.main_runs, 2);
  EXPECT_EQ(*hook.log, "begin create@0 b a end;begin create@2 b a b a end;") << "the hook stops only once";
}

struct SignalArrives {
  void after_run(auto&, const auto&) const { cr::detail::received_signal.store(SIGTERM); }
};

TEST(InMemoryEvaluator, ASignalDoesNotEndAPassHalfWay) {
  Model model;
  cr::HookChain chain{
      cr::InMemoryEvaluator{cr::fetches<"mean">, callable(), cr::HookChain{SignalArrives{}}, every_four}};
  run_steps(model, chain, 4);
  cr::detail::received_signal.store(0);
  EXPECT_EQ(model.main_runs, 0);
  EXPECT_EQ(chain.at<0>().latest().batches, 2) << "else a metric of half the data would be published and saved";
}

struct ThrowsInTheSecondRun {
  void after_run(auto&, const auto&) {
    if (++runs == 2) throw cr::IoError("the evaluation's disk");
  }
  int runs = 0;
};

TEST(InMemoryEvaluator, AnErrorOfThePassLeavesIt) {
  Model model;
  EvalHook hook;
  cr::HookChain chain{
      cr::InMemoryEvaluator{cr::fetches<"mean">, callable(), cr::HookChain{hook, ThrowsInTheSecondRun{}}, every_four}};
  EXPECT_THROW(run_steps(model, chain, 4), cr::IoError);
  EXPECT_EQ(*hook.log, "begin create@0 b a b a error;");
}

/// Throws the end of data where there are none.
struct EndsWithoutData {
  bool at_end;
  void after_create_session(auto&, auto&) const {
    if (!at_end) throw cr::OutOfRangeError("no more");
  }
  void end(auto&) const { throw cr::OutOfRangeError("no more"); }
};
TEST(InMemoryEvaluator, AnEndOfDataOutsideOfThePassIsAnErrorOfTheTraining) {
  for (const bool at_end : {false, true}) {
    Model model;
    cr::HookChain chain{
        cr::InMemoryEvaluator{cr::fetches<"mean">, callable(), cr::HookChain{EndsWithoutData{at_end}}, every_four}};
    EXPECT_THROW(run_steps(model, chain, 4), cr::LogicError);
  }
}

struct ReportsToItsCoordinator {
  std::exception_ptr error;
  void after_create_session(auto&, auto& coordinator) const { coordinator.request_stop(error); }
};

TEST(InMemoryEvaluator, AnErrorThatIsReportedToThePassLeavesIt) {
  Model model;
  EvalHook hook;
  const ReportsToItsCoordinator reports{std::make_exception_ptr(cr::IoError("a thread of the evaluation"))};
  cr::HookChain chain{cr::InMemoryEvaluator{cr::fetches<"mean">, callable(), cr::HookChain{hook, reports}, every_four}};
  EXPECT_THROW(run_steps(model, chain, 4), cr::IoError);
  EXPECT_EQ(*hook.log, "begin create@0 b a end;") << "as in a session of its own";
}

/// Notes the epoch of the session of each pass.
struct NotesEpoch {
  std::vector<std::int64_t>* epochs;
  void after_create_session(auto& session, auto&) const { epochs->push_back(session.epoch()); }
};
/// Counts its own epochs.
struct Counted {
  struct Position {
    std::int64_t epoch = 0, batch = 0;
  };
  std::int64_t epoch = 0;
  [[nodiscard]] Position position() const { return {epoch, 0}; }
};
struct HasData {
  const Counted* data;
  [[nodiscard]] cr::EpochSource epoch_source() const { return cr::EpochSource{*data}; }
  void before_run(auto&) const {}
};

TEST(InMemoryEvaluator, ItsHooksSeeTheEpochOfTheTraining) {
  Model model;
  std::vector<std::int64_t> epochs;
  const Counted training{.epoch = 7};
  cr::HookChain chain{HasData{&training}, cr::InMemoryEvaluator{cr::fetches<"mean">, callable(),
                                                                cr::HookChain{NotesEpoch{&epochs}}, every_four}};
  run_steps(model, chain, 2);
  EXPECT_EQ(epochs, (std::vector<std::int64_t>{7, 7}));
}

TEST(InMemoryEvaluator, ItsHooksSeeTheEpochOfTheirOwnDataFirst) {
  Model model;
  std::vector<std::int64_t> epochs;
  const Counted training{.epoch = 7}, own{.epoch = 3};
  cr::HookChain chain{HasData{&training},
                      cr::InMemoryEvaluator{cr::fetches<"mean">, callable(),
                                            cr::HookChain{HasData{&own}, NotesEpoch{&epochs}}, every_four}};
  run_steps(model, chain, 2);
  EXPECT_EQ(epochs, (std::vector<std::int64_t>{3, 3}));
}

TEST(InMemoryEvaluator, EvaluatesEveryHundredStepsIfNothingIsSaid) {
  Model model;
  int passes = 0;
  cr::HookChain chain{cr::InMemoryEvaluator{cr::fetches<"mean">,
                                            callable(),
                                            cr::HookChain<>{},
                                            {.then = [&](const auto&) { ++passes; }, .sink = [](auto) {}}}};
  run_steps(model, chain, 200);
  EXPECT_EQ(passes, 3) << "0, 100 and 200, which is the end";
  cr::InMemoryEvaluator never{cr::fetches<"mean">, callable(), cr::HookChain<>{}, {.every_steps = 0}};
  EXPECT_THROW(never.begin(), cr::LogicError);
}

}  // namespace evaluate_test
