// SPDX-License-Identifier: Apache-2.0
// Decorators: which calls they forward to the inner hook, in which runs, and their cost.
#include <crochet/hook/chain_state.hpp>
#include <crochet/hooks/early_stopping.hpp>
#include <crochet/hooks/epoch_means.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/every_seconds.hpp>
#include <crochet/hooks/feed_fn.hpp>
#include <crochet/hooks/isolated.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/only_in.hpp>
#include <crochet/hooks/step_counter.hpp>
#include <crochet/hooks/stop_on_predicate.hpp>
#include <crochet/hooks/switched.hpp>
#include <crochet/hooks/timed.hpp>
#include <crochet/hooks/when.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace decorated_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::targets;
using cr::value;
using cr::testing::ManualClock;
using cr::testing::RecordingSink;
using cr::testing::Script;
using Lines = std::vector<std::string>;

/// Records every phase that is called.
struct Diary {
  static constexpr auto fetches = cr::fetches<"loss">;

  void begin() { note("begin"); }
  void after_create_session(auto&, auto&) { note("create"); }
  void before_run(auto& run) { note("b" + std::to_string(run.step())); }
  void after_run(auto& run, const auto& values) {
    const float loss = values["loss"_n];
    note("a" + std::to_string(run.step()) + (loss > 0 ? "" : "?"));
  }
  void end(auto&) { note("end"); }
  void on_error(const std::exception_ptr&) { note("error"); }
  void save_state(auto& out) const { out.put("text", text); }
  void load_state(auto& in) { in.get("text", text); }

  void note(const std::string& what) { (text += text.empty() ? "" : " ") += what; }
  std::string text{};
};

/// Requests a fetch in every third run only: the decorator has a conditional request to forward.
struct EveryThird {
  static constexpr auto fetches = cr::fetches<"loss">;
  cr::MaybeFetch<"loss"> before_run(auto& run) {
    if (run.step() % 3 != 0) return {};
    return cr::RunArgs{fetches};
  }
  void after_run(auto&, const auto& values) { requested += values.requested() ? "+" : "-"; }
  std::string requested{};
};

struct Empty {
  static constexpr auto fetches = cr::fetches<"loss">;
  void after_run(auto&, const auto&) const {}
};

struct Other {
  void after_run(auto&, const auto&) const {}
};

struct AsksToStop {
  void after_run(auto& run, const auto&) const { run.request_stop("enough"); }
};

template <class S>
std::string fetched_in(S& run, int steps) {
  std::string fetched;
  for (int i = 0; i < steps; ++i) {
    run.step(value<"loss">(1.0f));
    fetched += run.fetched() + "|";
  }
  return fetched;
}

TEST(EveryN, PassesEveryPhaseOnAndTheRunsThatMakeAMultiple) {
  Script run{cr::EveryN<3, Diary>{}, value<"loss">(1.0f)};
  EXPECT_EQ(fetched_in(run, 7), "||loss|||loss||") << "in the runs between nothing is fetched";
  run.end();
  EXPECT_EQ(run.hook().hook.text, "begin create b2 a3 b5 a6 end");
}

TEST(EveryN, OrTheFirstRunAndEveryThirdAfterIt) {
  Script run{cr::EveryN<3, Diary>{{}, {.anchor = cr::Anchor::first_run}}, value<"loss">(1.0f)};
  EXPECT_EQ(fetched_in(run, 5), "loss|||loss||");
  run.end();
  EXPECT_EQ(run.hook().hook.text, "begin create b0 a1 b3 a4 end");
}

TEST(EveryN, AcceptsTheStateOfAnOlderVersion) {
  cr::testing::StateBox box;
  box.section("EveryN", [&] { box.put("since", std::int64_t{2}); });
  Script run{cr::EveryN<3, Diary>{{}, {.anchor = cr::Anchor::first_run}}, value<"loss">(1.0f)};
  run.hook().load_state(box);
  EXPECT_EQ(fetched_in(run, 5), "|loss|||loss|") << "two of three runs are over";
}

