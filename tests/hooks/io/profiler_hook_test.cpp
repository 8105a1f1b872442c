// SPDX-License-Identifier: Apache-2.0
// ProfilerHook on step functions, with clocks that the tests move: when it records, what it writes, and errors of the
// disk. Graphs: tests/hooks/on_cpu_profile_test.cpp.
#include <crochet/proto/event.pb.h>
#include <crochet/proto/perfetto.pb.h>
#include <crochet/proto/step_stats.pb.h>
#include <crochet/crochet.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#include <crochet/hooks/isolated.hpp>
#include <crochet/hooks/only_in.hpp>
#include <crochet/hooks/switched.hpp>
#include <crochet/hooks/when.hpp>
#include <crochet/io/file_writer_cache.hpp>
#include <crochet/io/tfrecord.hpp>
#include <crochet/testing.hpp>
#include <crochet/trace/step_stats.hpp>
#include <crochet/trace/timeline.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../../io/current_folder.hpp"
#include "../../io/faulty_files.hpp"
#include "../../io/temporary_folder.hpp"
#include "../../io/text_of.hpp"

namespace profiler_hook_test {

namespace cr = crochet;
namespace fs = std::filesystem;
using namespace cr::literals;
using cr::test::FaultyFiles;
using cr::test::TemporaryFolder;
using cr::test::text_of;
using cr::testing::broken_laws;
using cr::testing::ManualClock;
using cr::testing::RecordingSink;
using Json = nlohmann::json;

/// Advances the clock in before_run and after_run.
struct Slow {
  ManualClock clock;
  void before_run(auto&) { clock.advance(20e-6); }
  void after_run(auto&, const auto&) { clock.advance(30e-6); }
};

/// A step of 100 us, and a profiler that writes into a folder of this test.
struct Profiled : TemporaryFolder {
  ManualClock clock{50.0};
  RecordingSink sink{};
  double value = 0;
  bool breaks = false;
  int losses = 0;  // how many runs lose the session

  ~Profiled() { cr::io::FileWriterCache::clear(); }  // before the folder is removed

  cr::ProfilerHookOptions with(cr::ProfilerHookOptions options) {
    options.output_dir = options.output_dir.empty() ? path() : options.output_dir;
    options.clock = clock;
    options.wall_clock = [] { return 1000.0; };
    options.sink = sink;
    return options;
  }
  template <class... H>
  auto session(H... hook) {
    auto step = [this](auto& out) {
      clock.advance(100e-6);
      if (breaks) throw cr::LogicError("the run");
      if (losses > 0 && losses-- > 0) throw cr::AbortedError("the session");
      out["value"_n] = value += 1;
    };
    return cr::MonitoredSession{cr::StepExecutor{step, cr::output<double, "value">}, cr::HookChain{std::move(hook)...},
                                cr::SessionOptions{.clock = clock}};
  }
  auto profiled(cr::ProfilerHookOptions options) { return session(cr::ProfilerHook{with(std::move(options))}); }

  /// The steps of the timelines in the folder. A temporary file fails the test.
  std::set<int> steps() const {
    std::set<int> steps;
    for (const auto& entry : fs::directory_iterator(path())) {
      const std::string name = entry.path().filename();
      EXPECT_NE(entry.path().extension(), ".tmp");
      if (name.starts_with("timeline-") && name.ends_with(".json")) steps.insert(std::stoi(name.substr(9)));
    }
    return steps;
  }
  /// The tags of the run metadata in the event file.
  std::map<std::string, crochet::proto::RunMetadata> tagged() const {
    std::map<std::string, crochet::proto::RunMetadata> all;
    for (const auto& entry : fs::directory_iterator(path())) {
      if (entry.path().filename().string().find("tfevents") == std::string::npos) continue;
      const std::string bytes = text_of(entry.path());
      std::string_view rest = bytes;
      while (const auto record = cr::io::next_tfrecord(rest)) {
        crochet::proto::Event event;
        EXPECT_TRUE(event.ParseFromArray(record->data(), static_cast<int>(record->size())));
        if (!event.has_tagged_run_metadata()) continue;
        EXPECT_EQ(event.step(), 0) << "as the original: the tag has the step";
        EXPECT_TRUE(all[event.tagged_run_metadata().tag()].ParseFromString(event.tagged_run_metadata().run_metadata()));
      }
    }
    return all;
  }
};

void run(auto& session, int times) {
  for (int i = 0; i < times; ++i) session.run();
}
template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const cr::Error& error) {
    return error.what();
  }
  return "";
}

