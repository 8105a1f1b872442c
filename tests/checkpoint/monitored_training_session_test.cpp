// SPDX-License-Identifier: Apache-2.0
#include <crochet/checkpoint/monitored_training_session.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/describe.hpp>
#include <crochet/io/file_writer_cache.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing/manual_clock.hpp>

#include "../io/temporary_folder.hpp"

namespace crochet {
namespace monitored_training_session_test {

using crochet::testing::ManualClock;

struct Quiet {
  DiagnosticSink before = set_diagnostic_sink([](std::string_view) {});
  ~Quiet() { set_diagnostic_sink(before); }
};

/// A model of one number. Each step adds 1.
struct Adding {
  double w = 0;
  int runs = 0;
  int fails_in_run = 0;
  auto executor() {
    return StepExecutor{[this](auto& out) {
                          if (++runs == fails_in_run) throw AbortedError("machine gone");
                          out["w"_n] = w += 1;
                        },
                        output<double, "w">, variable<"w">(w)};
  }
};

struct CountsBegins {
  int* begins;
  void begin() { ++*begins; }
};

class Training : public ::testing::Test {
 protected:
  ~Training() override { io::FileWriterCache::clear(); }

  /// Runs some steps of a new model in a new session. Returns the final value of the model.
  template <class Items = Summaries<>>
  double train(int steps, Items items = {}) {
    Adding model;
    MonitoredTrainingSession session{model.executor(), HookChain{}, options_, items};
    run_session(session, [&](auto& s) {
      for (int i = 0; i < steps; ++i) {
        s.run();
        clock_.advance(0.2);
      }
    });
    step_ = session.step();
    return model.w;
  }
  /// The bytes of all event files.
  std::string events() const {
    io::FileWriterCache::clear();
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().filename().string().find("tfevents") == std::string::npos) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      all.append(std::istreambuf_iterator<char>(file), {});
    }
    return all;
  }
  bool has_checkpoint() const { return latest_checkpoint(folder_.path()).has_value(); }

  Quiet quiet_;
  ManualClock clock_;
  test::TemporaryFolder folder_;
  MonitoredTrainingOptions options_{.checkpoint_dir = folder_.path(), .clock = clock_};
  std::int64_t step_ = 0;
};

TEST_F(Training, ANamedExecutorIsBorrowedAndATemporaryOneIsOwned) {
  Adding model;
  auto executor = model.executor();
  MonitoredTrainingSession borrows{executor, HookChain{}, options_};
  EXPECT_EQ(&borrows.executor(), &executor);
  borrows.close();
  MonitoredTrainingSession owns{std::move(executor), HookChain{}, options_};
  EXPECT_NE(&owns.executor(), &executor);
  owns.close();
}

TEST_F(Training, ASecondSessionOnTheFolderGoesOn) {  // M1
  EXPECT_EQ(train(2), 2);
  EXPECT_EQ(train(0), 2);
  EXPECT_EQ(step_, 2);
  EXPECT_EQ(train(3), 5);
}

TEST_F(Training, SavesEverySoManySteps) {  // M2
  options_.save_checkpoint_steps = 40;
  train(100);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "model.ckpt-40.index"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "model.ckpt-80.index"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "model.ckpt-100.index"));  // at the end
  EXPECT_FALSE(std::filesystem::exists(folder_ / "model.ckpt-60.index"));
  EXPECT_EQ(train(0), 100);
}

TEST_F(Training, SavesEverySoManySeconds) {  // M3
  options_.save_checkpoint_secs = 1.0;
  train(11);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "model.ckpt-6.index"));
  EXPECT_EQ(train(0), 11);
}

TEST_F(Training, ZeroSwitchesSavingOff) {  // M7
  options_.save_checkpoint_secs = 0;
  int begins = 0;
  Adding model;
  MonitoredTrainingSession session{model.executor(), HookChain{}, options_, summaries<>,
                                   HookChain{CountsBegins{&begins}}};
  session.run();
  session.close();
  EXPECT_EQ(begins, 1);
  EXPECT_FALSE(has_checkpoint());
  EXPECT_EQ(train(0), 0);
}

TEST_F(Training, TwoIntervalsAreAnError) {
  options_.save_checkpoint_secs = 10;
  options_.save_checkpoint_steps = 10;
  EXPECT_THROW(train(1), LogicError);
}

TEST_F(Training, ZeroSecondsDoNotSwitchOffWhatStepsAskFor) {  // the original rejects it as well
  options_.save_checkpoint_secs = 0;
  options_.save_checkpoint_steps = 20;
  EXPECT_THROW(train(1), LogicError);
  options_.save_checkpoint_steps = 0;
  EXPECT_EQ(train(1), 1);
  EXPECT_FALSE(has_checkpoint());
  options_.save_summaries_secs = 5;
  options_.save_summaries_steps = 0;
  EXPECT_THROW(train(1, summaries<summary::Scalar<"w">>), LogicError);
}

TEST_F(Training, NegativeIntervalsAreAnError) {
  options_.log_step_count_steps = -5;
  EXPECT_THROW(train(1), LogicError);
  options_.log_step_count_steps = 0;
  EXPECT_EQ(train(1), 1);
  options_.save_checkpoint_secs = -1;
  EXPECT_THROW(train(1), LogicError);
}

TEST_F(Training, SummariesAndTheRateAreInTheEventFile) {  // M5
  options_.log_step_count_steps = 50;
  train(200, summaries<summary::Scalar<"w">>);
  const std::string bytes = events();
  EXPECT_NE(bytes.find("global_step/sec"), std::string::npos);
  const std::string tag{"\n\x01w", 3};  // a field of one byte
  const std::size_t first = bytes.find(tag);
  ASSERT_NE(first, std::string::npos);
  const std::size_t second = bytes.find(tag, first + 1);  // at steps 100 and 200
  ASSERT_NE(second, std::string::npos);
  EXPECT_EQ(bytes.find(tag, second + 1), std::string::npos);
}