TEST(EveryN, CountsFromTheCheckpointAfterARecovery) {
  Script run{cr::EveryN<3, Diary>{{}, {.anchor = cr::Anchor::first_run}}, value<"loss">(1.0f)};
  (void)fetched_in(run, 2);
  cr::testing::StateBox box;
  run.hook().save_state(box);
  (void)fetched_in(run, 3);
  run.hook().load_state(box);  // without begin
  EXPECT_EQ(fetched_in(run, 5), "|loss|||loss|") << "two of three runs are over";
}

TEST(EveryN, PassesErrorsAndStateOn) {
  Script run{cr::EveryN<2, Diary>{}, value<"loss">(1.0f)};
  run.fail(std::runtime_error("x"));
  EXPECT_EQ(run.hook().hook.text, "begin create error");
  cr::testing::StateBox box;
  run.hook().save_state(box);
  cr::EveryN<2, Diary> other;
  other.load_state(box);
  EXPECT_EQ(other.hook.text, "begin create error");
}

TEST(EveryN, ARunThatFailsDoesNotUseUpTheTurn) {
  Script run{cr::EveryN<3, Diary>{{}, {.anchor = cr::Anchor::first_run}}, value<"loss">(1.0f)};
  run.log().throw_in_run(0, cr::UnavailableError("gone"));
  EXPECT_THROW(run.step(), cr::UnavailableError);
  run.step();
  run.step();
  EXPECT_EQ(run.hook().hook.text, "begin create b0 b0 a1");
}

/// Its runs make as many steps as a test sets.
struct Strides {
  struct Workspace {};
  static constexpr std::array<std::string_view, 1> fetchable{"loss"};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 0> targets{};
  template <class N>
  using fetched_t = float;
  template <class N>
  using fed_t = float;
  template <class N, class X>
  static constexpr bool accepts_feed = false;

  template <class D, class... F>
  void run(Workspace&, const F&...) {
    step += stride;
  }
  template <class N>
  float fetch(Workspace&) const {
    return 1;
  }
  [[nodiscard]] std::int64_t global_step() const { return step; }

  std::int64_t step = 0, stride = 1;
};

TEST(EveryN, ARunThatFallsShortOfTheMultipleDoesNotUseUpTheTurn) {
  Strides executor;
  cr::MonitoredSession session{executor, cr::HookChain{cr::EveryN<3, Diary>{}}};
  for (const int stride : {1, 1, 0, 0, 1, 1}) {  // 0: an evaluation, or gradients that are accumulated
    executor.stride = stride;
    session.run();
  }
  session.close();
  EXPECT_EQ(session.hooks().at<0>().hook.text, "begin create b2 b2 b2 a3 end");
}

TEST(EveryN, AResumedTrainingWithSeveralStepsInARunMissesNoMultiple) {
  using Hook = cr::EveryN<10, Diary>;
  Strides executor{.stride = 4};
  cr::testing::StateBox box;
  {
    cr::MonitoredSession session{executor, cr::HookChain{Hook{}}};
    for (int i = 0; i < 4; ++i) session.run();
    EXPECT_EQ(session.hooks().at<0>().hook.text, "begin create b8 a12");
    session.hooks().at<0>().save_state(box);
    session.close();
  }
  cr::MonitoredSession session{executor, cr::HookChain{Hook{}}};
  session.hooks().at<0>().load_state(box);
  for (int i = 0; i < 4; ++i) session.run();
  EXPECT_EQ(session.hooks().at<0>().hook.text, "begin create b8 a12 b16 a20 b28 a32");
  session.close();
}

TEST(EveryN, LeavesAConditionalHookItsChoice) {
  Script run{cr::EveryN<2, EveryThird>{{}, {.anchor = cr::Anchor::first_run}}};
  EXPECT_EQ(fetched_in(run, 7), "loss||||||loss|") << "admitted at steps 0 2 4 6, due at 0 3 6";
  EXPECT_EQ(run.hook().hook.requested, "+--+");
}

cr::Feed<cr::Name<"rate">, float> next_rate() {
  static float rate = 0;
  return cr::feed<"rate">(rate += 1);
}

