// SPDX-License-Identifier: Apache-2.0
// A run computes exactly the requested names, and a value is read only by hooks that use it.
#include <crochet/session/demand.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <type_traits>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing.hpp>

namespace crochet {
namespace demand_test {

using testing::Script;
using testing::ScriptedExecutor;
using testing::ScriptLog;

using Always = RunArgs<Fetches<Name<"loss">>>;

/// Requests the names in every run whose number is a multiple of `every`.
template <FixedString... Text>
struct Sometimes {
  static constexpr auto fetches = crochet::fetches<Text...>;
  int every = 2;
  int reads = 0;
  int refused = 0;

  MaybeFetch<Text...> before_run(auto& run) {
    if (run.step() % every != 0) return std::nullopt;
    return RunArgs{crochet::fetches<Text...>};
  }
  void after_run(auto&, const auto& values) {
    if (!values.requested()) return;
    ((reads += static_cast<int>(values[Name<Text>{}])), ...);
  }
};
template <FixedString... Text>
struct EveryRun {
  static constexpr auto fetches = crochet::fetches<Text...>;
  int runs = 0;
  void after_run(auto&, const auto&) { ++runs; }
};

TEST(Demand, IsInTheOrderOfTheExecutorsTableWithoutRepetition) {
  using E = decltype(ScriptedExecutor{std::declval<ScriptLog&>(), value<"a">(1), value<"b">(2), value<"c">(3),
                                      targets<"train", "eval">});
  using D = detail::demand_for<E, detail::List<Name<"c">, Name<"a">, Name<"c">>, detail::List<Name<"eval">>>;
  static_assert(std::is_same_v<D, Demand<Names<Name<"a">, Name<"c">>, Names<Name<"eval">>>>);
  static_assert(D::fetches<Name<"a">> && !D::fetches<Name<"b">> && D::runs<Name<"eval">> && !D::runs<Name<"train">>);
}

TEST(Demand, WithoutAskersNothingIsFetched) {
  struct Quiet {
    int ends = 0;
    void begin() {}
  };
  Script run{Quiet{}};
  run.step(value<"loss">(1.0f), targets<"train">);
  EXPECT_EQ(run.log().runs[0].fetched, "");
  EXPECT_EQ(run.log().runs[0].targets, "train");
}

TEST(Demand, AConditionalAskerIsServedOnlyInRunsWhereItAsked) {
  Script run{Sometimes<"loss">{.every = 3}};
  std::string fetched;
  for (int i = 0; i < 5; ++i) {
    run.step(value<"loss">(1.0f));
    fetched += run.fetched() + ";";
  }
  EXPECT_EQ(fetched, "loss;;;loss;;");
  EXPECT_EQ(run.hook().reads, 2);
  EXPECT_EQ(run.log().reads["loss"], 2);
}

TEST(Demand, OneGroupDueRunsItsOwnPlanAndSeveralRunTheUnion) {
  Script run{HookChain{Sometimes<"a">{.every = 2}, Sometimes<"b">{.every = 3}, EveryRun<"loss">{}}};
  std::string fetched;
  for (int i = 0; i < 7; ++i) {
    run.step(value<"a">(1), value<"b">(10), value<"loss">(1.0f));
    fetched += run.fetched() + ";";
  }
  //                  0         1     2       3       4       5     6
  EXPECT_EQ(fetched, "a b loss;loss;a loss;b loss;a loss;loss;a b loss;");
  EXPECT_EQ(run.hooks().get<Sometimes<"a">>().reads, 4);
  EXPECT_EQ(run.hooks().get<Sometimes<"b">>().reads, 30);
  EXPECT_EQ(run.log().reads["loss"], 0);  // requested and never read
}

TEST(Demand, AskersOfTheSameNamesAreOneGroupAndThoseThatAddNothingAreNone) {
  using E = decltype(ScriptedExecutor{std::declval<ScriptLog&>(), value<"a">(1), value<"b">(2), value<"loss">(3)});
  using A = HookRequest<RunArgs<Fetches<Name<"a">>>, true>;
  using B = HookRequest<RunArgs<Fetches<Name<"b">>>, true>;
  using Loss = HookRequest<RunArgs<Fetches<Name<"loss">>>, true>;
  using LossAlways = HookRequest<RunArgs<Fetches<Name<"loss">>>, false>;
  using Plan = detail::Plans<E, RunArgs<>, A, LossAlways, B, A, Loss>;
  static_assert(std::is_same_v<Plan::Base, Demand<Names<Name<"loss">>, Names<>>>);
  static_assert(std::is_same_v<Plan::Groups, detail::List<Demand<Names<Name<"a">, Name<"loss">>, Names<>>,
                                                          Demand<Names<Name<"b">, Name<"loss">>, Names<>>>>);
  static_assert(std::is_same_v<Plan::All, Demand<Names<Name<"a">, Name<"b">, Name<"loss">>, Names<>>>);
  static_assert(Plan::group_of<A>() == 1 && Plan::group_of<B>() == 2 && Plan::group_of<Loss>() == 0);
}

TEST(Demand, TheCallersOwnFetchesNeedNoPlanOfTheHooks) {
  ScriptLog log;
  MonitoredSession session{ScriptedExecutor{log, value<"loss">(3), value<"a">(7)}, HookChain{Sometimes<"loss">{}}};
  for (int i = 0; i < 2; ++i) {
    auto [a, loss] = session.run(fetches<"a", "loss">);
    EXPECT_EQ(a, 7);
    EXPECT_EQ(loss, 3);
  }
  EXPECT_EQ(log.runs[0].fetched, "loss a");  // in the executor's order
  EXPECT_EQ(log.runs[1].fetched, "loss a");
  EXPECT_EQ(session.run(fetches<"a">)["a"_n], 7);
  EXPECT_EQ(log.runs[2].fetched, "loss a");  // step 2: the hook is due
  session.run(fetches<"a">);
  EXPECT_EQ(log.runs[3].fetched, "a");
  session.close();
}

/// Reads the value in every run, and requests it only in some.
struct Careless : Sometimes<"loss"> {
  void after_run(auto&, const auto& values) { last = values["loss"_n]; }
  float last = 0;
};

TEST(RunValues, ReadingWithoutHavingAskedIsAnErrorThatNamesHookAndName) {
  Script run{Careless{}};
  run.step(value<"loss">(2.0f));
  EXPECT_EQ(run.hook().last, 2.0f);
  try {
    run.step(value<"loss">(3.0f));
    FAIL() << "the second step must throw";
  } catch (const LogicError& error) {
    EXPECT_STREQ(
        error.what(),
        "crochet: the hook Careless reads \"loss\" in a run for which it did not request it; see values.requested()");
  }
}

struct Rate {
  auto before_run(auto& run) { return RunArgs{feed<"rate">(static_cast<float>(run.step()))}; }
};
template <FixedString Text, int Every>
struct RateSometimes {
  std::optional<RunArgs<Fetches<>, Targets<>, Feeds<Feed<Name<Text>, float>>>> before_run(auto& run) {
    if (run.step() % Every != 0) return std::nullopt;
    return RunArgs{feed<Text>(static_cast<float>(run.step()) + 0.5f)};
  }
};

TEST(Feeds, OfCallerAndHooksReachTheExecutorTogether) {
  Script run{HookChain{Rate{}, RateSometimes<"x", 2>{}, RateSometimes<"y", 3>{}}, placeholder<float, "rate">,
             placeholder<float, "x">, placeholder<float, "y">, placeholder<int, "batch">};
  std::string fed;
  for (int i = 0; i < 4; ++i) {
    run.step(feed<"batch">(i));
    fed += run.log().runs.back().fed + ";";
  }
  EXPECT_EQ(fed, "batch rate x y;batch rate;batch rate x;batch rate y;");
  EXPECT_EQ(run.log().fed_scalars["x"], 2.5);
  EXPECT_EQ(run.log().fed_scalars["y"], 3.5);
  EXPECT_EQ(run.log().fed_scalars["rate"], 3);
  EXPECT_EQ(run.log().fed_scalars["batch"], 3);
}

/// Requests a target in some runs.
struct Summaries {
  auto before_run(auto& run) -> std::optional<RunArgs<Fetches<>, Targets<Name<"summary">>>> {
    if (run.step() % 2 == 0) return std::nullopt;
    return RunArgs{targets<"summary">};
  }
};

TEST(Demand, TargetsCanBeAskedForToo) {
  Script run{Summaries{}, targets<"train", "summary">};
  run.step("train"_n);
  run.step("train"_n);
  EXPECT_EQ(run.log().runs[0].targets, "train");
  EXPECT_EQ(run.log().runs[1].targets, "train summary");
}

/// Chooses its request at compile time, by the caller's targets.
struct OnTrain {
  template <class Run>
  auto before_run(Run&) {
    if constexpr (runs_target<Run, Name<"train">>) {
      return RunArgs{fetches<"loss">};
    } else {
      return RunArgs{};
    }
  }
};

TEST(Demand, MayDependOnTheCallersTargets) {
  Script run{OnTrain{}, targets<"train", "eval">, value<"loss">(1.0f)};
  run.step("train"_n);
  run.step("eval"_n);
  EXPECT_EQ(run.log().runs[0].fetched, "loss");
  EXPECT_EQ(run.log().runs[1].fetched, "");
}

/// Executes a side run in after_run.
struct Aside {
  static constexpr auto fetches = crochet::fetches<"loss">;
  void after_run(auto& run, const auto& values) {
    auto [other] = run.session().run(crochet::fetches<"other">);
    sum += static_cast<double>(values["loss"_n]) + other;
  }
  double sum = 0;
};

TEST(SideRuns, AreRunsOfTheirOwnThatCountAsNoStep) {
  Script run{Aside{}};
  run.step(value<"loss">(1.0f), value<"other">(0.25));
  EXPECT_EQ(run.log().runs.size(), 2u);
  EXPECT_EQ(run.log().runs[0].fetched, "loss");
  EXPECT_EQ(run.log().runs[1].fetched, "other");
  EXPECT_EQ(run.global_step(), 1);
  EXPECT_EQ(run.hook().sum, 1.25);
}

}  // namespace demand_test
}  // namespace crochet
