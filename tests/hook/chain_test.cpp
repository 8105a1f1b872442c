// SPDX-License-Identifier: Apache-2.0
#include <crochet/hook/chain.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include <crochet/executor/step_executor.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing.hpp>

namespace crochet {
namespace {

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

/// A final class cannot be probed for near misses, but is as good a hook as any.
struct Final final {
  int runs = 0;
  void after_run(auto&, const auto&) { ++runs; }
};
TEST(HookChain, TakesFinalClasses) {
  testing::Script run{Final{}};
  run.step();
  EXPECT_EQ(run.hook().runs, 1);
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

}  // namespace
}  // namespace crochet
