// SPDX-License-Identifier: Apache-2.0
// Profiler: which runs its tracer records. Names such as X9 are rows of the original's tests.
#include <crochet/crochet.hpp>
#include <crochet/hooks/profiler.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "../refusal.hpp"

namespace profiler_test {

namespace cr = crochet;
using cr::testing::ManualClock;
using cr::testing::Script;

using crochet::test::refusal;

/// Records the runs that it traced.
struct NotingTracer {
  void start() const { *log += "("; }
  void stop(std::int64_t step) const { *log += std::to_string(step) + ")"; }
  void abandon() const { *log += "x)"; }
  std::shared_ptr<std::string> log = std::make_shared<std::string>();
};

TEST(Profiler, X8WantsExactlyOneInterval) {
  EXPECT_NE(refusal([] { cr::Profiler{NotingTracer{}, {}}.begin(); }), "");
  EXPECT_NE(refusal([] { cr::Profiler{NotingTracer{}, {.every_steps = 1, .every_seconds = 1}}.begin(); }), "");
}

TEST(Profiler, X9X10RecordsTheFirstRunAfterEachInterval) {
  NotingTracer tracer;
  ManualClock clock;
  Script run{cr::Profiler{tracer, {.every_seconds = 2, .clock = clock}}};
  for (const double time : {0.0, 2.5, 2.6, 4.4, 4.5, 4.6}) {
    clock.set(time);
    run.step();
  }
  EXPECT_EQ(*tracer.log, "(2)(5)") << "at 2.5 and 4.5; the first run only starts the interval";
}

TEST(Profiler, X9X11EveryTwoSteps) {
  NotingTracer tracer;
  Script run{cr::Profiler{tracer, {.every_steps = 2}}};
  for (int i = 0; i < 5; ++i) run.step();
  EXPECT_EQ(*tracer.log, "(2)(4)");
  EXPECT_EQ(run.fetched(), "");
}

TEST(Profiler, X12EveryStepButTheFirst) {
  NotingTracer tracer;
  Script run{cr::Profiler{tracer, {.every_steps = 1}}};
  for (int i = 0; i < 3; ++i) run.step();
  EXPECT_EQ(*tracer.log, "(2)(3)");
}

TEST(Profiler, ARecordOfARunThatThrewIsGivenUp) {
  NotingTracer tracer;
  Script run{cr::Profiler{tracer, {.every_steps = 2}}};
  run.step();
  run.log().throw_in_run(1, cr::LogicError("the run"));
  EXPECT_THROW(run.step(), cr::LogicError);
  EXPECT_EQ(*tracer.log, "(");
  run.step();
  EXPECT_EQ(*tracer.log, "(x)(2)") << "and the step is recorded when it is made";
  run.log().throw_in_run(4, cr::LogicError("the run"));
  run.step();
  EXPECT_THROW(run.step(), cr::LogicError);
  run.fail(cr::LogicError("the run"));
  EXPECT_EQ(*tracer.log, "(x)(2)(x)");
}

TEST(Profiler, TheEndGivesUpTheRecordOfARunThatThrew) {
  NotingTracer tracer;
  Script run{cr::Profiler{tracer, {.every_steps = 2}}};
  run.step();
  run.log().throw_in_run(1, cr::LogicError("the run"));
  EXPECT_THROW(run.step(), cr::LogicError);
  run.end();
  EXPECT_EQ(*tracer.log, "(x)");
}

}  // namespace profiler_test
