// SPDX-License-Identifier: Apache-2.0
#include <crochet/hook/chain.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hook/compose.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing.hpp>

namespace crochet {
namespace chain_test {

using namespace literals;

struct Empty {
  void after_run(auto&, const auto&) {}
};
struct AlsoEmpty {
  void begin() {}
};
struct Count {
  long runs = 0;
  void after_run(auto&, const auto&) { ++runs; }
};

TEST(HookChain, EmptyHooksCostNoBytes) {
  static_assert(sizeof(HookChain<Empty, Count, AlsoEmpty>) == sizeof(Count));
  static_assert(std::is_empty_v<HookChain<Empty, AlsoEmpty>>);
  static_assert(std::is_empty_v<HookChain<>>);
  static_assert(sizeof(HookChain<Count, Count>) == 2 * sizeof(Count));
}

TEST(HookChain, CopiesAndMovesAsItsHooksDo) {
  struct MoveOnly {
    MoveOnly() = default;
    MoveOnly(MoveOnly&&) = default;
    void begin() {}
  };
  static_assert(std::is_trivially_copyable_v<HookChain<Empty, Count>>);
  static_assert(!std::is_copy_constructible_v<HookChain<Count, MoveOnly>>);
  static_assert(std::is_move_constructible_v<HookChain<Count, MoveOnly>>);
  HookChain chain{Count{3}, MoveOnly{}};
  HookChain moved{std::move(chain)};
  EXPECT_EQ(moved.get<Count>().runs, 3);
}

TEST(HookChain, DeducesItsHooks) {
  HookChain chain{Count{1}, Empty{}};
  static_assert(std::is_same_v<decltype(chain), HookChain<Count, Empty>>);
  HookChain same{chain};
  static_assert(std::is_same_v<decltype(same), HookChain<Count, Empty>>);
  EXPECT_EQ(same.get<Count>().runs, 1);
}

TEST(HookChain, AHookMayStandInItTwice) {
  testing::Script run{HookChain{Count{}, Empty{}, Count{10}}};
  run.step();
  long sum = 0;
  run.hooks().for_each([&](auto& hook) {
    if constexpr (requires { hook.runs; }) sum += hook.runs;
  });
  EXPECT_EQ(sum, 12);
}

TEST(HookChain, FiresInTheCompilerToo) {
  struct Add {
    int* sum;
    int what;
    constexpr void begin() { *sum = *sum * 10 + what; }
  };
  static_assert([] {
    int sum = 0;
    HookChain chain{Add{&sum, 1}, Add{&sum, 2}, Add{&sum, 3}};
    chain.fire<phase::begin>();
    return sum;
  }() == 123);
}

/// A final class: the near-miss check cannot derive from it, so the class lists its phases in `handles`.
struct Final final {
  using handles = Phases<phase::after_run>;
  int runs = 0;
  void after_run(auto&, const auto&) { ++runs; }
};
TEST(HookChain, TakesFinalClasses) {
  testing::Script run{Final{}};
  run.step();
  EXPECT_EQ(run.hook().runs, 1);
}

/// Appends its name to a string in each phase.
struct Named {
  const char* name;
  std::string* calls;
  void begin() { *calls += name; }
  void after_run(auto&, const auto&) { *calls += name; }
};
template <int>
struct Other : Named {};

TEST(HookChain, OfChainsIsTheChainOfTheirHooks) {
  std::string calls;
  HookChain named{Other<4>{{"4", &calls}}};
  HookChain chain{Named{"1", &calls}, HookChain{Other<2>{{"2", &calls}}, HookChain{Other<3>{{"3", &calls}}}}, named,
                  HookChain<>{}};
  static_assert(std::is_same_v<decltype(chain)::Flat, HookChain<Named, Other<2>, Other<3>, Other<4>>>);
  static_assert(decltype(chain)::size == 4);
  chain.fire<phase::begin>();
  EXPECT_EQ(calls, "1234");
  testing::Script run{std::move(chain)};
  run.step();
  EXPECT_EQ(calls, "123412341234");
}

TEST(HookChain, OfChainsIsWhatPipesMakeOfThem) {
  std::string calls;
  const auto chain = HookChain{HookChain{Named{"1", &calls}}, Other<2>{{"2", &calls}}} |
                     HookChain{Other<3>{{"3", &calls}}, HookChain{Other<4>{{"4", &calls}}}};
  static_assert(std::is_same_v<decltype(chain), const HookChain<Named, Other<2>, Other<3>, Other<4>>>);
}

/// Requests a stop in the third run.
struct Three {
  int runs = 0;
  void after_run(auto& run, const auto&) {
    if (++runs == 3) run.request_stop();
  }
};
TEST(HookChain, OfChainsIsDrivenByASessionOwnedOrBorrowed) {
  std::string calls;
  float loss = 1;
  StepExecutor executor{[&](auto& out) { out["loss"_n] = loss; }, output<float, "loss">};
  run(executor, HookChain{Three{}, HookChain{Other<1>{{"x", &calls}}}});
  EXPECT_EQ(calls, "xxxx");
  calls.clear();
  HookChain borrowed{HookChain{Three{}}, Other<1>{{"y", &calls}}};
  run(executor, borrowed);
  EXPECT_EQ(calls, "yyyy");
  EXPECT_EQ(borrowed.get<Three>().runs, 3);
}

struct Late {
  using after = Hooks<Count>;
  void begin() {}
};
TEST(HookChain, KeepsTheListedOrderWhenItFitsEverybodysWish) {
  testing::Script run{HookChain{Count{}, Empty{}, Late{}}};
  run.step();
  EXPECT_EQ(run.trace(), "begin create b a");
}

/// `Hooks<Count>` in a hook derived from Count means other hooks of that kind.
struct Recount : Count {
  using after = Hooks<Count>;
};
TEST(HookChain, AHookMayFollowTheOneThatItIsDerivedFrom) {
  static_assert(std::is_same_v<decltype(detail::stated_order_reason<Recount, Hooks<Count>>()), detail::Ok>);
  static_assert(!std::is_same_v<decltype(detail::order_reason<Recount, Count>()), detail::Ok>);
  HookChain chain{Count{}, Recount{}};
  testing::Script run{chain};
  run.step();
  EXPECT_EQ(run.trace(), "begin create b a");
}

}  // namespace chain_test
}  // namespace crochet
