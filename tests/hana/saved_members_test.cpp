// SPDX-License-Identifier: Apache-2.0
#include <crochet/hana/saved_members.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include <crochet/crochet.hpp>
#include <crochet/hook/chain_state.hpp>
#include <crochet/hooks/every_n.hpp>

#include "hooks.hpp"
#include "options.hpp"

namespace crochet {
namespace saved_members_test {

static_assert(std::is_aggregate_v<Plateau>);

template <class Chain>
ChainState saved(const Chain& chain) {
  return ChainState::of([&](StateWriter& out) { chain.save_state(out); });
}
template <class Chain>
StateReport load(const ChainState& state, Chain& chain) {
  return state.load([&](StateWriter& out) { chain.save_state(out); }, [&](StateReader& in) { chain.load_state(in); });
}

TEST(HanaSavedMembers, AreTheStateOfAHook) {
  HookChain chain{Plateau{.options = {.patience = 3}}, Counts{7}};
  chain.get<Plateau>().best = 0.25;
  chain.get<Plateau>().since = 4;
  chain.get<Plateau>().history = {1, 2};
  chain.get<Plateau>().rule.rate = 0.01;

  HookChain resumed{Plateau{.options = {.patience = 9}}, Counts{}};
  load(saved(chain), resumed);
  EXPECT_EQ(resumed.get<Plateau>().best, 0.25);
  EXPECT_EQ(resumed.get<Plateau>().since, 4);
  EXPECT_EQ(resumed.get<Plateau>().history, (std::vector<float>{1, 2}));
  EXPECT_EQ(resumed.get<Plateau>().rule.rate, 0.01);
  EXPECT_EQ(resumed.get<Counts>().count, 7);
  EXPECT_EQ(resumed.get<Plateau>().options.patience, 9);  // not listed: the value of the program is kept
}

TEST(HanaSavedMembers, OfADecoratedHook) {
  HookChain chain{EveryN<2, Plateau>{{.best = 0.5}}};
  HookChain resumed{EveryN<2, Plateau>{}};
  EXPECT_FALSE(load(saved(chain), resumed).loaded.empty());
  EXPECT_EQ(resumed.at<0>().hook.best, 0.5);
}

struct Nothing {
  static bool get(std::string_view, auto&) { return false; }
  static void section(std::string_view, auto&& inside) { inside(); }
};

TEST(HanaSavedMembers, ThatAreMissingKeepTheirValue) {
  Nothing nothing;
  Plateau hook{.best = 0.5, .since = 3};
  hook.load_state(nothing);
  EXPECT_EQ(hook.best, 0.5);
  EXPECT_EQ(hook.since, 3);
}

TEST(HanaSavedMembers, InASession) {
  StepExecutor step{[](auto& out) { out["loss"_n] = 1.0; }, output<double, "loss">};
  MonitoredSession session{step, HookChain{Plateau{}}};
  session.run(fetches<"loss">);
  EXPECT_EQ(session.hooks().get<Plateau>().since, 1);
  session.close();
}

}  // namespace saved_members_test
}  // namespace crochet