TEST_F(Training, WithoutAFolderNothingIsWritten) {
  options_.checkpoint_dir.clear();
  EXPECT_EQ(train(3, summaries<summary::Scalar<"w">>), 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(Training, SummariesMayBeSwitchedOffAndCheckpointsStay) {
  options_.save_summaries_steps = 0;
  options_.log_step_count_steps = 0;
  train(200, summaries<summary::Scalar<"w">>);
  EXPECT_EQ(events().find("global_step/sec"), std::string::npos);
  EXPECT_EQ(events().find(std::string("\n\x01w", 3)), std::string::npos);
  EXPECT_TRUE(has_checkpoint());
}

TEST_F(Training, ALostMachineContinuesFromTheLastCheckpoint) {
  options_.save_checkpoint_steps = 1;
  options_.session = {.clock = clock_};
  Adding model{.fails_in_run = 3};
  MonitoredTrainingSession session{model.executor(), HookChain{}, options_};
  run_session(session, [&](auto& s) {
    for (int i = 0; i < 2; ++i) s.run();
    model.w = -1;  // the state in memory is lost
    s.run();
  });
  EXPECT_EQ(model.w, 3);
  EXPECT_EQ(session.step(), 3);
  EXPECT_EQ(session.recoveries(), 1);
}

TEST_F(Training, AWorkerHasItsOwnHooksAndSavesNothing) {
  options_.is_chief = false;
  int all = 0, chiefs = 0;
  Adding model;
  MonitoredTrainingSession session{model.executor(), HookChain{CountsBegins{&all}}, options_, summaries<>,
                                   HookChain{CountsBegins{&chiefs}}};
  session.run();
  session.close();
  EXPECT_EQ(all, 1);
  EXPECT_EQ(chiefs, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(Training, AWorkerWaitsForTheChief) {
  options_.is_chief = false;
  options_.max_wait_secs = 60;
  options_.waiting = {.recovery_wait_secs = 10, .clock = clock_};
  Adding model;
  auto looks = [&, left = 3](auto&) mutable { return left-- == 0; };
  MonitoredTrainingSession session{model.executor(), HookChain{}, options_,
                                   summaries<>,      HookChain{}, Scaffold{}.with_ready(looks)};
  EXPECT_EQ(clock_(), 30);
  session.close();
}

TEST_F(Training, TheSaverComesLast) {
  int begins = 0;
  Adding model;
  MonitoredTrainingSession session{model.executor(), HookChain{CountsBegins{&begins}}, options_,
                                   summaries<summary::Scalar<"w">>};
  const std::string text = describe(session.hooks());
  std::size_t last = 0;
  for (const char* name : {"CountsBegins", "StepCounter", "SummarySaver", "CheckpointSaver"}) {
    const std::size_t at = text.find(name);
    ASSERT_NE(at, std::string::npos) << name << " in\n" << text;
    EXPECT_GT(at, last);
    last = at;
  }
  session.close();
}

/// Keeps the model in memory, and restores it from a folder that it is given.
struct KeptSaver {
  struct Kept {
    double w = 0;
    std::int64_t step = -1;
    std::string folder{};
  };
  Kept* kept;

  static bool just_restored(std::int64_t /*unused*/) { return false; }
  std::string save(auto& session, std::int64_t step) {
    session.executor().for_each_variable([&](std::string_view, auto elements, auto) {
      kept->w = static_cast<double>(elements[0]);
      return false;
    });
    kept->step = step;
    return "kept";
  }
  bool restore_latest(auto& session, const std::string& folder) {
    kept->folder = folder;
    if (kept->step < 0) return false;
    session.executor().for_each_variable([&](std::string_view, auto elements, auto) {
      elements[0] = kept->w;
      return true;
    });
    session.set_step(kept->step);
    return true;
  }
};

TEST_F(Training, ASaverWithoutAFolderRestoresFromTheCheckpointDirectory) {
  KeptSaver::Kept kept;
  for (const double end : {2.0, 4.0}) {
    Adding model;
    MonitoredTrainingSession session{model.executor(), HookChain{}, options_,
                                     summaries<>,      HookChain{}, Scaffold{}.with_saver(KeptSaver{&kept})};
    session.run();
    session.run();
    session.close();
    EXPECT_EQ(model.w, end);
    EXPECT_EQ(kept.folder, folder_.path().string());
  }
}

TEST_F(Training, ASaverOfAnotherFolderIsAnError) {
  const auto open = [&](const std::filesystem::path& folder) {
    Adding model;
    MonitoredTrainingSession session{model.executor(), HookChain{}, options_,
                                     summaries<>,      HookChain{}, Scaffold{}.with_saver(Saver<>{folder})};
    session.close();
  };
  EXPECT_THROW(open(folder_.path() / "other"), LogicError);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "other"));
  EXPECT_NO_THROW(open(folder_.path() / "."));
}

TEST_F(Training, AnExecutorWithoutVariablesHasNothingToSave) {
  const auto make = [&] {
    MonitoredTrainingSession session{StepExecutor{[](auto&) {}}, HookChain{}, options_};
    session.close();
  };
  EXPECT_THROW(make(), LogicError);
  options_.checkpoint_dir.clear();
  EXPECT_NO_THROW(make());
}

}  // namespace monitored_training_session_test
}  // namespace crochet
