// SPDX-License-Identifier: Apache-2.0
// Probes on the steps of a network. A probe without watches changes nothing; a probe that watches one node leaves all
// others unchanged.
#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include "probes.hpp"

namespace crochet {
namespace probe_test {

/// Panels, fused epilogues, an optimizer's moments, a rate that depends on the step, folded constants.
struct Network {
  static constexpr void define(GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<double>("x", {batch, 9});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto half = g.name("half", g.constant(0.25) * 2.0);
    const auto hidden = g.name("hidden", tanh(dense(x, 20, "first") * half));
    const auto loss = g.name("loss", sparse_softmax_cross_entropy(dense(hidden, 5, "second"), labels));
    g.name("train", minimize(loss, Adam{.learning_rate = 0.01}));
  }
};
TEST(Probe, SeesANetworkLearn) {
  watch_everything<Network>(1, {4, 7, 3}, 1e-9);
  watch_everything<Network>(2, {5, 1}, 1e-9);
}

/// One layer of the network.
struct Layer {
  static constexpr void define(GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<double>("x", {batch, 9});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto hidden = g.name("hidden", tanh(dense(x, 20, "first") * 0.5));
    const auto loss = g.name("loss", sparse_softmax_cross_entropy(hidden, labels));
    g.name("cost", loss);
    g.name("train", minimize(loss, Momentum{.learning_rate = 0.01}));
  }
};

/// Counts the calls of each step by team member.
struct Counter {
  struct Calls {
    std::atomic<int> begun{0}, ended{0};
    std::array<std::atomic<int>, 2> of_member{};
    std::array<std::thread::id, 2> threads{};
  };
  std::array<Calls, 256> calls;
  std::vector<ProbedStep> steps;
  std::vector<std::vector<std::int32_t>> nodes;
  std::vector<ProbedSlot> slots;
  std::vector<std::string> names;
  ProbedRun run;