TEST(ProfilerHook, RecordsAStepFunctionWithAnOutputAboveTheHighestRankOfModels) {
  Profiled place;
  const std::vector<float> values(4);
  cr::StepExecutor step{[&](auto& out) {
                          out["deep"_n] = cr::TensorView<float, 7>(values.data(), {1, 2, 1, 1, 1, 1, 2});
                        },
                        cr::output<cr::TensorView<float, 7>, "deep">};
  cr::MonitoredSession session{std::move(step), cr::HookChain{cr::ProfilerHook{place.with({.save_steps = 1})}}};
  session.run(cr::fetches<"deep">);
  session.run(cr::fetches<"deep">);
  session.close();
  EXPECT_EQ(place.steps(), (std::set<int>{2}));
}

TEST(ProfilerHook, X8WantsExactlyOneInterval) {
  EXPECT_EQ(refusal([] { cr::ProfilerHook{{}}.begin(); }),
            "crochet: ProfilerHook: set exactly one of save_steps, save_secs and save_epochs");
  EXPECT_EQ(refusal([] { cr::ProfilerHook{{.save_steps = 10, .save_secs = 10}}.begin(); }),
            "crochet: ProfilerHook: both save_steps and save_secs are set; keep exactly one of them");
  EXPECT_EQ(refusal([] { cr::ProfilerHook{{.save_steps = 0}}.begin(); }),
            "crochet: ProfilerHook: invalid save_steps = 0; it has to be above 0");
  EXPECT_NE(refusal([] { cr::ProfilerHook{{.save_secs = -1}}.begin(); }).find("invalid save_secs = -1"),
            std::string::npos);
}

TEST(ProfilerHook, X9X10ByTimeRecordsTheFirstRunAfterTheInterval) {
  Profiled test;
  auto session = test.profiled({.save_secs = 2});
  const double start = test.clock();
  for (const double time : {0.0, 2.5, 2.6, 4.4, 4.51}) {
    test.clock.set(start + time);
    session.run();
  }
  session.close();
  EXPECT_EQ(test.steps(), (std::set<int>{2, 5}));
}

TEST(ProfilerHook, X11EveryTwoSteps) {
  Profiled test;
  auto session = test.profiled({.save_steps = 2});
  run(session, 5);
  session.close();
  EXPECT_EQ(test.steps(), (std::set<int>{2, 4}));
}

TEST(ProfilerHook, X12RunMetadataIsInTheEventFile) {
  Profiled test;
  auto session = test.profiled({.save_steps = 1});
  run(session, 3);
  session.close();  // the event file stays open for other hooks and sessions; the records are in it
  const auto tagged = test.tagged();
  ASSERT_EQ(tagged.size(), 2U);
  EXPECT_EQ(tagged.begin()->first, "step_2");
  EXPECT_EQ(cr::trace::timeline_json(tagged.at("step_3").step_stats()), text_of(test / "timeline-3.json"));
}

TEST(ProfilerHook, ATimelineIsMadeOfItsRunMetadata) {
  for (const bool memory : {false, true}) {
    for (const bool background : {false, true}) {
      Profiled test;
      auto session = test.profiled({.save_steps = 1,
                                    .show_dataflow = false,
                                    .show_memory = memory,
                                    .run_metadata = true,
                                    .event_file = false,
                                    .in_background = background});
      run(session, 2);
      session.close();
      crochet::proto::RunMetadata metadata;
      ASSERT_TRUE(metadata.ParseFromString(text_of(test / "timeline-2.pb")));
      EXPECT_EQ(text_of(test / "timeline-2.json"),
                cr::trace::timeline_json(metadata.step_stats(), {.show_dataflow = false, .show_memory = memory}));
      EXPECT_TRUE(test.tagged().empty());
    }
  }
}

