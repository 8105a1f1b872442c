// SPDX-License-Identifier: Apache-2.0
// Probes of hooks: when they are called and with which arguments. The executors are a step function and a script.
// Graphs: tests/executor/probe_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/hook/phase_log.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/isolated.hpp>
#include <crochet/hooks/keyed.hpp>
#include <crochet/hooks/only_in.hpp>
#include <crochet/hooks/switched.hpp>
#include <crochet/hooks/when.hpp>
#include <crochet/testing.hpp>

namespace probing_test {

namespace cr = crochet;
using namespace cr::literals;
using Calls = std::vector<std::string>;

template <class T>
std::string text(const cr::ProbedTensor& tensor) {
  std::string all;
  for (std::size_t i = 0; i < tensor.bytes.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(T), sizeof(T));
    all += (i == 0 ? "" : " ") + std::to_string(static_cast<int>(value));
  }
  all += " [";
  for (const std::int64_t extent : tensor.shape) all += std::to_string(extent) + ",";
  return all + "]";
}

/// Records the calls of the probe.
template <class W>
struct Notes {
  using watches = W;
  Calls calls;
  std::vector<std::string> names;

  void on_run_begin(const cr::ProbedRun& run) {
    names.assign(run.node_names.begin(), run.node_names.end());
    std::string line = "begin " + std::to_string(run.step) + ":";
    for (const auto name : run.caller_fetches) line += " " + std::string(name);
    line += " /";
    for (const auto name : run.fetches) line += " " + std::string(name);
    line += " /";
    for (const std::int32_t node : run.steps[0].nodes) line += " " + names[static_cast<std::size_t>(node)];
    calls.push_back(line);
  }
  template <std::size_t I>
  void on_node_end(const cr::ProbedTensor& tensor) {
    EXPECT_EQ(tensor.node, static_cast<std::int32_t>(I));
    EXPECT_EQ(tensor.slot, 0);
    const bool single = tensor.dtype == cr::DType::float32;
    calls.push_back(names[I] + " = " + (single ? text<float>(tensor) : text<double>(tensor)));
  }
  void on_run_end() { calls.push_back("end"); }
};
struct Residual {
  static constexpr bool matches(std::string_view node, std::string_view op, std::string_view dtype) {
    return node == "residual" && op == "Output" && dtype == "float64";
  }
};

struct Timing {
  Calls calls;
  template <std::size_t I>
  void on_node_begin(int member) {
    calls.push_back("begin " + std::to_string(I) + " on " + std::to_string(member));
  }
  template <std::size_t I>
  void on_node_end(int member) {
    calls.push_back("end " + std::to_string(I) + " on " + std::to_string(member));
  }
};

/// A hook with a probe that is due in every second step. `tag` makes distinct types.
template <class P, int tag = 0>
struct Looks {
  using probe = P;
  static constexpr auto fetches = cr::fetches<"residual">;
  P* calls;
  bool due = false;
  explicit Looks(P& to) : calls(&to) {}

  void before_run(auto& run) { due = run.step() % 2 == 0; }
  P* due_probe() { return due ? calls : nullptr; }
};

template <class... H>
auto session_of(std::vector<double>& field, H... hook) {
  auto step = [&field](auto& out) {
    for (double& x : field) ++x;
    out["residual"_n] = field[0];
    out["field"_n] = cr::TensorView<double, 2>(field.data(), {2, 2});
    out["title of it"_n] = std::string("no tensor");
  };
  cr::StepExecutor executor{step, cr::output<double, "residual">, cr::output<cr::TensorView<double, 2>, "field">,
                            cr::output<std::string, "title of it">};
  return cr::MonitoredSession{std::move(executor), cr::HookChain{std::move(hook)...}};
}

TEST(Probing, ShowsTheOutputsOfAStepFunctionInTheRunsThatAreDue) {
  std::vector<double> field{0, 10, 20, 30};
  Notes<cr::WatchEverything> notes;
  auto session = session_of(field, Looks{notes});
  session.run(cr::fetches<"field">);
  EXPECT_EQ(notes.calls, (Calls{"begin 0: field / residual field / step_function residual field", "residual = 1 []",
                                "field = 1 11 21 31 [2,2,]", "end"}));
  EXPECT_EQ(notes.names, (Calls{"step_function", "residual", "field", "title_of_it"}));
  notes.calls.clear();
  session.run(cr::fetches<"field">);
  EXPECT_TRUE(notes.calls.empty());
  session.run();
  EXPECT_EQ(notes.calls, (Calls{"begin 2: / residual / step_function residual", "residual = 3 []", "end"}));
}

TEST(Probing, WatchesOnlyWhatMatches) {
  std::vector<double> field{0, 10, 20, 30};
  Notes<Residual> notes;
  auto session = session_of(field, Looks{notes});
  session.run(cr::fetches<"field">);
  EXPECT_EQ(notes.calls,
            (Calls{"begin 0: field / residual field / step_function residual field", "residual = 1 []", "end"}));
}