  void on_run_begin(const ProbedRun& shown) {
    run = shown;
    steps.assign(shown.steps.begin(), shown.steps.end());
    nodes.clear();
    for (const ProbedStep& s : shown.steps) nodes.emplace_back(s.nodes.begin(), s.nodes.end());
    slots.assign(shown.slots.begin(), shown.slots.end());
    names.assign(shown.node_names.begin(), shown.node_names.end());
  }
  template <std::size_t I>
  void on_node_begin(int member) {
    ++calls[I].begun;
    ++calls[I].of_member[static_cast<std::size_t>(member)];
    calls[I].threads[static_cast<std::size_t>(member)] = std::this_thread::get_id();
  }
  template <std::size_t I>
  void on_node_end(int /*member*/) {
    EXPECT_LE(++calls[I].ended, calls[I].begun);
  }
};

TEST(Probe, IsCalledAroundEachMembersPartOfEachStep) {
  for (const int threads : {1, 2}) {
    AgainstOracle<Layer> both(threads, 1e-9);
    Counter counter;
    both.run_probed(Loss{}, Train{}, {6}, &counter);
    EXPECT_EQ(counter.run.members, members_under_test(threads));
    std::set<std::int32_t> named;
    for (const ProbedStep& s : counter.steps) {
      EXPECT_TRUE(named.insert(s.node).second) << counter.names[static_cast<std::size_t>(s.node)];
      const auto& calls = counter.calls[static_cast<std::size_t>(s.node)];
      EXPECT_EQ(calls.begun, calls.ended);
      for (int m = 0; m < members_under_test(threads); ++m) EXPECT_GE(calls.of_member[static_cast<std::size_t>(m)], 1);
      EXPECT_EQ(calls.threads[0], std::this_thread::get_id());
      EXPECT_EQ(calls.threads[1] == std::this_thread::get_id(), false);
    }
    int all = 0, of_steps = 0;
    for (const auto& c : counter.calls) all += c.begun;
    for (const std::int32_t node : named) of_steps += counter.calls[static_cast<std::size_t>(node)].begun;
    EXPECT_EQ(all, of_steps);
  }
}

const ProbedStep* step_of(const Counter& counter, std::string_view node) {
  for (const ProbedStep& s : counter.steps) {
    if (counter.names[static_cast<std::size_t>(s.node)] == node) return &s;
  }
  return nullptr;
}

TEST(Probe, IsToldWhatStepsDoAndTouch) {
  AgainstOracle<Layer> both(1, 1e-9);
  Counter counter;
  both.run_probed(Loss{}, Train{}, {6}, &counter);
  const ProbedStep* first = step_of(counter, "first/matmul");
  ASSERT_NE(first, nullptr);
  const auto& nodes = counter.nodes[static_cast<std::size_t>(first - counter.steps.data())];
  std::string contained;
  for (const std::int32_t node : nodes) contained += counter.names[static_cast<std::size_t>(node)] + " ";
  EXPECT_EQ(contained, "first/matmul first/add first/mul hidden gradients/square gradients/sub ");
  // A product of [6, 9] and [9, 20], then per element a bias, a factor, tanh and tanh's derivative.
  EXPECT_EQ(first->flops, 2.0 * 6 * 9 * 20 + 5 * 6 * 20);
  EXPECT_EQ(first->bytes_read, 8.0 * (6 * 9 + 9 * 20 + 20));
  EXPECT_EQ(first->bytes_written, 8.0 * (6 * 20) * 2);
  EXPECT_EQ(counter.run.dims[0], 6);
  EXPECT_GT(counter.run.variable_bytes, 2U * 8 * (9 * 20 + 20) - 1);
  double slots = 0;
  for (const ProbedSlot& s : counter.slots) {
    EXPECT_GE(s.first, 0);
    EXPECT_LE(s.first, s.last);
    EXPECT_LT(s.last, static_cast<int>(counter.steps.size()));
    slots += static_cast<double>(s.bytes);
  }
  EXPECT_GT(slots, 0);
  EXPECT_GT(counter.run.workspace_bytes, 0U);
  EXPECT_EQ(counter.run.fetches[0], "loss");
  EXPECT_EQ(counter.run.targets[0], "train");
  EXPECT_EQ(counter.run.feeds.size(), 2U);
}

TEST(Probe, IsToldWhichNodesAreMeant) {
  AgainstOracle<Layer> both(1, 1e-9);
  Counter counter;
  both.run_probed(Names<Name<"cost">>{}, Train{}, {6}, &counter);
  ASSERT_EQ(counter.run.fetch_nodes.size(), 1U);
  EXPECT_EQ(counter.run.fetches[0], "cost");
  EXPECT_EQ(counter.names[static_cast<std::size_t>(counter.run.fetch_nodes[0])], "loss") << "its first name";
  ASSERT_EQ(counter.run.target_nodes.size(), 1U);
  EXPECT_EQ(counter.names[static_cast<std::size_t>(counter.run.target_nodes[0])], "train");
}

TEST(Probe, ThatWatchesNothingChangesNoBit) {
  AgainstOracle<Layer> plain(2, 1e-9), probed(2, 1e-9);
  Counter counter;
  for (int i = 0; i < 4; ++i) {
    plain.run(Loss{}, Train{}, {6});
    probed.run_probed(Loss{}, Train{}, {6}, &counter);
    EXPECT_EQ(plain.fetched("loss"_n), probed.fetched("loss"_n));
    const auto a = plain.executor.variable("first/kernel"_n), b = probed.executor.variable("first/kernel"_n);
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
}

struct OneNode {
  static constexpr bool matches(std::string_view node, std::string_view op, std::string_view dtype) {
    return node == "first/add" || op == "VariableV2" || dtype == "int32";
  }
};
TEST(Probe, ThatWatchesOneNodeLeavesOthersFused) {
  AgainstOracle<Layer> both(1, 1e-9);
  Counter counter;
  Recorder<OneNode> recorder;
  both.run_probed(Loss{}, Train{}, {6}, &counter);
  const std::size_t plain_steps = counter.steps.size();
  both.run_probed(Loss{}, Train{}, {6}, &recorder);
  check(recorder, both.oracle, 1e-9);
  EXPECT_EQ(recorder.steps.size(), plain_steps);
  std::set<std::string> shown;
  for (const auto& s : recorder.shown) shown.insert(recorder.names[static_cast<std::size_t>(s.node)]);
  EXPECT_EQ(shown.count("first/add"), 1U);
  EXPECT_EQ(shown.count("labels"), 1U);
  EXPECT_EQ(shown.count("first/kernel/Momentum"), 1U);
  EXPECT_EQ(shown.count("hidden"), 0U);
}

/// What a run with these watches executes: steps, and the operations and stores fused into them.
struct Work {
  std::size_t steps = 0, instructions = 0, slots = 0;
};
template <class W>
constexpr Work work_of() {
  using Executor = decltype(Cpu{}.compile<Layer>());
  using T = cpu::Tables<cpu::DeviceTraits{.packs = kernel::Tiles::packs}, Layer>;
  using Plain = cpu::Planned<T, Demand<Loss, Train>>;
  using Watch = cpu::WatchedNodes<T, Executor, Plain, Recorder<W>>;
  using Plan = std::conditional_t<(Watch::nodes.size() > 0), cpu::Planned<T, Demand<Loss, Train>, Watch>, Plain>;
  Work work{Plan::plan.step_count, 0, Plan::plan.slot_count};
  for (std::size_t s = 0; s < work.steps; ++s) {
    work.instructions += static_cast<std::size_t>(Plan::plan.steps[s].instructions);
  }
  return work;
}
struct NoNode {
  static constexpr bool matches(std::string_view, std::string_view, std::string_view) { return false; }
};
TEST(Probe, WhatIsNotWatchedCostsNothing) {
  constexpr Work nothing = work_of<NoNode>(), one = work_of<OneNode>(), all = work_of<WatchEverything>();
  // OneNode: first/add is stored in addition; its variables and feeds are in memory in any case.
  EXPECT_EQ(one.steps, nothing.steps);
  EXPECT_EQ(one.instructions, nothing.instructions + 1);
  EXPECT_EQ(one.slots, nothing.slots + 1);
  EXPECT_GT(all.instructions, one.instructions + 5);
  EXPECT_GT(all.slots, one.slots + 5);
}

/// Throws at the n-th tensor.
struct Throws {
  using watches = WatchEverything;
  int left = 0, ends = 0;
  template <std::size_t I>
  void on_node_end(const ProbedTensor&) {
    if (left-- == 0) throw std::runtime_error("enough");
  }
  void on_run_end() { ++ends; }
};
TEST(Probe, SeesWhatItWatchesAndTheOthersWhatTheyDo) {
  AgainstOracle<Layer> both(2, 1e-9);
  Counter counter;
  Recorder<OneNode> some;
  Recorder<WatchEverything> all;
  Throws* const none = nullptr;
  both.run_probed(Loss{}, Train{}, {6}, &some, &counter, &all, none);
  check(some, both.oracle, 1e-9);
  check(all, both.oracle, 1e-9);
  check_complete(all, both.oracle);
  EXPECT_LT(some.shown.size(), all.shown.size());
  EXPECT_GE(counter.calls[static_cast<std::size_t>(counter.steps[0].node)].begun, members_under_test(2));
}
TEST(Probe, ThatThrowsDoesNotKeepTheTeamWaiting) {
  AgainstOracle<Layer> both(2, 1e-9);
  Counter* const counts = nullptr;
  Recorder<OneNode>* const some = nullptr;
  Recorder<WatchEverything> all;
  for (const int at : {0, 12, 30}) {
    Throws throws{at};
    EXPECT_THROW(both.run_probed(Loss{}, Train{}, {6}, some, counts, &all, &throws), std::runtime_error);
    EXPECT_EQ(all.ends, 0);
    EXPECT_EQ(throws.left, -1);
  }
}

}  // namespace probe_test
}  // namespace crochet
