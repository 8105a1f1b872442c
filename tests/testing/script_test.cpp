// SPDX-License-Identifier: Apache-2.0
#include <crochet/testing/script.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing.hpp>

namespace cr = crochet;
using namespace crochet::literals;

namespace script_test {

/// Stops when the loss has not improved by `min_delta` for `patience` steps.
struct Plateau {
  static constexpr auto fetches = cr::fetches<"loss">;

  void after_run(auto& run, const auto& values) {
    const float loss = values["loss"_n];
    if (loss < best - min_delta) {
      best = loss;
      since = 0;
    } else if (++since >= patience) {
      run.request_stop("no improvement in loss");
    }
  }
  void save_state(auto& out) const {
    out.put("best", best);
    out.put("since", since);
  }
  void load_state(auto& in) {
    in.get("best", best);
    in.get("since", since);
  }

  float min_delta = 1e-4f;
  int patience = 500;
  float best = std::numeric_limits<float>::infinity();
  int since = 0;
};

TEST(Plateau, StopsAfterPatience) {
  cr::testing::Script run{Plateau{.patience = 3}};
  for (int i = 0; i < 4; ++i) run.step(cr::value<"loss">(1.0f));
  EXPECT_EQ(run.stop_reason(), "no improvement in loss");
  EXPECT_EQ(run.trace(), "begin create b a b a b a b a end");
}

TEST(Plateau, GoesOnWhereItsStateWasSaved) {
  cr::testing::Script first{Plateau{.patience = 3}};
  for (int i = 0; i < 3; ++i) first.step(cr::value<"loss">(1.0f));
  cr::testing::StateBox box;
  first.hook().save_state(box);

  Plateau resumed{.patience = 3};
  resumed.load_state(box);
  cr::testing::Script second{resumed};
  second.step(cr::value<"loss">(1.0f));
  EXPECT_TRUE(second.should_stop());
}

TEST(Script, RefusesAStepAfterTheEnd) {
  cr::testing::Script run{Plateau{.patience = 1}};
  run.step(cr::value<"loss">(1.0f));
  EXPECT_FALSE(run.should_stop());
  run.step(cr::value<"loss">(1.0f));
  EXPECT_TRUE(run.should_stop());
  EXPECT_THROW(run.step(cr::value<"loss">(1.0f)), cr::LogicError);
  run.end();  // already happened
  EXPECT_EQ(run.trace(), "begin create b a b a end");
}

struct Fragile {
  void before_run(auto& run) {
    if (run.step() == 1) throw std::runtime_error("before");
  }
  void after_run(auto& run, const auto&) {
    if (run.step() == 6) throw std::runtime_error("after");
  }
  void on_error(std::exception_ptr) { ++errors; }
  int errors = 0;
};

TEST(Script, ShowsWhereAHookThrew) {
  cr::testing::Script run{Fragile{}};
  run.step();
  EXPECT_THROW(run.step(), std::runtime_error);
  EXPECT_EQ(run.trace(), "begin create b a b");
  run.set_step(5);
  EXPECT_THROW(run.step(), std::runtime_error);
  EXPECT_EQ(run.trace(), "begin create b a b b a");
  EXPECT_EQ(run.global_step(), 6);
  run.fail(std::runtime_error("over"));
  EXPECT_EQ(run.hook().errors, 1);
  EXPECT_EQ(run.trace(), "begin create b a b b a error");
  EXPECT_THROW(run.fail(std::runtime_error("twice")), cr::LogicError);
}

struct Final {
  void end(auto& session) {
    auto [value] = session.run(cr::fetches<"accuracy">);
    accuracy = value;
    at = session.step();
  }
  float accuracy = 0;
  std::int64_t at = -1;
};

TEST(Script, KnowsTheValuesOfItsConstructorInEveryPhase) {
  cr::testing::Script run{cr::HookChain{Final{}, Plateau{}}, cr::value<"accuracy">(0.5f)};
  run.step(cr::value<"loss">(1.0f));
  run.step(cr::value<"loss">(1.0f), cr::value<"accuracy">(0.25f));  // only for this step
  run.end();
  EXPECT_EQ(run.hooks().get<Final>().accuracy, 0.5f);
  EXPECT_EQ(run.hooks().get<Final>().at, 2);
}

/// Stops in the first run, in this way, and notes whether its end is that of an interruption.
struct StopsAtOnce {
  cr::StopKind kind;
  std::optional<bool> interrupted{};

  void after_run(auto& run, const auto&) const { run.request_stop("enough", kind); }
  void end(auto& session) { interrupted = session.interrupted(); }
};

TEST(Script, AnInterruptionIsOneInTheEndAsInASession) {
  for (const cr::StopKind kind : {cr::StopKind::interruption, cr::StopKind::end}) {
    cr::testing::Script run{StopsAtOnce{kind}};
    run.step();
    EXPECT_EQ(run.hook().interrupted, kind == cr::StopKind::interruption);
  }
}

TEST(ScriptedExecutor, DrivesARealSession) {
  cr::testing::ScriptLog log;
  log.throw_in_run(3, cr::OutOfRangeError());
  cr::MonitoredSession session{cr::testing::ScriptedExecutor{log, cr::value<"loss">(1.0f), cr::targets<"train">},
                               cr::HookChain{Plateau{}}};
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) {
      s.executor().set("loss"_n, 2.0f);
      auto [loss] = s.run(cr::fetches<"loss">, cr::targets<"train">);
      EXPECT_EQ(loss, 2.0f);
    }
  });
  EXPECT_EQ(log.runs.size(), 4u);
  EXPECT_EQ(log.initialized, 1);
  EXPECT_EQ(session.hooks().get<Plateau>().since, 2);
}

TEST(ManualClock, IsOneClockHoweverOftenItIsCopied) {
  cr::testing::ManualClock clock{10};
  auto copy = clock;
  clock.advance(2.5);
  EXPECT_EQ(copy(), 12.5);
}

TEST(RecordingSink, IsOneRecordHoweverOftenItIsCopied) {
  cr::testing::RecordingSink sink;
  auto copy = sink;
  copy("one");
  copy("two");
  EXPECT_EQ(sink.text(), "one\ntwo\n");
  sink.clear();
  EXPECT_TRUE(copy.lines().empty());
}

struct ThrowsInOnError {
  void on_error(const std::exception_ptr&) const { throw std::runtime_error("the report failed"); }
};
struct NotesAttempts {
  std::vector<int> attempts{};
  int errors = 0;
  void before_run(auto& run) { attempts.push_back(run.attempt()); }
  void on_error(const std::exception_ptr&) { ++errors; }
};

TEST(Script, AnErrorInOnErrorDoesNotHideTheOtherHooks) {
  cr::testing::Script run{cr::HookChain{ThrowsInOnError{}, NotesAttempts{}}};
  EXPECT_THROW(run.fail(cr::IoError("over")), std::runtime_error);
  EXPECT_EQ(run.hooks().template get<NotesAttempts>().errors, 1);
}

TEST(Script, AStepAfterOneThatThrewIsItsNextAttempt) {
  cr::testing::Script run{NotesAttempts{}};
  run.log().throw_in_run(0, cr::UnavailableError("gone"));
  EXPECT_THROW(run.step(), cr::UnavailableError);
  run.step();
  run.step();
  EXPECT_EQ(run.hook().attempts, (std::vector<int>{1, 2, 1}));
}

}  // namespace script_test