TEST(ProfilerHook, ShowsTheStepAndEveryHooksPhases) {
  Profiled test;
  auto session = test.session(Slow{test.clock}, cr::ProfilerHook{test.with({.save_steps = 1})}, Slow{test.clock});
  run(session, 2);
  session.close();
  std::string text;
  const Json json = Json::parse(text_of(test / "timeline-2.json"));
  for (const Json& e : json["traceEvents"]) {
    if (e["ph"] != "X") continue;
    text += e["name"].get<std::string>() + " " + std::to_string(e["ts"].get<std::int64_t>() - 1'000'000'000) + "+" +
            e["dur"].dump() + "\n";
  }
  // The clock of the session starts at 0. The first run took 200 us.
  EXPECT_EQ(text,
            "StepFunction 240+100\n"
            "Slow 200+19\n"                      // shortened, so that it does not overlap the next
            "ProfilerHook 220+1\nSlow 221+19\n"  // 0 us, drawn as 1 us; the next one moves
            "Slow 340+29\nProfilerHook 370+1\nSlow 371+29\n");
}

TEST(ProfilerHook, ARunThatThrewIsGivenUp) {
  Profiled test;
  auto session = test.profiled({.save_steps = 2});
  run(session, 1);
  test.breaks = true;
  EXPECT_THROW(session.run(), cr::LogicError);
  test.breaks = false;
  session.run();
  session.close();
  EXPECT_EQ(test.steps(), (std::set<int>{2})) << "the step is recorded when it is made";
  const Json json = Json::parse(text_of(test / "timeline-2.json"));
  for (const Json& e : json["traceEvents"])
    EXPECT_TRUE(e["ph"] != "X" || e["name"] != "StepFunction" || e["dur"] == 100);
}

TEST(ProfilerHook, ASessionThatFailsHasWhatWasRecordedBefore) {
  Profiled test;
  auto session = test.profiled({.save_steps = 1});
  EXPECT_THROW(cr::run_session(session,
                               [&](auto& s) {
                                 s.run();
                                 s.run();
                                 test.breaks = true;
                                 s.run();
                               }),
               cr::LogicError);
  EXPECT_EQ(test.steps(), (std::set<int>{2}));
}

TEST(ProfilerHook, AfterARecoveryInTheMiddleOfARecordedRunTheFirstRunIsNotRecorded) {
  Profiled test;
  auto session = test.profiled({.save_steps = 2, .on_write_error = cr::io::OnWriteError::stop});
  run(session, 3);
  test.losses = 1;
  session.run();  // step 4 is lost while it is recorded; then the first run of the new session
  EXPECT_EQ(session.recoveries(), 1);
  run(session, 4);
  session.close();
  EXPECT_EQ(test.value, 8);
  EXPECT_EQ(test.steps(), (std::set<int>{2, 6, 8})) << "created anew at step 3";
}

TEST(ProfilerHook, TwoInOneChainMayShareAFolder) {
  Profiled test;
  const auto options = test.with({.save_steps = 1, .on_write_error = cr::io::OnWriteError::stop});
  auto session = test.session(cr::ProfilerHook{options}, cr::ProfilerHook{options});
  run(session, 6);
  session.close();
  EXPECT_EQ(test.value, 6);
  EXPECT_EQ(test.steps(), (std::set<int>{2, 3, 4, 5, 6}));
  for (const int step : test.steps()) {
    const std::string text = text_of(test / ("timeline-" + std::to_string(step) + ".json"));
    EXPECT_TRUE(Json::accept(text));
    EXPECT_NE(text.find("HOOKS:0"), std::string::npos);
  }
  EXPECT_EQ(test.tagged().size(), 5U);
  EXPECT_TRUE(test.sink.lines().empty()) << test.sink.text();
}

TEST(ProfilerHook, ALaterSessionReplacesTimelinesAndKeepsTheTraceBefore) {
  Profiled test;
  for (int i = 0; i < 2; ++i) {
    auto session = test.profiled({.save_steps = 1, .perfetto = test / "run.pftrace"});
    run(session, 3);
    session.close();
  }
  EXPECT_EQ(test.steps(), (std::set<int>{2, 3}));
  EXPECT_EQ(fs::file_size(test / "run.1.pftrace"), fs::file_size(test / "run.pftrace"));
  EXPECT_TRUE(test.sink.lines().empty()) << test.sink.text();
}

/// Calls functions in its phases.
struct Acts {
  std::function<void()> act;
  void before_run(auto&) { act(); }
  void after_run(auto&, const auto&) { act(); }
};

TEST(ProfilerHook, TheTableCanBeAskedForAtAnyTime) {
  Profiled test;
  std::function<void()> act = [] {};
  auto session =
      test.session(Acts{[&] { act(); }}, cr::ProfilerHook{test.with({.save_steps = 1})}, Acts{[&] { act(); }});
  const auto table = [&] { return session.hooks().template get<cr::ProfilerHook>().table(); };
  act = [&] { (void)table(); };
  run(session, 4);
  const cr::trace::ProfileTable between = table();
  EXPECT_EQ(between.runs(), 3) << "the last one, too: nobody is at work on it";
  EXPECT_EQ(between.hooks().size(), 2U);
  for (const auto& [name, hook] : between.hooks()) EXPECT_TRUE(hook.before >= 0 && hook.after >= 0) << name;
  run(session, 1);
  session.close();
  EXPECT_EQ(table().runs(), 4);
  EXPECT_EQ(test.steps(), (std::set<int>{2, 3, 4, 5}));
}

TEST(ProfilerHook, WorksInEveryDecorator) {
  Profiled test;
  const auto in = [&](const char* folder) {
    return cr::ProfilerHook{test.with({.save_steps = 1, .output_dir = test / folder})};
  };
  const auto steps_in = [&](const char* folder) {
    std::set<std::string> steps;
    if (!fs::exists(test / folder)) return steps;
    for (const auto& entry : fs::directory_iterator(test / folder)) {
      if (entry.path().extension() == ".json") steps.insert(entry.path().filename());
    }
    return steps;
  };
  constexpr auto odd = [](auto& run) { return run.step() % 2 == 1; };
  auto session = test.session(
      cr::Isolated<cr::ProfilerHook>{in("isolated")}, cr::Switched<cr::ProfilerHook>{in("on"), {.on = true}},
      cr::Switched<cr::ProfilerHook>{in("off"), {.on = false}}, cr::When<odd, cr::ProfilerHook>{in("when")},
      cr::Isolated<cr::EveryN<2, cr::ProfilerHook>>{cr::EveryN<2, cr::ProfilerHook>{in("both")}});
  run(session, 5);
  session.close();
  using Files = std::set<std::string>;
  EXPECT_EQ(steps_in("isolated"), (Files{"timeline-2.json", "timeline-3.json", "timeline-4.json", "timeline-5.json"}));
  EXPECT_EQ(steps_in("on"), steps_in("isolated"));
  EXPECT_EQ(steps_in("off"), Files{});
  EXPECT_EQ(steps_in("when"), (Files{"timeline-4.json"})) << "sees steps 2 and 4, and the first one begins an interval";
  EXPECT_EQ(steps_in("both"), Files{"timeline-4.json"});
}

TEST(ProfilerHook, InOnlyInItRecordsTheRunsOfThatPlan) {
  Profiled test;
  cr::testing::ScriptLog log;
  cr::testing::ScriptedExecutor executor{log, cr::value<"loss">(3.0F), cr::targets<"train", "test">};
  cr::MonitoredSession session{
      std::move(executor),
      cr::HookChain{cr::OnlyIn<"train", cr::ProfilerHook>{cr::ProfilerHook{test.with({.save_steps = 1})}}}};
  for (int i = 0; i < 3; ++i) {
    session.run("train"_n);
    session.run("test"_n);
  }
  session.close();
  EXPECT_EQ(test.steps(), (std::set<int>{3, 5}));
}

TEST(ProfilerHook, WhatItThrowsStaysInIsolated) {
  Profiled test;
  std::ofstream(test / "file") << "no folder";
  RecordingSink isolated;
  auto session = test.session(
      cr::Isolated<cr::ProfilerHook>{cr::ProfilerHook{test.with({.save_steps = 1,
                                                                 .output_dir = test / "file" / "profiles",
                                                                 .event_file = false,
                                                                 .in_background = false,
                                                                 .on_write_error = cr::io::OnWriteError::stop})},
                                     {.sink = isolated}});
  EXPECT_NO_THROW(run(session, 5));
  session.close();
  EXPECT_EQ(test.value, 5);
  ASSERT_FALSE(isolated.lines().empty());
  EXPECT_NE(isolated.lines().front().find("cannot make the folder"), std::string::npos);
}

TEST(ProfilerHook, WorksInsideADecorator) {
  Profiled test;
  auto session = test.session(cr::EveryN<2, cr::ProfilerHook>{cr::ProfilerHook{test.with({.save_steps = 1})}});
  run(session, 6);  // the hook is called in runs 2, 4 and 6
  session.close();
  EXPECT_EQ(test.steps(), (std::set<int>{4, 6}));
}

TEST(ProfilerHook, ATableAtTheEnd) {
  Profiled test;
  RecordingSink table;
  auto session = test.session(cr::ProfilerHook{test.with({.save_steps = 1, .event_file = false, .table = table})},
                              Slow{test.clock});
  run(session, 3);
  EXPECT_TRUE(table.lines().empty());
  session.close();
  EXPECT_EQ(table.lines(), (std::vector<std::string>{
                               "2 runs recorded, 100.00 us a run; times are per run",
                               "node           operations    self us  share %  calls  GFLOP/s  GB/s",
                               "step_function  StepFunction   100.00    100.0      1        -     -",
                               "(the rest)                      0.00      0.0",
                               "hook          us a step  share %  before_run us  after_run us",
                               "Slow              50.00     50.0          20.00         30.00",
                               "ProfilerHook       0.00      0.0           0.00          0.00",
                           }));
}

TEST(ProfilerHook, ATableHasNoMoreNodesThanAskedFor) {
  Profiled test;
  RecordingSink table;
  auto session = test.session(
      cr::ProfilerHook{test.with({.save_steps = 1, .event_file = false, .table = table, .table_rows = 0})});
  run(session, 2);
  session.close();
  ASSERT_GE(table.lines().size(), 3U);
  EXPECT_TRUE(table.lines()[2].starts_with("(the rest)")) << table.text();
}

TEST(ProfilerHook, ANativeTraceOfAllRecords) {
  Profiled test;
  auto session = test.profiled({.save_steps = 1, .event_file = false, .perfetto = test / "traces/run.pftrace"});
  run(session, 4);
  session.close();
  crochet::proto::perfetto::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(text_of(test / "traces/run.pftrace")));
  int slices = 0;
  for (const auto& p : trace.packet())
    slices += p.track_event().type() == crochet::proto::perfetto::TrackEvent::TYPE_SLICE_BEGIN;
  EXPECT_EQ(slices, 3 * 4) << "three runs: the run, its step, two phases of the profiler";
}

