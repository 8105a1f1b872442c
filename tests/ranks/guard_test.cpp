// SPDX-License-Identifier: Apache-2.0
// What a hook on one rank may still do: read its session, run what does not exchange, keep a reference to it. What it
// may not do does not compile: tests/compile_fail/ranks/alone_*.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace ranks_guard_test {

namespace cr = crochet;
using namespace cr::literals;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto w = g.variable<float>("w", {3, 1}, cr::ones());
    const auto loss = g.name("loss", cr::reduce_mean(cr::square(cr::matmul(x, w))));
    g.name("largest", cr::reduce_max(w));
    g.name("train", cr::minimize(loss, cr::SGD{0.01}));
  }
};

template <class Chain>
void train(int ranks, Chain chain) {
  cr::testing::run_ranks(ranks, [&](cr::testing::ThreadRank me) {
    std::vector<float> row{1, 2, static_cast<float>(me.rank())};
    cr::MonitoredSession session{cr::Parallel{cr::Cpu{.threads = 1}, me}.compile<Model>(), chain};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{row.data(), {1, 3}}));
    });
  });
}

/// Looks at the weights in runs of its own, in every phase that has a session.
struct LooksAtWeights {
  void after_create_session(auto& session, auto& /*coordinator*/) {
    read(session);
    kept = &session;
    reads = [](void* view) {
      return static_cast<std::remove_reference_t<decltype(session)>*>(view)->run(cr::fetches<"largest">)["largest"_n];
    };
  }
  cr::RunArgs<> before_run(auto& run) {
    read(run.session());
    return {};
  }
  void after_run(auto& run, const auto& /*values*/) {
    read(run.session());
    EXPECT_EQ(run.session().step(), run.step());
    EXPECT_EQ(reads(kept), seen->back()) << "a reference to the session is valid as long as the session";
  }
  void end(auto& session) { read(session); }

  void read(auto& session) {
    seen->push_back(session.run(cr::fetches<"largest">)["largest"_n]);
    float largest = 0;
    for (const float w : session.executor().variable("w"_n)) largest = std::max(largest, w);
    EXPECT_EQ(seen->back(), largest);
  }

  std::vector<float>* seen;
  void* kept = nullptr;
  float (*reads)(void*) = nullptr;
};
struct ChiefLooks : LooksAtWeights {
  static constexpr auto runs_on = cr::RunsOn::chief;
};

TEST(RankGuards, AllowRunsThatDoNotExchange) {
  std::vector<float> chief, second, inner;
  train(3, cr::HookChain{ChiefLooks{{&chief}}, cr::OnRank<1, LooksAtWeights>{{&second}},
                         cr::EveryN<1, cr::OnRank<2, LooksAtWeights>>{{{&inner}}}, cr::StopAtStep{.last_step = 3}});
  EXPECT_EQ(chief.size(), 8U);
  EXPECT_EQ(chief, second);
  EXPECT_EQ(inner, chief);
}

TEST(RankGuards, OfOneTypeShareAView) {
  std::vector<float> first, second;
  train(2, cr::HookChain{ChiefLooks{{&first}}, ChiefLooks{{&second}}, cr::StopAtStep{.last_step = 2}});
  EXPECT_EQ(first.size(), 6U);
  EXPECT_EQ(first, second);
}

/// Hooks on every rank have the session of all ranks, beside hooks on one.
struct TestsTogether {
  void after_run(auto& run, const auto& /*values*/) {
    const auto batch = cr::feed<"x">(cr::TensorView<float, 2>{row, {1, 3}});
    losses->push_back(run.session().run(cr::fetches<"loss">, batch)["loss"_n]);
  }
  float* row;
  std::vector<float>* losses;
};

TEST(RankGuards, DoNotApplyToTheHooksOfEveryRank) {
  std::vector<std::vector<float>> losses(2);
  std::vector<float> weights;
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    std::vector<float> row{1, 2, static_cast<float>(me.rank())};
    auto& mine = losses[static_cast<std::size_t>(me.rank())];
    cr::MonitoredSession session{
        cr::Parallel{cr::Cpu{.threads = 1}, me}.compile<Model>(),
        cr::HookChain{TestsTogether{row.data(), &mine}, ChiefLooks{{&weights}}, cr::StopAtStep{.last_step = 2}}};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{row.data(), {1, 3}}));
    });
  });
  EXPECT_EQ(losses[0].size(), 2U);
  EXPECT_EQ(losses[0], losses[1]);
}

// Without ranks, and without guards, a session is what it was.
using Plain = decltype(cr::Cpu{}.compile<Model>());
static_assert(
    std::is_same_v<cr::detail::session_of<Plain, cr::HookChain<cr::OnChief<ChiefLooks>>>, cr::RawSession<Plain>>);
using OfRanks = decltype(cr::Parallel{cr::Cpu{}, std::declval<cr::testing::ThreadRank>()}.compile<Model>());
static_assert(std::is_same_v<cr::detail::session_of<OfRanks, cr::HookChain<cr::StopAtStep>>, cr::RawSession<OfRanks>>);
// The views have no members of their own.
using Guarded = cr::detail::session_of<OfRanks, cr::HookChain<cr::OnChief<ChiefLooks>, cr::OnRank<1, LooksAtWeights>>>;
static_assert(sizeof(Guarded) == sizeof(cr::RawSession<OfRanks>));

}  // namespace ranks_guard_test