TEST(EveryN, CountsForAHookThatOnlyFeeds) {
  Script run{cr::EveryN<2, cr::FeedFn<decltype(&next_rate)>>{{&next_rate}}, cr::placeholder<float, "rate">};
  std::string fed;
  for (int i = 0; i < 4; ++i) {
    run.step();
    fed += run.log().runs.back().fed + "|";
  }
  EXPECT_EQ(fed, "|rate||rate|");
  EXPECT_EQ(run.log().fed_scalars["rate"], 2);
}

TEST(EveryN, IsInitializedLikeTheHookInside) {
  const cr::EveryN<3, cr::EarlyStopping<"loss">> set{{.aim = cr::Aim::lowest, .patience = 3}};
  EXPECT_EQ(set.hook.patience, 3);
  const cr::EveryN<3, cr::EarlyStopping<"loss">> plain{{.aim = cr::Aim::lowest}};
  EXPECT_EQ(plain.hook.patience, 10);
  const cr::OnlyIn<"train", cr::EveryN<3, cr::EarlyStopping<"loss">>> nested{{{.aim = cr::Aim::lowest, .patience = 4}}};
  EXPECT_EQ(nested.hook.hook.patience, 4);
}

TEST(Decorators, AreInitializedLikeHooksWithConstructors) {
  const cr::MetricChannel metrics;
  const cr::EveryN<2, cr::EpochMeans<"loss">> means{{metrics, "train/"}};
  EXPECT_EQ(means.hook.prefix, "train/");
  const auto never = [] { return false; };
  const cr::Timed<cr::StopOnPredicate<decltype(never)>> stops{{never, {.run_every_steps = 2}}};
  EXPECT_EQ(stops.hook.cadence(), "every 2 steps");
}

TEST(Decorators, AStopIsAskedForInTheNameOfTheHookInside) {
  cr::testing::ScriptLog log;
  cr::MonitoredSession session{cr::testing::ScriptedExecutor{log},
                               cr::HookChain{cr::EveryN<1, cr::Isolated<AsksToStop>>{}}};
  session.run();
  EXPECT_EQ(session.stop_reason().hook, "AsksToStop");
  EXPECT_EQ(session.stop_reason().reason, "enough");
  session.close();
}

TEST(EverySeconds, TheFirstRunAndThenOncePerInterval) {
  ManualClock clock{1000};
  Script run{cr::EverySeconds<60, Diary>{{}, {.clock = clock}}, value<"loss">(1.0f)};
  for (int i = 0; i < 6; ++i) {
    run.step();
    clock.advance(25);
  }
  run.end();
  EXPECT_EQ(run.hook().hook.text, "begin create b0 a1 b3 a4 end") << "at 0 s and 75 s, then not before 135 s";
}

TEST(OnlyIn, TheOtherRunsCarryNoTraceOfTheHook) {
  Script run{cr::OnlyIn<"discriminator", Diary>{}, targets<"discriminator", "generator">, value<"loss">(1.0f)};
  run.step(targets<"generator">);
  EXPECT_EQ(run.fetched(), "");
  run.step(targets<"discriminator">);
  EXPECT_EQ(run.fetched(), "loss");
  run.step(targets<"generator">);
  EXPECT_EQ(run.hook().hook.text, "begin create b1 a2");
}

TEST(OnlyIn, CountsTheRunsOfItsPlan) {
  RecordingSink sink;
  Script run{
      cr::OnlyIn<"d", cr::LoggingTensor<"loss">>{{.every_steps = 2, .anchor = cr::Anchor::first_run, .sink = sink}},
      targets<"d", "g">};
  std::string logged;
  for (int i = 0; i < 9; ++i) {
    const float loss = static_cast<float>(i);
    i % 3 == 2 ? run.step(targets<"g">, value<"loss">(loss)) : run.step(targets<"d">, value<"loss">(loss));
    logged += run.fetched().empty() ? "." : "!";
  }
  EXPECT_EQ(logged, "!..!..!..") << "d d g: every second run of d";
}

std::string order_of_runs(auto decorated) {
  Script run{decorated, targets<"d", "g">, value<"loss">(1.0f)};
  std::string fetched;
  for (int i = 0; i < 12; ++i) {
    i % 2 == 0 ? run.step(targets<"d">) : run.step(targets<"g">);
    fetched += run.fetched().empty() ? '.' : '!';
  }
  return fetched;
}

