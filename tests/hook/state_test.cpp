// SPDX-License-Identifier: Apache-2.0
// State of hooks: the types that can be saved, the keys, and restoring into a different chain.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/chain_state.hpp>
#include <crochet/hook/dynamic_hooks.hpp>
#include <crochet/hooks.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing.hpp>

namespace crochet {
namespace state_test {

enum class Mood : unsigned char { good, bad };

struct Everything {
  void save_state(auto& out) const {
    out.put("b", b), out.put("i", i), out.put("u", u), out.put("f", f), out.put("d", d);
    out.put("mood", mood), out.put("text", text), out.put("list", list), out.put("fixed", fixed);
    out.put("texts", texts);
  }
  void load_state(auto& in) {
    in.get("b", b), in.get("i", i), in.get("u", u), in.get("f", f), in.get("d", d);
    in.get("mood", mood), in.get("text", text), in.get("list", list), in.get("fixed", fixed);
    in.get("texts", texts);
  }
  friend bool operator==(const Everything&, const Everything&) = default;

  bool b = false;
  std::int16_t i = 0;
  std::uint64_t u = 0;
  float f = 0;
  double d = 0;
  Mood mood = Mood::good;
  std::string text;
  std::vector<double> list;
  std::array<int, 2> fixed{};
  std::vector<std::string> texts;
};
template <int I>
struct Counter {
  void after_run(auto&, const auto&) { ++runs; }
  void save_state(auto& out) const { out.put("runs", runs); }
  void load_state(auto& in) { in.get("runs", runs); }
  long runs = 0;
};
struct Named {
  static constexpr std::string_view state_key = "my/key";
  void save_state(auto& out) const { out.put("x", x); }
  void load_state(auto& in) { in.get("x", x); }
  int x = 0;
};
namespace old {
struct Grown {
  static constexpr std::string_view state_key = "grown";
  void save_state(auto& out) const { out.put("a", 1), out.put("b", 2.0F), out.put("gone", true); }
  void load_state(auto&) {}
};
}  // namespace old
struct Grown {
  static constexpr std::string_view state_key = "grown";
  void save_state(auto& out) const { out.put("a", a), out.put("b", 2.0), out.put("c", std::string("new")); }
  void load_state(auto& in) { in.get("a", a); }
  int a = 5;
};

template <class Chain>
ChainState state_of(const Chain& chain) {
  return ChainState::of([&](StateWriter& out) { chain.save_state(out); });
}
template <class Chain>
StateReport load(Chain& chain, const ChainState& state) {
  return state.load([&](StateWriter& out) { chain.save_state(out); }, [&](StateReader& in) { chain.load_state(in); });
}
using Keys = std::vector<std::string>;

TEST(HookState, HoldsNumbersTextsAndListsOfThem) {
  const Everything full{true,      -3,     1ULL << 63, 0.1F, 1e300, Mood::bad, std::string("a\0b", 3),
                        {1, 2, 3}, {4, 5}, {"x", ""}};
  HookChain from{full};
  HookChain to{Everything{}};
  const StateReport report = load(to, state_of(from));
  EXPECT_EQ(report.text(), "1 loaded");
  EXPECT_TRUE(to.get<Everything>() == full);
  HookChain empty{full};
  load(empty, state_of(HookChain{Everything{}}));
  EXPECT_TRUE(empty.get<Everything>() == Everything{}) << "empty lists are values too";
}

TEST(HookState, OfAHookWithoutAChainMayHaveValuesBehindASection) {
  int inner = 1, outer = 2;
  const auto save = [&](StateWriter& out) {
    out.section("inner", [&] { out.put("n", inner); });
    out.put("n", outer);
  };
  const ChainState state = ChainState::of(save);
  inner = outer = 0;
  state.load(save, [&](StateReader& in) {
    in.section("inner", [&] { in.get("n", inner); });
    in.get("n", outer);
  });
  EXPECT_EQ(inner, 1);
  EXPECT_EQ(outer, 2);
}

TEST(HookState, HasTheHooksNameAsKeyUnlessItSaysOtherwise) {
  static_assert(state_key_of<Counter<3>>() == "Counter<3>");
  static_assert(state_key_of<EarlyStopping<"val_loss">>() == "EarlyStopping<\"val_loss\">");
  static_assert(state_key_of<EarlyStopping<"validation_loss">>() != state_key_of<EarlyStopping<"validation_error">>());
  static_assert(state_key_of<EveryN<10, Counter<1>>>() == "EveryN<10, Counter<1>>");
  static_assert(state_key_of<Isolated<EveryN<10, Named>>>() == "my/key");
  static_assert(state_key_of<EveryN<2, Keyed<"mine", Named>>>() == "mine");
  const ChainState state =
      state_of(HookChain{Counter<1>{}, StopAtStep{.last_step = 1}, Named{}, Keyed<"other", Named>{}});
  ASSERT_EQ(state.sections.size(), 3U) << "a hook without state has no section";
  EXPECT_EQ(state.sections[0].key, "Counter<1>");
  EXPECT_EQ(state.sections[1].key, "my/key");
  EXPECT_EQ(state.sections[2].key, "other");
}

struct MisspeltKey {
  static constexpr std::string_view state_key = "plateau";
  void save_state(auto& out) const { out.put("best", best), out.put("since", since); }
  void load_state(auto& in) { in.get("bset", best), in.get("since", since); }
  float best = 0;
  int since = 0;
};

TEST(HookState, AValueThatLoadStateDoesNotReadIsReported) {
  HookChain before{MisspeltKey{.best = 0.5F, .since = 3}, Counter<1>{.runs = 11}};
  HookChain after{MisspeltKey{}, Counter<1>{}};
  const StateReport report = load(after, state_of(before));
  EXPECT_EQ(report.loaded, (Keys{"plateau", "Counter<1>"}));
  EXPECT_EQ(report.unread, (Keys{"plateau: best float32"}));
  EXPECT_FALSE(report.all_loaded());
  EXPECT_EQ(report.text(), "2 loaded; not read by load_state: plateau: best float32");
  EXPECT_EQ(after.get<MisspeltKey>().since, 3);
}

TEST(HookState, OfAChangedChainIsReportedAndTheRestIsLoaded) {
  HookChain before{Counter<1>{.runs = 11}, Counter<2>{.runs = 22}, old::Grown{}, Counter<4>{.runs = 44}};
  HookChain after{Counter<3>{.runs = 3}, Counter<4>{}, Grown{}, Counter<1>{}};
  const StateReport report = load(after, state_of(before));
  EXPECT_EQ(report.loaded, (Keys{"Counter<4>", "Counter<1>"}));
  EXPECT_EQ(report.added, (Keys{"Counter<3>"}));
  EXPECT_EQ(report.removed, (Keys{"Counter<2>"}));
  EXPECT_EQ(report.changed, (Keys{"grown: lost b float32, lost gone bool, new b float64, new c text"}));
  EXPECT_FALSE(report.all_loaded());
  EXPECT_EQ(after.get<Counter<1>>().runs, 11);
  EXPECT_EQ(after.get<Counter<4>>().runs, 44);
  EXPECT_EQ(after.get<Counter<3>>().runs, 3) << "added: begins as it was";
  EXPECT_EQ(after.get<Grown>().a, 5) << "changed: not half of it";
  EXPECT_EQ(report.text(),
            "2 loaded, 1 not used; added: Counter<3>; changed: grown: lost b float32, lost gone "
            "bool, new b float64, new c text");
}

struct Ticks {
  static constexpr std::string_view state_key = "ticks";
  void after_run(auto& run, const auto&) { at.push_back(run.step()); }
  void save_state(auto& out) const { out.put("at", at); }
  void load_state(auto& in) { in.get("at", at); }
  std::vector<std::int64_t> at;
};
template <class Chain>
void run_steps(Chain& chain, std::int64_t from, int steps, const ChainState* state, StateReport* report) {
  StepExecutor step{[](auto&) {}};
  struct Start {
    const ChainState* state;
    StateReport* report;
    std::int64_t from;
  };
  RawSession<decltype(step)> raw{step, from};
  raw.attach_hooks(HookStates::of(chain));
  chain.template fire<phase::begin>();
  if (state != nullptr) {
    *report = state->load([&](StateWriter& out) { raw.save_hook_state(out); },
                          [&](StateReader& in) { raw.load_hook_state(in); });
  }
  StopState stop;
  for (int i = 0; i < steps; ++i) detail::hooked_run(raw, chain, stop, RunArgs<>{});
}

TEST(HookState, OfADecoratorGoesOnWithTheHooks) {
  HookChain whole{EveryN<3, EveryN<2, Ticks>>{}};
  StateReport report;
  run_steps(whole, 0, 20, nullptr, &report);
  EXPECT_EQ(whole.at<0>().hook.hook.at, (std::vector<std::int64_t>{6, 9, 12, 15, 18}));
  for (int n = 0; n < 20; ++n) {
    HookChain first{EveryN<3, EveryN<2, Ticks>>{}}, second{EveryN<3, EveryN<2, Ticks>>{}};
    run_steps(first, 0, n, nullptr, &report);
    const ChainState state = state_of(first);
    run_steps(second, n, 20 - n, &state, &report);
    EXPECT_EQ(second.at<0>().hook.hook.at, whole.at<0>().hook.hook.at) << n;
    EXPECT_EQ(report.loaded, (Keys{"ticks", "ticks@EveryN", "ticks@EveryN'"}));
  }
}

TEST(HookState, OfAHookSurvivesAnotherDecorator) {
  HookChain before{EveryN<3, Ticks>{}};
  StateReport report;
  run_steps(before, 0, 4, nullptr, &report);
  const ChainState state = state_of(before);
  HookChain after{EverySeconds<60, Ticks>{}};
  run_steps(after, 4, 0, &state, &report);
  EXPECT_EQ(report.loaded, (Keys{"ticks"}));
  EXPECT_EQ(report.added, (Keys{"ticks@EverySeconds"}));
  EXPECT_EQ(report.removed, (Keys{"ticks@EveryN"}));
  EXPECT_EQ(after.at<0>().hook.at, (std::vector<std::int64_t>{3}));
}

TEST(HookState, OfASecondsCadenceDoesNotCountTheTimeBetween) {
  testing::ManualClock clock;
  HookChain before{EverySeconds<60, Ticks>{{}, {.clock = clock}}};
  StateReport report;
  run_steps(before, 0, 1, nullptr, &report);
  clock.advance(50);
  const ChainState state = state_of(before);
  testing::ManualClock anew;
  anew.advance(1e6);
  HookChain after{EverySeconds<60, Ticks>{{}, {.clock = anew}}};
  run_steps(after, 1, 1, &state, &report);
  EXPECT_EQ(after.at<0>().hook.at, (std::vector<std::int64_t>{1})) << "50 s have passed";
  clock.advance(0);
  anew.advance(10);
  StepExecutor step{[](auto&) {}};
  RawSession<decltype(step)> raw{step, 2};
  StopState stop;
  detail::hooked_run(raw, after, stop, RunArgs<>{});
  EXPECT_EQ(after.at<0>().hook.at, (std::vector<std::int64_t>{1, 3}));
}

struct PlugIn : DynamicHook {
  explicit PlugIn(std::string k) : key(std::move(k)) {}
  void after_run(DynamicRun&) override { ++runs; }
  void save_state(StateWriter& out) const override { out.put("runs", runs); }
  void load_state(StateReader& in) override { in.get("runs", runs); }
  std::string state_key() const override { return key; }
  std::string key;
  int runs = 0;
};

TEST(HookState, OfPlugInsIsUnderTheirOwnKeys) {
  HookChain before{DynamicHooks<>{}}, after{DynamicHooks<>{}};
  before.get<DynamicHooks<>>().emplace<PlugIn>("").runs = 4;
  before.get<DynamicHooks<>>().emplace<PlugIn>("b").runs = 5;
  PlugIn& b = after.get<DynamicHooks<>>().emplace<PlugIn>("b");
  const StateReport report = load(after, state_of(before));
  EXPECT_EQ(b.runs, 5);
  EXPECT_EQ(report.removed, (Keys{"DynamicHooks<>@0"}));
}

struct Saver {
  ChainState* state;
  void end(auto& session) const {
    *state = ChainState::of([&](StateWriter& out) { session.save_hook_state(out); });
  }
};

TEST(HookState, IsReachedFromASessionThatDoesNotKnowTheChain) {
  ChainState state;
  run(StepExecutor{[](auto&) {}}, HookChain{Counter<1>{}, StopAtStep{.last_step = 3}, Saver{&state}});
  ASSERT_EQ(state.sections.size(), 1U);
  HookChain again{Counter<1>{}};
  load(again, state);
  EXPECT_EQ(again.get<Counter<1>>().runs, 3);
}

struct Careless {
  void save_state(auto& out) const { out.put("x", 1), out.put("x", 2); }
  void load_state(auto&) {}
};
TEST(HookState, OfOneHookHasEachKeyOnce) { EXPECT_THROW(state_of(HookChain{Careless{}}), LogicError); }

struct WritesASectionTwice {
  void save_state(auto& out) const {
    for (int i = 0; i < 2; ++i) {
      out.section("part", [&] { out.put("x" + std::to_string(i), i); });
    }
  }
  void load_state(auto&) {}
};
TEST(HookState, OfOneHookHasEachSectionOnce) { EXPECT_THROW(state_of(HookChain{WritesASectionTwice{}}), LogicError); }

}  // namespace state_test
}  // namespace crochet
