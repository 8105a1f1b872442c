// SPDX-License-Identifier: Apache-2.0
// The steps of a plan with calls of probes around them. The plain Lowering does not depend on it.
#pragma once
#include <array>
#include <cstddef>
#include <utility>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/item_regions.hpp>
#include <crochet/executor/cpu/lower.hpp>
#include <crochet/executor/cpu/shard_steps.hpp>
#include <crochet/executor/plan/probe_failure.hpp>
#include <crochet/executor/plan/step_facts.hpp>
#include <crochet/executor/plan/watched.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// L: the Lowering of the plan P. Probes: a DueProbes.
template <class T, class P, class Backend, class Probes>
class ProbedSteps {
  using L = Lowering<T, P, Backend>;
  using Table = typename L::Table;
  using Regions = ItemRegions<P>;
  using Frame = typename L::FrameType;
  static constexpr std::size_t count = P::plan.step_count;
  static constexpr const auto& names = StepFacts<T, P>::names;

 public:
  /// Runs all steps on one member of the team. `show(step)` shows the values that are complete after that step; it is
  /// called where Shows::at[step].
  template <class Shows, class Show>
  static void run(const Frame& frame, kernel::Worker& worker, const Probes& probes, Show&& show) {
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      [[maybe_unused]] const bool done[] = {true, (one<S, Shows>(frame, worker, probes, show), true)...};
    }
    (std::make_index_sequence<count>{});
  }
  /// The same on a rank with several shards, of which the first is shown.
  template <class Shows, class Show>
  static void run_shards(const Shards<Frame>& shards, kernel::Worker& worker, const Probes& probes, Show&& show) {
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      [[maybe_unused]] const bool done[] = {
          true, (ShardSteps<T, P, Backend>::template one<S>(
                     shards, worker, [&](const Frame& f) { one<S, Shows>(f, worker, probes, show); },
                     [&] { display<S, Shows>(worker, show); }),
                 true)...};
    }
    (std::make_index_sequence<count>{});
  }

 private:
  template <std::size_t S, class Shows, class Show>
  static void one(const Frame& frame, kernel::Worker& worker, const Probes& probes, Show& show) {
    constexpr int region = Regions::region_at(S);
    if constexpr (region != Regions::inside_one) {
      if (Table::steps[S].barrier) worker.sync();
    }
    if constexpr (region == Regions::no_region) {
      step<S>(Whole<Frame>{frame, frame.dims, nullptr, 0}, worker, worker.index(), probes);
    } else if constexpr (region >= 0) {
      take_through<static_cast<std::size_t>(region)>(frame, worker, probes);
    }
    display<S, Shows>(worker, show);
  }
  template <std::size_t S, class Shows, class Show>
  static void display(kernel::Worker& worker, Show& show) {
    if constexpr (Shows::template any<S>) {
      worker.sync();
      if (worker.index() == 0) show(std::integral_constant<std::size_t, S>{});
    }
  }

  /// As Lowering::region.
  template <std::size_t R>
  static void take_through(const Frame& frame, kernel::Worker& worker, const Probes& probes) {
    const int member = worker.index();
    Regions::template each_slice<R>(frame, worker, [&](auto together, const auto& where, kernel::Worker& who) {
      constexpr bool in_turn = together.value;
      constexpr auto first = static_cast<std::size_t>(P::plan.regions[R].first);
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        [[maybe_unused]] const bool done[] = {
            true, (in_turn && I > 0 ? who.sync() : void(), step<first + I>(where, who, member, probes), true)...};
      }
      (std::make_index_sequence<static_cast<std::size_t>(P::plan.regions[R].count)>{});
    });
  }

  template <std::size_t S, class Where>
  static void step(const Where& where, kernel::Worker& worker, int member, const Probes& probes) {
    constexpr auto node = static_cast<std::size_t>(names[S]);
    probes.each([&](auto& probe) { crochet::detail::show_node_begin<node>(probe, member); });
    L::template step<Table::code[S], Table::shared[S]>(Table::steps[S], where, worker);
    probes.each([&](auto& probe) { crochet::detail::show_node_end<node>(probe, member); });
  }
};

}  // namespace crochet::cpu::CROCHET_ISA