TEST(Decorators, TheOrderOfTwoDecoratorsMatters) {
  // Runs: d g d g d g ...
  using EveryThirdIfOfD = cr::EveryN<3, cr::OnlyIn<"d", Empty>>;
  using EveryThirdOfD = cr::OnlyIn<"d", cr::EveryN<3, Empty>>;
  EXPECT_EQ(order_of_runs(EveryThirdIfOfD{}), "..!.....!...") << "runs 3 6 9 12, if of d";
  EXPECT_EQ(order_of_runs(EveryThirdOfD{}), "..!...!.!...") << "the first run of d at or after 3 6 9 12";
  constexpr cr::EveryNthRun<3>::options from_first{.anchor = cr::Anchor::first_run};
  EXPECT_EQ(order_of_runs(EveryThirdIfOfD{{}, from_first}), "!.....!.....") << "runs 1 4 7 10, if of d";
  EXPECT_EQ(order_of_runs(EveryThirdOfD{{{}, from_first}}), "!.....!.....") << "every third of d: 1 7";
}

constexpr bool on = true;
constexpr bool off = false;
constexpr auto known_yes = [] { return true; };
constexpr auto known_no = [] { return false; };

TEST(When, TheCompilerKnowsTheAnswer) {
  Script with{cr::When<on, Diary>{}, value<"loss">(1.0f)};
  with.step();
  EXPECT_EQ(with.hook().hook.text, "begin create b0 a1");
  EXPECT_EQ(with.fetched(), "loss");

  Script without{cr::When<off, cr::LoggingTensor<"loss">>{{.every_steps = 1}}};
  without.step();
  EXPECT_EQ(without.fetched(), "");
  static_assert(std::is_empty_v<cr::When<off, Diary>>, "switched off by type: not a byte");
  static_assert(std::is_empty_v<cr::When<known_no, Diary>>);
  static_assert(sizeof(cr::When<known_yes, Diary>) == sizeof(Diary));
}

bool chief = false;
bool is_chief() { return chief; }

TEST(When, IsAskedOncePerSession) {
  for (const bool answer : {true, false}) {
    chief = answer;
    Script run{cr::When<is_chief, Diary>{}, value<"loss">(1.0f)};
    chief = !answer;
    run.step();
    EXPECT_EQ(run.fetched(), answer ? "loss" : "");
    run.end();
    EXPECT_EQ(run.hook().hook.text, answer ? "begin create b0 a1 end" : "");
  }
}

constexpr auto in_odd_runs = [](auto& run) { return run.step() % 2 == 1; };

TEST(When, IsAskedBeforeEachRun) {
  Script run{cr::When<in_odd_runs, Diary>{}, value<"loss">(1.0f)};
  EXPECT_EQ(fetched_in(run, 4), "|loss||loss|");
  EXPECT_EQ(run.hook().hook.text, "begin create b1 a2 b3 a4");
}

/// Throws in the given phase.
struct Fragile {
  static constexpr auto fetches = cr::fetches<"loss">;
  void begin() const { at("begin"); }
  void before_run(auto& run) {
    ++calls;
    if (run.step() >= from) at("before_run");
  }
  void after_run(auto& run, const auto&) const {
    if (run.step() > from) at("after_run");
  }
  void end(auto&) const { at("end"); }
  void at(std::string_view phase) const {
    if (phase == breaks) throw std::runtime_error("the disk is full");
  }
  std::string_view breaks{};
  int from = 0;
  int calls = 0;
};

TEST(Isolated, ReportsAndGoesOn) {
  RecordingSink sink;
  Script run{cr::Isolated<Fragile>{{.breaks = "after_run", .from = 1}, {.sink = sink}}, value<"loss">(1.0f)};
  for (int i = 0; i < 9; ++i) run.step();
  run.end();
  EXPECT_EQ(run.hook().policy.failures(), 8);
  EXPECT_EQ(run.hook().policy.last_error(), "the disk is full");
  EXPECT_EQ(sink.lines(), (Lines{"crochet: Fragile failed in after_run (failure 1): the disk is full",
                                 "crochet: Fragile failed in after_run (failure 2): the disk is full",
                                 "crochet: Fragile failed in after_run (failure 4): the disk is full",
                                 "crochet: Fragile failed in after_run (failure 8): the disk is full"}));
}