TEST(ProfilerHook, AFolderThatCannotBeMadeIsReportedAndTrainingGoesOn) {
  Profiled test;
  std::ofstream(test / "file") << "no folder";
  auto session = test.profiled({.save_steps = 1,
                                .output_dir = test / "file" / "profiles",
                                .run_metadata = true,
                                .perfetto = test / "file" / "run.pftrace"});
  run(session, 5);
  session.close();
  EXPECT_EQ(test.value, 5);
  ASSERT_EQ(test.sink.lines().size(), 4U) << "once each: event file, timelines, metadata, native trace\n"
                                          << test.sink.text();
  for (const std::string& line : test.sink.lines()) {
    EXPECT_NE(line.find("training goes on"), std::string::npos) << line;
    EXPECT_NE(line.find((test / "file").string()), std::string::npos) << line;
  }
}

TEST(ProfilerHook, OrTheRunThrowsIfSoAsked) {
  Profiled test;
  std::ofstream(test / "file") << "no folder";
  auto session = test.profiled({.save_steps = 1,
                                .output_dir = test / "file" / "profiles",
                                .event_file = false,
                                .in_background = false,
                                .on_write_error = cr::io::OnWriteError::stop});
  EXPECT_THROW(run(session, 5), cr::IoError);
  EXPECT_EQ(test.value, 2) << "the first run is not recorded; the second's files are made before the third";
  EXPECT_TRUE(test.sink.lines().empty());
}

