// SPDX-License-Identifier: Apache-2.0
// CheckpointSaver: when it saves, the calls of its listeners, and failing saves.
#include <crochet/hooks/checkpoint_saver.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing.hpp>

#include "directory.hpp"

namespace crochet {
namespace checkpoint_saver_test {

using Steps = std::vector<std::int64_t>;

/// Counts its calls. It can veto a save and request a stop.
struct Listener {
  struct ArgumentView {
    int begins = 0, ends = 0;
    Steps before{}, after{};
    std::int64_t veto_at = -1, stop_at = -1;
    std::string prefix{};
  };
  ArgumentView* seen;
  void begin() const { ++seen->begins; }
  bool before_save(auto& session, std::int64_t step) const {
    EXPECT_EQ(session.step(), step);
    seen->before.push_back(step);
    return step != seen->veto_at;
  }
  bool after_save(auto&, std::int64_t step, const std::filesystem::path& prefix) const {
    seen->after.push_back(step);
    seen->prefix = prefix.string();
    return step == seen->stop_at;
  }
  void end(auto&, std::int64_t) const { ++seen->ends; }
};
struct Simple {
  Steps* saved;
  void after_save(auto&, std::int64_t step) const { saved->push_back(step); }
};

class Saves : public ::testing::Test {
 protected:
  Directory dir;
  testing::ManualClock clock;
  testing::RecordingSink sink;
  double w = 0;
  Listener::ArgumentView seen;