TEST(Isolated, AHookThatFailsInBeforeRunHasNoPartInTheRun) {
  RecordingSink sink;
  Script run{cr::Isolated<Fragile>{{.breaks = "before_run", .from = 1}, {.sink = sink}}};
  EXPECT_EQ(fetched_in(run, 3), "loss|||");
  EXPECT_EQ(run.hook().policy.failures(), 2);
}

TEST(Isolated, CanBeDisabled) {
  RecordingSink sink;
  Script run{cr::Isolated<Fragile>{{.breaks = "after_run"}, {.sink = sink, .disable_after = 3}}};
  EXPECT_EQ(fetched_in(run, 5), "loss|loss|loss|||") << "and then fetches nothing";
  EXPECT_TRUE(run.hook().policy.disabled());
  EXPECT_EQ(run.hook().hook.calls, 3);
  EXPECT_EQ(sink.lines().back(),
            "crochet: Fragile failed in after_run (failure 3, it is not called any more): the disk is full");
}

TEST(Isolated, AHookThatDidNotBeginIsNotCalled) {
  RecordingSink sink;
  Script run{cr::Isolated<Fragile>{{.breaks = "begin"}, {.sink = sink}}, value<"loss">(1.0f)};
  run.step();
  run.end();
  EXPECT_EQ(run.hook().hook.calls, 0);
  EXPECT_EQ(sink.lines().size(), 1U);
}

TEST(Isolated, EvenItsReportMayFail) {
  const auto broken = [](std::string_view) { throw std::runtime_error("no sink either"); };
  Script run{cr::Isolated<Fragile>{{.breaks = "after_run"}, {.sink = broken}}, value<"loss">(1.0f)};
  run.step();
  EXPECT_EQ(run.hook().policy.failures(), 1);
}

struct ThrowsANumber {
  void after_run(auto&, const auto&) const { throw 42; }
};
TEST(Isolated, ReportsWhatIsNoException) {
  RecordingSink sink;
  Script run{cr::Isolated<ThrowsANumber>{{}, {.sink = sink}}};
  run.step();
  EXPECT_EQ(sink.lines(),
            Lines{"crochet: ThrowsANumber failed in after_run (failure 1): an exception that is no std::exception"});
}

TEST(Isolated, ADisabledHookIsCalledAgainInTheNextSession) {
  Script first{cr::Isolated<Fragile>{{.breaks = "after_run"}, {.sink = cr::no_lines, .disable_after = 1}}};
  first.step(value<"loss">(1.0f));
  EXPECT_TRUE(first.hook().policy.disabled());
  Script second{first.hook()};
  EXPECT_FALSE(second.hook().policy.disabled());
  EXPECT_EQ(second.hook().policy.failures(), 0);
  EXPECT_EQ(second.hook().policy.last_error(), "");
  second.step(value<"loss">(1.0f));
  EXPECT_EQ(second.hook().hook.calls, 2);
}

TEST(Isolated, IsMadeOfTheHookAlone) {
  const cr::Isolated isolated{Fragile{.breaks = "end"}, {.disable_after = 2}};
  static_assert(std::is_same_v<decltype(isolated), const cr::Isolated<Fragile>>);
  EXPECT_EQ(isolated.hook.breaks, "end");
}

/// Takes a second in before_run, two in after_run and ten in the second after_run.
struct Slow {
  void before_run(auto&) const { clock.advance(1); }
  void after_run(auto& run, const auto&) const { clock.advance(run.step() == 2 ? 10 : 2); }
  mutable ManualClock clock;
};

TEST(Timed, TakesTheTimeOfEachPhase) {
  ManualClock clock;
  RecordingSink sink;
  Script run{cr::Timed<Slow>{{clock}, {.sink = sink, .clock = clock}}};
  for (int i = 0; i < 3; ++i) {
    run.step();
    clock.advance(1000);
  }
  const auto& times = run.hook().policy;
  EXPECT_EQ(times.in<cr::phase::before_run>().calls, 3);
  EXPECT_DOUBLE_EQ(times.in<cr::phase::before_run>().seconds, 3);
  EXPECT_DOUBLE_EQ(times.in<cr::phase::after_run>().seconds, 14);
  EXPECT_DOUBLE_EQ(times.in<cr::phase::after_run>().longest, 10);
  EXPECT_DOUBLE_EQ(times.total_seconds(), 17);
  run.end();
  EXPECT_EQ(sink.lines(), Lines{"Slow: before_run 3 x 1e+06 us, after_run 3 x 4.667e+06 us, 17 s in all"});
}