TEST(Probing, SeveralProbesShareOneRunAndEachSeesItsOwn) {
  std::vector<double> field(4);
  Notes<Residual> some;
  Notes<cr::WatchEverything> all;
  Timing timing;
  auto session = session_of(field, Looks{some}, Looks{timing}, Looks{all});
  session.run(cr::fetches<"field">);
  EXPECT_EQ(field[0], 1);
  EXPECT_EQ(some.calls.size(), 3U);
  EXPECT_EQ(all.calls.size(), 4U);
  EXPECT_EQ(timing.calls, (Calls{"begin 0 on 0", "end 0 on 0"}));
}

/// A hook whose probe is due when `*due` is set.
template <class P>
struct WhenTold {
  using probe = P;
  P* calls;
  const bool* due;
  void begin() {}
  P* due_probe() { return *due ? calls : nullptr; }
};

TEST(Probing, TimingAloneLeavesOutWhoWatches) {
  std::vector<double> field(4);
  Timing timing;
  Notes<cr::WatchEverything> notes;
  bool times = true, watches = false;
  auto session =
      session_of(field, WhenTold<Timing>{&timing, &times}, WhenTold<Notes<cr::WatchEverything>>{&notes, &watches});
  session.run();
  EXPECT_EQ(timing.calls.size(), 2U);
  EXPECT_TRUE(notes.calls.empty());
  times = false;
  watches = true;
  session.run();
  EXPECT_EQ(timing.calls.size(), 2U);
  EXPECT_EQ(notes.calls.size(), 2U);  // nothing is fetched, so only begin and end
}

TEST(Probing, DecoratorsPassTheProbeOnInTheRunsThatTheyAdmit) {
  std::vector<double> field(4);
  Timing third, off;
  const bool always = true;
  auto session = session_of(field, cr::EveryN<3, WhenTold<Timing>>{{&third, &always}},
                            cr::Switched<WhenTold<Timing>>{{&off, &always}, {.on = false}},
                            cr::When<false, WhenTold<Timing>>{{&off, &always}});
  for (int i = 0; i < 7; ++i) session.run();
  EXPECT_EQ(third.calls.size(), 4U);
  EXPECT_TRUE(off.calls.empty());
}

TEST(Probing, AnExecutorWithTargetsIsProbedInTheRunsOfOnePlan) {
  cr::testing::ScriptLog log;
  cr::testing::ScriptedExecutor executor{log, cr::value<"loss">(3.0F), cr::targets<"train", "test">};
  Notes<cr::WatchEverything> notes;
  const bool always = true;
  using Inner = WhenTold<Notes<cr::WatchEverything>>;
  cr::MonitoredSession session{std::move(executor),
                               cr::HookChain{cr::OnlyIn<"train", cr::Keyed<"k", Inner>>{Inner{&notes, &always}}}};
  session.run("test"_n, cr::fetches<"loss">);
  EXPECT_TRUE(notes.calls.empty());
  session.run("train"_n, cr::fetches<"loss">);
  EXPECT_EQ(notes.calls, (Calls{"begin 1: loss / loss / step_function loss", "loss = 3 []", "end"}));
  EXPECT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.reads["loss"], 2);  // the caller's reads: a probe reads no value again
}

TEST(Probing, ARunThatFailsHasNoEnd) {
  cr::testing::ScriptLog log;
  log.throw_in_run(0, std::runtime_error("lost"));
  cr::testing::ScriptedExecutor executor{log, cr::value<"loss">(3.0F)};
  Notes<cr::WatchEverything> notes;
  const bool always = true;
  cr::MonitoredSession session{std::move(executor),
                               cr::HookChain{WhenTold<Notes<cr::WatchEverything>>{&notes, &always}}};
  EXPECT_THROW(session.run(cr::fetches<"loss">), std::runtime_error);
  EXPECT_EQ(notes.calls, (Calls{"begin 0: loss / loss / step_function loss"}));
}

/// Throws in every call.
struct Breaks {
  void on_run_begin(const cr::ProbedRun&) { throw std::runtime_error("no room"); }
};
TEST(Probing, WhatAProbeThrowsLeavesTheRun) {
  std::vector<double> field(4);
  Breaks breaks;
  const bool always = true;
  auto session = session_of(field, WhenTold<Breaks>{&breaks, &always});
  EXPECT_THROW(session.run(), std::runtime_error);
}

// The example of docs/writing-hooks.md.

/// Every `every_steps` runs: the largest element of each float64 tensor whose name begins with `field`.
class LargestElements {
 public:
  /// The probe: its members are called in the middle of a step.
  struct Probe {
    struct watches {  // evaluated in the compiler, for each node of the demand
      static constexpr bool matches(std::string_view node, std::string_view /*op*/, std::string_view dtype) {
        return node.starts_with("field") && dtype == "float64";
      }
    };

    void on_run_begin(const cr::ProbedRun& run) { names = run.node_names; }
    template <std::size_t I>
    void on_node_end(const cr::ProbedTensor& tensor) {
      const auto* elements = reinterpret_cast<const double*>(tensor.bytes.data());
      const auto* end = elements + tensor.bytes.size() / sizeof(double);
      if (elements != end) largest[std::string(names[I])] = *std::max_element(elements, end);
    }