TEST(ProfilerHook, StaysInItsFolderWhenTheProgramEntersAnother) {
  const TemporaryFolder here, there;
  {
    const cr::test::CurrentFolder current{here.path()};
    cr::HookChain chain{
        cr::ProfilerHook{{.save_steps = 1, .output_dir = "out", .perfetto = "run.pftrace", .in_background = false}}};
    cr::testing::Script run{std::move(chain)};
    run.step();
    std::filesystem::current_path(there.path());
    run.step();
    run.end();
  }
  EXPECT_TRUE(fs::exists(here / "run.pftrace"));
  EXPECT_TRUE(fs::exists(here / "out" / "timeline-2.json"));
  EXPECT_TRUE(fs::is_empty(there.path()));
}

TEST(ProfilerHook, AFolderThatVanishesIsReportedAndTrainingGoesOn) {
  Profiled test;
  auto session = test.profiled({.save_steps = 1, .output_dir = test / "out"});
  run(session, 2);
  fs::remove_all(test / "out");
  std::ofstream(test / "out") << "no folder";
  run(session, 2);
  session.close();
  EXPECT_EQ(test.value, 4);
  ASSERT_EQ(test.sink.lines().size(), 1U) << "of timelines; that of the event file is on standard error\n"
                                          << test.sink.text();
  EXPECT_NE(test.sink.text().find("cannot make the folder"), std::string::npos) << test.sink.text();
}