struct FailsAtTheEnd {
  void end(auto&) const { throw cr::UnavailableError("gone"); }
};
TEST(Timed, WritesTheTimesOfAHookThatFailsAtTheEnd) {
  RecordingSink sink;
  Script run{cr::Timed<FailsAtTheEnd>{{}, {.sink = sink, .clock = ManualClock{}}}};
  EXPECT_THROW(run.end(), cr::UnavailableError);
  EXPECT_EQ(sink.lines(), Lines{"FailsAtTheEnd: end 1 x 0 us, 0 s in all"});
}

TEST(Timed, KeepsAnUnconditionalRequestUnconditional) {
  Script run{cr::Timed<Diary>{{}, {.report_at_end = false}}, value<"loss">(1.0f)};
  run.step();
  EXPECT_EQ(run.fetched(), "loss");
  run.end();
  EXPECT_EQ(run.hook().hook.text, "begin create b0 a1 end");
}

TEST(Switched, HasTheSameStateOnAndOff) {
  const auto state_of = [](auto& chain) { return cr::ChainState::of([&](auto& out) { chain.save_state(out); }); };
  const cr::StepCounter counter{.every_steps = 10, .sink = RecordingSink{}};
  const cr::HookChain with{cr::Switched<cr::StepCounter>{counter}};
  const cr::HookChain without{cr::Switched<cr::StepCounter>{counter, {.on = false}}};
  Script on{with};
  for (int i = 0; i < 5; ++i) on.step();
  Script off{without};
  for (auto* const to : {&off, &on}) {
    const cr::StateReport report =
        state_of(on.hooks())
            .load([&](auto& out) { to->hooks().save_state(out); }, [&](auto& in) { to->hooks().load_state(in); });
    EXPECT_TRUE(report.all_loaded()) << report.text();
  }
}

TEST(Decorators, CostNoBytesWhereTheyNeedNone) {
  static_assert(std::is_empty_v<cr::OnlyIn<"d", Empty>>);
  static_assert(std::is_empty_v<cr::When<on, cr::OnlyIn<"d", Empty>>>);
  static_assert(sizeof(cr::OnlyIn<"d", Diary>) == sizeof(Diary));
  using Chain =
      cr::HookChain<cr::OnlyIn<"d", Empty>, cr::OnlyIn<"d", Other>, cr::When<off, Diary>, cr::When<on, AsksToStop>>;
  static_assert(sizeof(Chain) == 1);
  static_assert(sizeof(cr::EveryN<10, Empty>) <= 2 * 64, "a hook's turn is decided in two cache lines");
}

TEST(Decorators, SayTheirCadenceOutermostFirst) {
  const cr::OnlyIn<"d", cr::LoggingTensor<"loss">> only{{.every_steps = 50}};
  EXPECT_EQ(only.cadence(), "in d; every 50 steps");
  const cr::EveryN<10, Empty> tenth;
  EXPECT_EQ(tenth.cadence(), "every 10 steps");
  const cr::EverySeconds<60, Empty> minute;
  EXPECT_EQ(minute.cadence(), "every 60 s");
}

/// Decorators forward extend_graph too. The test needs no graph: any builder type is accepted.
struct Builder {
  int nodes = 0;
};
struct Extends {
  static constexpr void extend_graph(Builder& graph) { ++graph.nodes; }
};
TEST(Decorators, ExtendTheGraphForTheHookInside) {
  Builder graph;
  cr::EveryN<3, cr::Isolated<Extends>>::extend_graph(graph);
  EXPECT_EQ(graph.nodes, 1);
  static_assert(!cr::phase::extend_graph::handled<cr::EveryN<3, Empty>, Builder>);
}

}  // namespace decorated_test