    std::span<const std::string_view> names;
    std::map<std::string, double> largest;
  };
  using probe = Probe;

  explicit LargestElements(std::int64_t every_steps) : every_(every_steps) {}

  void before_run(auto& run) { due_ = run.step() % every_ == 0; }
  Probe* due_probe() { return due_ ? &probe_ : nullptr; }  // called after before_run
  [[nodiscard]] const std::map<std::string, double>& largest() const { return probe_.largest; }

 private:
  std::int64_t every_;
  bool due_ = false;
  Probe probe_;
};
TEST(Probing, TheExampleOfTheDocumentation) {
  std::vector<double> field{0, 10, 20, 30};
  auto session = session_of(field, LargestElements(2));
  for (int i = 0; i < 4; ++i) session.run(cr::fetches<"field", "residual">);
  EXPECT_EQ(session.hooks().get<LargestElements>().largest(), (std::map<std::string, double>{{"field", 33}}));
}

// Phase logs.

/// Takes a second in before_run and two in after_run.
template <int tag>
struct Slow {
  cr::testing::ManualClock clock;
  void before_run(auto&) { clock.advance(1); }
  void after_run(auto&, const auto&) { clock.advance(2); }
};
struct Watcher {
  cr::PhaseLog* log;
  bool due = true;
  cr::PhaseLog* due_phase_log() { return due ? log : nullptr; }
  void after_run(auto&, const auto&) { due = !due; }
};

struct Always : Watcher {
  void after_run(auto&, const auto&) {}
};
struct Fails {
  void before_run(auto&) { throw std::runtime_error("no"); }
};

Calls lines(const cr::PhaseLog& log) {
  Calls all;
  for (const cr::HookPhase& p : log.phases()) {
    all.push_back(p.hook + " " + std::string(p.phase) + " " + std::to_string(static_cast<int>(p.begin)) + " to " +
                  std::to_string(static_cast<int>(p.end)));
  }
  return all;
}

TEST(PhaseLog, HasTheHooksPhasesOfTheRunsThatAreDue) {
  std::vector<double> field(4);
  cr::testing::ManualClock clock;
  cr::PhaseLog log(clock), other(clock);
  auto session = session_of(field, Slow<1>{clock}, Watcher{&log}, Slow<2>{clock}, Watcher{&other, false});
  const Calls first{"Slow<1> before_run 0 to 1", "Slow<2> before_run 1 to 2", "Slow<1> after_run 2 to 4",
                    "Watcher after_run 4 to 4",  "Slow<2> after_run 4 to 6",  "Watcher after_run 6 to 6"};
  session.run();
  EXPECT_EQ(lines(log), first);
  EXPECT_TRUE(other.phases().empty());
  session.run();
  EXPECT_EQ(lines(log), first);
  EXPECT_EQ(other.phases().size(), 6U);
  session.run();
  EXPECT_EQ(lines(log)[0], "Slow<1> before_run 12 to 13");
}

TEST(PhaseLog, DecoratorsPassItOn) {
  std::vector<double> field(4);
  cr::testing::ManualClock clock;
  cr::PhaseLog log(clock);
  auto session = session_of(field, cr::EveryN<3, Always>{{{&log}}, {.anchor = cr::Anchor::first_run}}, Slow<1>{clock});
  session.run();
  EXPECT_EQ(log.phases().size(), 4U);  // the decorator has its own after_run
  for (int i = 0; i < 2; ++i) {
    session.run();
    EXPECT_EQ(log.phases()[0].begin, 0);
  }
  session.run();
  EXPECT_EQ(log.phases()[0].begin, 9);
}

/// Throws in due_probe() and due_phase_log().
struct Undecided {
  using probe = Timing;
  Timing* due_probe() { throw std::runtime_error("no probe"); }
  cr::PhaseLog* due_phase_log() { throw std::runtime_error("no log"); }
  void after_run(auto&, const auto&) {}
};

TEST(Probing, WhatAHookThrowsWhenItIsAskedStaysInIsolated) {
  std::vector<double> field(4);
  cr::testing::RecordingSink sink;
  auto session = session_of(field, cr::Isolated<Undecided>{{}, {.sink = sink}});
  session.run();
  EXPECT_EQ(field[0], 1);
  EXPECT_EQ(sink.lines(), (Calls{"crochet: Undecided failed in before_run (failure 1): no log",
                                 "crochet: Undecided failed in before_run (failure 2): no probe"}));
}

TEST(PhaseLog, EndsWithAPhaseThatThrows) {
  std::vector<double> field(4);
  cr::testing::ManualClock clock;
  cr::PhaseLog log(clock);
  auto session = session_of(field, Watcher{&log}, Fails{});
  EXPECT_THROW(session.run(), std::runtime_error);
  ASSERT_EQ(log.phases().size(), 1U);
  EXPECT_EQ(log.phases()[0].phase, "before_run");
  EXPECT_FALSE(log.busy());
}

static_assert(sizeof(cr::EveryN<3, cr::Keyed<"k", Slow<1>>>) == sizeof(cr::EveryN<3, Slow<1>>));

}  // namespace probing_test
