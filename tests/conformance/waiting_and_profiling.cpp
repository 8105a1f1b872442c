// SPDX-License-Identifier: Apache-2.0
// GlobalStepWaiter, Profiler and ProfilerHook: spec 4.3, 5.12.
#include <crochet/proto/event.pb.h>
#include <crochet/proto/step_stats.pb.h>
#include <crochet/crochet.hpp>
#include <crochet/hooks/global_step_waiter.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#include <crochet/hooks/profiler.hpp>
#include <crochet/io/file_writer_cache.hpp>
#include <crochet/io/tfrecord.hpp>
#include <crochet/testing/manual_clock.hpp>
#include <crochet/testing/recording_sink.hpp>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "behaviour.hpp"
#include "folder.hpp"
#include "hook_loop.hpp"

namespace crochet::conformance {
namespace waiting_and_profiling_scenarios {

using testing::ManualClock;
using testing::RecordingSink;

/// A waiter, and the number of its naps. Nap number i sets the step to `steps[i]`.
struct Waiting {
  std::int64_t step = 0;
  int naps = 0;

  void run(std::int64_t wait_until_step, std::vector<std::int64_t> steps) {
    HookLoop loop{
        GlobalStepWaiter{.wait_until_step = wait_until_step,
                         .step_elsewhere = [this] { return step; },
                         .sink = RecordingSink{},
                         .sleep = [this, steps](double) { step = steps.at(static_cast<std::size_t>(naps++)); }}};
    loop.create();
    loop.train();
    EXPECT_EQ(loop.machine.runs, 1);
  }
};

SAME(X1, "a waiter for step 0", "returns at once") {
  Waiting waiting;
  waiting.run(0, {});
  EXPECT_EQ(waiting.naps, 0);
}

SAME(X2, "a waiter for step 1000, while others bring the step to 500 and then 1100",
     "sleeps twice, then lets the run begin") {
  Waiting waiting;
  waiting.run(1000, {500, 1100});
  EXPECT_EQ(waiting.naps, 2);
}

/// Records the steps of the profile.
struct NotingTracer {
  std::vector<std::int64_t>* recorded;
  void start() {}
  void stop(std::int64_t step) { recorded->push_back(step); }
  void abandon() {}
};

/// A Profiler with that tracer.
struct Profiled {
  std::vector<std::int64_t> steps{};
  ManualClock clock{};
  HookLoop<Profiler<NotingTracer>> loop;

  explicit Profiled(ProfilerOptions options) : loop(Profiler{NotingTracer{&steps}, with(options, clock)}) {
    loop.create();
  }
  /// One run at that time; whether it was profiled.
  bool records_at(double seconds) {
    const std::size_t before = steps.size();
    clock.set(seconds);
    loop.train();
    return steps.size() > before;
  }

 private:
  static ProfilerOptions with(ProfilerOptions options, const ManualClock& clock) {
    options.clock = clock;
    return options;
  }
};

SAME(X8, "a profiler is given both intervals, or none", "refused (ValueError)") {
  EXPECT_THROW((Profiled{{.every_steps = 10, .every_seconds = 10.0}}), LogicError);
  EXPECT_THROW(Profiled{{}}, LogicError);
}

SAME(X9, "a profiler by seconds, and one by steps: the first run", "is not recorded") {
  EXPECT_FALSE((Profiled{{.every_seconds = 2.0}}.records_at(0)));
  EXPECT_FALSE((Profiled{{.every_steps = 1}}.records_at(0)));
}

SAME(X10, "a profiler every 2 s; runs at 0, 2.5, 2.6, 4.4 and 4.5 s", "records those at 2.5 and 4.5") {
  Profiled profiled{{.every_seconds = 2.0}};
  EXPECT_FALSE(profiled.records_at(0));
  EXPECT_TRUE(profiled.records_at(2.5));
  EXPECT_FALSE(profiled.records_at(2.6));
  EXPECT_FALSE(profiled.records_at(4.4));
  EXPECT_TRUE(profiled.records_at(4.5));
}

SAME(X11, "a profiler every 2 steps; five runs", "there are records of runs 2 and 4") {
  Profiled profiled{{.every_steps = 2}};
  profiled.loop.train(5);
  EXPECT_EQ(profiled.steps, (std::vector<std::int64_t>{2, 4}));
}

/// The tags of the run metadata in the event files of a folder. Closes the files first.
std::vector<std::string> tags_of_run_metadata(const Folder& folder) {
  io::FileWriterCache::clear();
  std::vector<std::string> tags;
  for (const std::string& name : folder.names()) {
    if (name.find("tfevents") == std::string::npos) continue;
    std::ifstream file(folder.path() / name, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::string_view rest = bytes;
    while (const auto record = io::next_tfrecord(rest)) {
      proto::Event event;
      EXPECT_TRUE(event.ParseFromArray(record->data(), static_cast<int>(record->size())));
      if (event.has_tagged_run_metadata()) tags.push_back(event.tagged_run_metadata().tag());
    }
  }
  return tags;
}

SAME(X12, "a profiler every step; two runs", "the second one's metadata is in the event file, under the tag step_2") {
  const Folder folder;
  MonitoredSession session{StepExecutor{[](auto&) {}},
                           HookChain{ProfilerHook{{.save_steps = 1, .output_dir = folder.path()}}}};
  session.run();
  session.run();
  session.close();
  EXPECT_EQ(tags_of_run_metadata(folder), (std::vector<std::string>{"step_2"})) << "none of the first run";
}

}  // namespace waiting_and_profiling_scenarios
}  // namespace crochet::conformance
