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

/// Reads `name` in before_run or in after_run, and requests values or does not.
struct Reads final : DynamicHook {
  Reads(std::string which, bool is_early, bool requests) : name(std::move(which)), early(is_early), wants(requests) {}
  bool before_run(DynamicRun& run) override {
    if (early) (void)run.value(name);
    return wants;
  }
  void after_run(DynamicRun& run) override { (void)run.value(name); }

  std::string name;
  bool early, wants;
};

/// The text of the error of one run.
std::string error_of(const std::string& name, bool early, bool wants) {
  DynamicHooks<"loss", "rate"> plugins;
  plugins.emplace<Reads>(name, early, wants);
  testing::Script run{std::move(plugins)};
  try {
    run.step(value<"loss">(1.0F), value<"rate">(1.0F));
  } catch (const LogicError& error) {
    return error.what();
  }
  return "";
}

TEST(DynamicHooks, AMissingValueHasItsCauseAndCure) {
  EXPECT_EQ(error_of("loss", false, true), "");
  EXPECT_EQ(error_of("loss", false, false),
            "crochet: a plug-in reads \"loss\" in a run without values; return true in before_run of such a run");
  EXPECT_EQ(error_of("loss", true, true),
            "crochet: a plug-in reads \"loss\" in before_run, where there are no values; read it in after_run");
  EXPECT_EQ(error_of("los", false, true),
            "crochet: a plug-in reads \"los\", which its DynamicHooks does not list; did you mean \"loss\"?");
  EXPECT_EQ(error_of("los", false, false), error_of("los", false, true));
  EXPECT_EQ(error_of("accuracy", true, true),
            "crochet: a plug-in reads \"accuracy\", which its DynamicHooks does not list; add it to the names of the "
            "type");
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