  Saver<> saver() { return Saver{dir.path(), {.max_to_keep = 0, .say = sink}}; }
  auto executor() {
    return StepExecutor{[this](auto&) { w += 1; }, variable<"w">(w)};
  }
  CheckpointSaverOptions every_seconds(double seconds) { return {.save_secs = seconds, .sink = sink, .clock = clock}; }
  CheckpointSaverOptions every_steps(std::int64_t steps) { return {.save_steps = steps, .sink = sink, .clock = clock}; }
  /// Runs this number of steps; `before(i)` is called before each.
  template <class Before>
  void run(CheckpointSaverOptions options, int steps, Before before) {
    MonitoredSession session{executor(), HookChain{CheckpointSaver{saver(), options, Listener{&seen}}}};
    run_session(session, [&](auto& s) {
      for (int i = 0; i < steps && !s.should_stop(); ++i) {
        before(i);
        s.run();
      }
    });
  }
  void run(CheckpointSaverOptions options, int steps) {
    run(options, steps, [](int) {});
  }
};

TEST_F(Saves, NeedExactlyOneInterval) {
  EXPECT_THROW(run({}, 0), LogicError);
  EXPECT_THROW(run({.save_secs = 2, .save_steps = 2}, 0), LogicError);
  EXPECT_THROW(run({.save_steps = 0}, 0), LogicError);
  EXPECT_THROW(run({.save_secs = -1}, 0), LogicError);
}

TEST_F(Saves, ComeAtTheCreationEverySoManyStepsAndAtTheEnd) {
  run(every_steps(2), 5);
  EXPECT_EQ(seen.after, (Steps{0, 2, 4, 5}));
  EXPECT_EQ(seen.before, seen.after);
  EXPECT_EQ(seen.begins, 1);
  EXPECT_EQ(seen.ends, 1);
  EXPECT_EQ(seen.prefix, (dir / "model.ckpt-5").string());
  EXPECT_EQ(latest_checkpoint(dir.path()), dir / "model.ckpt-5");
}

TEST_F(Saves, AreNotRepeatedAtTheEnd) {
  run(every_steps(2), 4);
  EXPECT_EQ(seen.after, (Steps{0, 2, 4}));
}

/// Counts in `end`, and saves the count and a time.
struct CountsEnds {
  testing::ManualClock clock;
  int* ends;
  void end(auto&) const { ++*ends; }
  void save_state(auto& out) const {
    out.put("ends", *ends);
    out.put("seconds", clock());
  }
  void load_state(auto& in) const {
    double seconds = 0;
    in.get("ends", *ends);
    in.get("seconds", seconds);
  }
};
TEST_F(Saves, AreRepeatedAtTheEndIfTheEndOfAHookHasChangedItsState) {
  int ends = 0;
  {
    MonitoredSession session{
        executor(), HookChain{CountsEnds{clock, &ends}, CheckpointSaver{saver(), every_steps(2), Listener{&seen}}}};
    session.run(), session.run();
    session.close();
  }
  EXPECT_EQ(seen.after, (Steps{0, 2, 2}));
  ends = 0;
  MonitoredSession session{executor(), HookChain{CountsEnds{clock, &ends}}, restore_latest(saver())};
  EXPECT_EQ(ends, 1);
  session.fail(nullptr);
}

/// Has a time as its state.
struct KeepsATime {
  testing::ManualClock clock;
  void end(auto&) const {}
  void save_state(auto& out) const { out.put("seconds_used", clock()); }
  void load_state(auto& in) const {
    double seconds = 0;
    in.get("seconds_used", seconds);
  }
};
TEST_F(Saves, AreNotRepeatedBecauseTimeHasPassed) {
  MonitoredSession session{executor(),
                           HookChain{KeepsATime{clock}, CheckpointSaver{saver(), every_steps(2), Listener{&seen}}}};
  session.run(), session.run();
  clock.advance(5);
  session.close();
  EXPECT_EQ(seen.after, (Steps{0, 2}));
}

TEST_F(Saves, ThatAListenerSkipsAtTheLastStepAreTriedAgainAtTheEnd) {
  seen.veto_at = 4;
  run(every_steps(2), 4);
  EXPECT_EQ(seen.before, (Steps{0, 2, 4, 4}));
}

TEST_F(Saves, InSecondsWaitForTheClock) {
  const double at[] = {0.5, 2.5, 2.6, 2.7, 4.4, 10, 10};
  run(every_seconds(2), 7, [&](int i) { clock.set(at[i]); });
  EXPECT_EQ(seen.after, (Steps{0, 2, 6, 7}));
}

TEST_F(Saves, OfARestoredSessionAreNotMadeAgain) {
  run(every_steps(2), 3);
  seen = {};
  w = 100;
  MonitoredSession session{executor(), HookChain{CheckpointSaver{saver(), every_steps(2), Listener{&seen}}},
                           restore_latest(saver())};
  EXPECT_EQ(w, 3);
  EXPECT_EQ(seen.after, (Steps{3})) << "another Saver does not know";
  session.run(), session.run();
  EXPECT_EQ(seen.after, (Steps{3, 4})) << "and then at multiples";
  session.close();
  seen = {};
  const Saver<> one = saver();
  MonitoredSession third{executor(), HookChain{CheckpointSaver{one, every_steps(2), Listener{&seen}}},
                         restore_latest(one)};
  EXPECT_EQ(w, 5);
  EXPECT_EQ(seen.after, Steps{});
  third.close();
  EXPECT_EQ(seen.after, Steps{});
  EXPECT_EQ(seen.ends, 1);
}

TEST_F(Saves, MayBeRefusedByAListener) {
  seen.veto_at = 2;
  run(every_steps(2), 5);
  EXPECT_EQ(seen.before, (Steps{0, 2, 4, 5}));
  EXPECT_EQ(seen.after, (Steps{0, 4, 5}));
  EXPECT_FALSE(std::filesystem::exists(dir / "model.ckpt-2.index"));
}

TEST_F(Saves, MayEndTheLoop) {
  seen.stop_at = 4;
  run(every_steps(2), 100);
  EXPECT_EQ(seen.after, (Steps{0, 2, 4}));
  seen = {.stop_at = 0};
  run(every_steps(2), 100);
  EXPECT_EQ(seen.after, (Steps{0})) << "also the first one";
}

TEST_F(Saves, ThatEndTheLoopAreOfTheSameHookInARunAndBeforeTheFirst) {
  std::vector<std::string> hooks;
  for (const std::int64_t stop_at : {0, 2}) {
    seen = {.stop_at = stop_at};
    MonitoredSession session{executor(), HookChain{CheckpointSaver{saver(), every_steps(2), Listener{&seen}}}};
    while (!session.should_stop()) session.run();
    session.close();
    EXPECT_EQ(session.stop_reason().step, stop_at);
    hooks.push_back(session.stop_reason().hook);
  }
  EXPECT_EQ(hooks[0], hooks[1]);
}

TEST_F(Saves, TellEachListener) {
  Steps saved;
  MonitoredSession session{executor(),
                           HookChain{CheckpointSaver{saver(), every_steps(1), Simple{&saved}, Listener{&seen}}}};
  session.run();
  session.close();
  EXPECT_EQ(saved, (Steps{0, 1}));
  EXPECT_EQ(seen.after, (Steps{0, 1}));
}

TEST_F(Saves, AreNotedInTheSessionLog) {
  struct Log {
    std::vector<std::string>* lines;
    void add_summary(const io::Summary&, std::int64_t) const {}
    void checkpoint(std::int64_t step, std::string_view path) const {
      lines->push_back(std::to_string(step) + " " + std::string(path));
    }
  };
  std::vector<std::string> lines;
  CheckpointSaverOptions options = every_steps(1);
  options.summaries = Log{&lines};
  run(options, 1);
  EXPECT_EQ(lines,
            (std::vector<std::string>{"0 " + (dir / "model.ckpt-0").string(), "1 " + (dir / "model.ckpt-1").string()}));
}

TEST_F(Saves, ThatFailStopTheRunOrDoNot) {
  const auto obstruct = [&](int i) {
    if (i == 1) std::filesystem::create_directories(dir / "model.ckpt-2.index.tmp");
  };
  EXPECT_THROW(run(every_steps(1), 4, obstruct), IoError);
  EXPECT_EQ(latest_checkpoint(dir.path()), dir / "model.ckpt-1");
  EXPECT_EQ(seen.after, (Steps{0, 1}));
  EXPECT_EQ(seen.ends, 0);

  seen = {};
  CheckpointSaverOptions options = every_steps(1);
  options.on_failure = OnSaveFailure::warn;
  run(options, 4, obstruct);
  EXPECT_EQ(seen.after, (Steps{0, 1, 3, 4}));
  EXPECT_EQ(seen.ends, 1);
  ASSERT_EQ(sink.lines().size(), 1U);
  EXPECT_NE(sink.lines()[0].find("model.ckpt-2.index.tmp: Is a directory; step 2 is not saved, the run goes on"),
            std::string::npos)
      << sink.lines()[0];
}

struct Uploads {
  void after_save(auto&, std::int64_t step) const {
    if (step > 0) throw IoError("the network is down");
  }
};
TEST_F(Saves, ThatAreDoneAreNotCalledFailedForAListenersSake) {
  CheckpointSaverOptions options = every_steps(1);
  options.on_failure = OnSaveFailure::warn;
  MonitoredSession session{executor(), HookChain{CheckpointSaver{saver(), options, Uploads{}}}};
  EXPECT_THROW(session.run(), IoError) << "what a listener throws leaves";
  EXPECT_TRUE(sink.lines().empty()) << sink.lines()[0];
  session.fail(nullptr);
}

TEST_F(Saves, ThatFailedAtTheLastStepAreTriedAgainAtTheEnd) {
  const auto in_the_way = dir / "model.ckpt-2.index.tmp";
  CheckpointSaverOptions options = every_steps(2);
  options.on_failure = OnSaveFailure::warn;
  MonitoredSession session{executor(), HookChain{CheckpointSaver{saver(), options, Listener{&seen}}}};
  session.run();
  std::filesystem::create_directories(in_the_way);
  session.run();
  EXPECT_EQ(sink.lines().size(), 1U);
  std::filesystem::remove(in_the_way);
  session.close();
  EXPECT_EQ(seen.after, (Steps{0, 2}));
  EXPECT_EQ(latest_checkpoint(dir.path()), dir / "model.ckpt-2");
}

struct FailsAtThree {
  void after_run(auto& run, const auto&) const {
    if (run.step() == 3) throw std::runtime_error("broken");
  }
};
TEST_F(Saves, NothingAfterAnError) {
  MonitoredSession session{executor(),
                           HookChain{FailsAtThree{}, CheckpointSaver{saver(), every_steps(10), Listener{&seen}}}};
  EXPECT_THROW(run_session(session,
                           [](auto& s) {
                             while (true) s.run();
                           }),
               std::runtime_error);
  EXPECT_EQ(seen.after, (Steps{0}));
}

struct Losing {
  bool* lost;
  void after_run(auto& run, const auto&) const {
    if (run.step() == 5 && !std::exchange(*lost, true)) throw AbortedError("the machine went away");
  }
};
struct RunCount {
  static constexpr std::string_view state_key = "runs";
  void begin() { runs = 0; }
  void after_run(auto&, const auto&) { ++runs; }
  void save_state(auto& out) const { out.put("runs", runs); }
  void load_state(auto& in) { in.get("runs", runs); }
  int runs = 0;
};
TEST_F(Saves, AreWhatARecoveryGoesBackTo) {
  bool lost = false;
  const Saver<> one = saver();
  MonitoredSession session{executor(),
                           HookChain{RunCount{}, Losing{&lost}, CheckpointSaver{one, every_steps(2), Listener{&seen}}},
                           restore_latest(one), SessionOptions{.clock = clock}};
  for (int i = 0; i < 7; ++i) session.run();
  EXPECT_TRUE(lost);
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_EQ(session.step(), 7) << "the run that was lost is repeated from step 4 on";
  EXPECT_EQ(w, 7);
  EXPECT_EQ(session.hooks().get<RunCount>().runs, 7) << "hooks go back with the variables";
  EXPECT_EQ(seen.after, (Steps{0, 2, 4, 6})) << "and what was restored is not saved again";
  session.close();
}

}  // namespace checkpoint_saver_test
}  // namespace crochet