TEST(ProfilerHook, AnEventFileThatCannotBeWrittenEndsTrainingIfSoAsked) {
  Profiled test;
  auto session =
      test.profiled({.save_steps = 1, .output_dir = test / "out", .on_write_error = cr::io::OnWriteError::stop});
  run(session, 1);
  auto events = cr::io::FileWriterCache::get(test / "out");
  fs::remove_all(test / "out");
  std::ofstream(test / "out") << "no folder";
  EXPECT_THROW(events.flush(), cr::IoError) << "the hook has made the writer, and said how it is to be";
  EXPECT_THROW(cr::io::FileWriterCache::clear(), cr::IoError);
}

TEST(ProfilerHook, AFullDiskLeavesWholeTimelinesOnly) {
  const std::error_code full = std::make_error_code(std::errc::no_space_on_device);
  bool enough = false;
  std::size_t reports = 0;
  std::vector<std::string> traces;
  for (std::size_t budget = 0; !enough; budget += 97) {
    Profiled test;
    FaultyFiles files(budget, full);
    auto session = test.profiled({.save_steps = 1,
                                  .run_metadata = true,
                                  .event_file = false,
                                  .perfetto = test / "run.pftrace",
                                  .in_background = false,
                                  .files = &files});
    run(session, 4);
    session.close();
    EXPECT_EQ(test.value, 4);
    for (const int step : test.steps()) {
      EXPECT_TRUE(Json::accept(text_of(test / ("timeline-" + std::to_string(step) + ".json")))) << budget;
    }
    if (fs::exists(test / "run.pftrace")) traces.push_back(text_of(test / "run.pftrace"));
    enough = files.had_enough();
    reports += test.sink.lines().size();
    EXPECT_EQ(test.sink.lines().empty(), enough) << budget;
    EXPECT_LE(test.sink.lines().size(), 3U) << "once each: timelines, metadata, native trace";
    EXPECT_TRUE(!enough || test.steps().size() == 3);
  }
  for (const std::string& cut : traces) EXPECT_TRUE(traces.back().starts_with(cut)) << "nothing follows a gap";
  EXPECT_GT(reports, 3U);
}

TEST(ProfilerHook, KeepsTheLawsOfHooks) {
  ManualClock clock;
  RecordingSink sink;
  TemporaryFolder folder;
  const cr::testing::LawOptions all{.says = [&] { return sink.text(); }};
  EXPECT_EQ(broken_laws(
                cr::ProfilerHook{
                    {.save_steps = 3, .output_dir = folder.path(), .event_file = false, .clock = clock, .sink = sink}},
                all),
            "");
}

}  // namespace profiler_hook_test
