// SPDX-License-Identifier: Apache-2.0
#include <crochet/hook/dynamic_hooks.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing/script.hpp>

namespace crochet {
namespace dynamic_hooks_test {

class Plugin final : public DynamicHook {
 public:
  Plugin(std::string& trace, int every) : trace_(trace), every_(every) {}
  void begin() override { trace_ += "B"; }
  void after_create_session() override { trace_ += "C"; }
  bool before_run(DynamicRun& run) override {
    due_ = run.step() % every_ == 0;
    return due_;
  }
  void after_run(DynamicRun& run) override {
    trace_ += due_ ? "(" + std::to_string(static_cast<int>(run.value("loss"))) + ")" : ".";
    if (run.step() == 4) run.request_stop("plug-in");
  }
  void end() override { trace_ += "E"; }
  void on_error(const std::exception_ptr&) override { trace_ += "X"; }

 private:
  std::string& trace_;
  int every_;
  bool due_ = false;
};

TEST(DynamicHooks, TakePlugInsThroughAllPhases) {
  std::string trace;
  DynamicHooks<"loss"> plugins;
  plugins.emplace<Plugin>(trace, 2);
  testing::Script run{std::move(plugins)};
  std::string fetched;
  for (int i = 1; i <= 4; ++i) {
    run.step(value<"loss">(static_cast<float>(i)));
    fetched += run.fetched() + ";";
  }
  EXPECT_EQ(trace, "BC(1).(3).E");
  EXPECT_EQ(fetched, "loss;;loss;;");
  EXPECT_EQ(run.stop_reason(), "plug-in");
}

TEST(DynamicHooks, AreCalledInTheOrderOfAdd) {
  std::string trace;
  DynamicHooks<"loss"> plugins;
  plugins.add(std::make_unique<Plugin>(trace, 1)).add(std::make_unique<Plugin>(trace, 3));
  EXPECT_EQ(plugins.size(), 2u);
  testing::Script run{std::move(plugins)};
  run.step(value<"loss">(7.0));
  run.step(value<"loss">(8.0));
  run.fail(std::runtime_error("x"));
  EXPECT_EQ(trace, "BBCC(7)(7)(8).XX");
}

/// Throws in `end` and in on_error.
class ThrowsAtTheEnd final : public DynamicHook {
 public:
  explicit ThrowsAtTheEnd(std::string what) : what_(std::move(what)) {}
  void end() override { throw IoError(what_); }
  void on_error(const std::exception_ptr&) override { throw IoError(what_); }

 private:
  std::string what_;
};

TEST(DynamicHooks, EveryPlugInHasItsEndAlsoAfterOneThatThrows) {
  for (const bool fails : {false, true}) {
    std::string trace;
    DynamicHooks<"loss"> plugins;
    plugins.emplace<ThrowsAtTheEnd>("first");
    plugins.emplace<Plugin>(trace, 1);
    plugins.emplace<ThrowsAtTheEnd>("second");
    testing::Script run{std::move(plugins)};
    try {
      fails ? run.fail(std::runtime_error("x")) : run.end();
      FAIL() << "the first error leaves";
    } catch (const IoError& error) {
      EXPECT_STREQ(error.what(), "first");
      EXPECT_EQ(detail::what_of(error.nested()), "second");
    }
    EXPECT_EQ(trace, fails ? "BCX" : "BCE");
  }
}

/// Reads a value that no hook of the chain fetches.
class Nosy final : public DynamicHook {
 public:
  bool before_run(DynamicRun& run) override {
    EXPECT_THROW((void)run.value("loss"), LogicError);  // before the run there are no values
    return true;
  }
  void after_run(DynamicRun& run) override { (void)run.value("accuracy"); }
};
/// Adds dynamic hooks in the middle of a phase.
class Adds final : public DynamicHook {
 public:
  Adds(DynamicHooks<>& all, std::string& trace) : all_(all), trace_(trace) {}
  void after_run(DynamicRun& run) override {
    trace_ += "a";
    for (int i = 0; run.step() == 1 && i < 20; ++i) all_.emplace<Late>(trace_);
    if (run.step() == 2) run.request_stop("enough");
  }

 private:
  class Late final : public DynamicHook {
   public:
    explicit Late(std::string& trace) : trace_(trace) {}
    void begin() override { trace_ += "B"; }
    void after_run(DynamicRun&) override { trace_ += "l"; }
    void end() override { trace_ += "E"; }

   private:
    std::string& trace_;
  };
  DynamicHooks<>& all_;
  std::string& trace_;
};

TEST(DynamicHooks, APlugInAddedByAnotherIsCalledFromTheNextPhaseOn) {
  std::string trace;
  HookChain chain{DynamicHooks<>{}};
  auto& plugins = chain.at<0>();
  plugins.emplace<Adds>(plugins, trace);
  StepExecutor step{[](auto&) {}};
  run(step, chain);
  EXPECT_EQ(trace, "aa" + std::string(20, 'l') + std::string(20, 'E'));
}

TEST(DynamicHooks, ANameThatIsNotListedIsAnError) {
  DynamicHooks<"loss"> plugins;
  plugins.emplace<Nosy>();
  testing::Script run{std::move(plugins)};
  EXPECT_THROW(run.step(value<"loss">(1.0f), value<"accuracy">(1.0f)), LogicError);
}

TEST(DynamicHooks, APlugInIsNotNull) {
  DynamicHooks<> plugins;
  EXPECT_THROW(plugins.add(nullptr), LogicError);
  EXPECT_EQ(plugins.size(), 0U);
}

TEST(DynamicHooks, WithoutPlugInsNothingIsFetched) {
  testing::Script run{DynamicHooks<"loss">{}};
  run.step(value<"loss">(1.0f));
  EXPECT_EQ(run.fetched(), "");
}

}  // namespace dynamic_hooks_test
}  // namespace crochet
