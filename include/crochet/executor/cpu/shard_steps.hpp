// SPDX-License-Identifier: Apache-2.0
// The steps of a plan for a rank that computes its rows in several shards, one after the other. Between two exchanges
// each shard takes all steps in turn; an exchange is made once, with the values of all shards; and a variable is
// written once, when all shards have read it.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/lower.hpp>
#include <crochet/executor/cpu/step_memory.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The frames of a rank's shards. `saved`: room for the variables that one step writes (ShardSteps::saved_bytes).
template <class Frame>
struct Shards {
  std::span<Frame> frames;
  kernel::Exchange* exchange;
  std::byte* saved;
};

/// The largest number of shards that one rank computes.
inline constexpr std::size_t max_shards_of_rank = 64;

/// T: the tables of the graph, P: the plan of the demand (Planned).
template <class T, class P, class Backend>
class ShardSteps {
  static constexpr const auto& plan = P::plan;
  using L = Lowering<T, P, Backend>;
  using Table = StepTable<T, P>;
  using Frame = typename L::FrameType;
  static constexpr std::size_t count = plan.step_count;

  enum class Kind : unsigned char { of_each_shard, exchange, writes_variables };
  static constexpr bool is_variable(std::int32_t value) {
    return plan.values.data()[value].space == AddressSpace::variable;
  }
  /// Calls visit(value) for each value that a step writes.
  template <class Visit>
  static constexpr void each_written(const Step& s, Visit visit) {
    bool stores_root = s.root != nullptr && !s.root->has_epilogue();
    if (stores_root) visit(s.root_value);
    for (std::int32_t i = 0; i < s.instructions; ++i) {
      const Instruction& x = plan.instructions.data()[s.first_instruction + i];
      if (x.kind != Instruction::Kind::store && x.kind != Instruction::Kind::accumulate) continue;
      visit(plan.accesses.data()[s.first_access + x.args[0]].value);
    }
  }
  static constexpr Kind kind_of(const Step& s) {
    if (ExchangesOf<T, P>::exchanges(s)) return Kind::exchange;
    bool writes = false;
    each_written(s, [&](std::int32_t v) { writes = writes || is_variable(v); });
    return writes ? Kind::writes_variables : Kind::of_each_shard;
  }
  static constexpr auto kinds = [] {
    std::array<Kind, count> all{};
    for (std::size_t s = 0; s < count; ++s) all[s] = kind_of(plan.steps.data()[s]);
    return all;
  }();
  static constexpr bool regions_are_whole = [] {
    for (std::size_t s = 0; s < count; ++s) {
      if (plan.steps.data()[s].region >= 0 && kinds[s] != Kind::of_each_shard) return false;
    }
    return true;
  }();
  static_assert(regions_are_whole, "crochet: the steps of a region are those of one shard");

  /// The first step behind `from` that is not of each shard.
  static constexpr std::size_t end_of(std::size_t from) {
    while (from < count && kinds[from] == Kind::of_each_shard) ++from;
    return from;
  }
  static constexpr std::size_t variable_bytes(std::int32_t value) {
    const auto node = static_cast<std::size_t>(plan.values.data()[value].index);
    return T::offsets.data()[node + 1] - T::offsets.data()[node];
  }

 public:
  /// The bytes of the variables that one step writes, at most.
  static constexpr std::size_t saved_bytes = [] {
    std::size_t most = 0;
    for (std::size_t s = 0; s < count; ++s) {
      std::size_t bytes = 0;
      each_written(plan.steps.data()[s], [&](std::int32_t v) { bytes += is_variable(v) ? variable_bytes(v) : 0; });
      most = bytes > most ? bytes : most;
    }
    return most;
  }();

  /// Runs all steps on one member of the team.
  static void run(const Shards<Frame>& shards, kernel::Worker& worker) {
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      [[maybe_unused]] const bool done[] = {true, (part<S>(shards, worker), true)...};
    }
    (std::make_index_sequence<count>{});
  }

  /// Step S. run(frame): runs and shows it for the first shard; show(): shows its values, if it is an exchange.
  template <std::size_t S, class Run, class Show>
  static void one(const Shards<Frame>& shards, kernel::Worker& worker, const Run& run, const Show& show) {
    if constexpr (kinds[S] == Kind::exchange) {
      exchange<S>(shards, worker);
      show();
    } else {
      if constexpr (kinds[S] == Kind::writes_variables) write_in_others<S>(shards, worker);
      run(shards.frames[0]);
      if constexpr (kinds[S] == Kind::of_each_shard) {
        for (Frame& f : shards.frames.subspan(1)) L::template run_steps<S, S + 1>(f, worker);
      } else {
        worker.sync();
      }
    }
  }

 private:
  /// The steps from S to the next that is not of each shard; nothing if S is inside such a sequence.
  template <std::size_t S>
  CROCHET_HOST_ALWAYS_INLINE static void part(const Shards<Frame>& shards, kernel::Worker& worker) {
    if constexpr (kinds[S] == Kind::exchange) {
      exchange<S>(shards, worker);
    } else if constexpr (kinds[S] == Kind::writes_variables) {
      write_in_others<S>(shards, worker);
      L::template run_steps<S, S + 1>(shards.frames[0], worker);
      worker.sync();
    } else if constexpr (S == 0 || kinds[S == 0 ? 0 : S - 1] != Kind::of_each_shard) {
      for (Frame& f : shards.frames) L::template run_steps<S, end_of(S)>(f, worker);
    }
  }

  /// The calling thread exchanges the values of all shards.
  template <std::size_t S>
  [[gnu::noinline]] static void exchange(const Shards<Frame>& shards, kernel::Worker& worker) {
    worker.sync();
    if (worker.index() == 0) {
      std::array<const void*, max_shards_of_rank> from{};
      std::array<void*, max_shards_of_rank> to{};
      std::int64_t n = 0;
      for (std::size_t j = 0; j < shards.frames.size(); ++j) {
        const Frame& f = shards.frames[j];
        const kernel::Call call =
            StepMemory<T, P>::template call_of<S>(Table::steps[S], Whole<Frame>{f, f.dims, nullptr, 0}, worker);
        from[j] = call.in[0].data, to[j] = call.out.data, n = call.out.size();
      }
      constexpr DType type = plan.values[static_cast<std::size_t>(plan.steps[S].root_value)].dtype;
      shards.exchange->reduce_shards({from.data(), shards.frames.size()}, to[0], n, type,
                                     plan.steps[S].root == &op::mean_over_ranks);
      for (std::size_t j = 1; j < shards.frames.size(); ++j) {
        if (to[j] != to[0]) std::memcpy(to[j], to[0], static_cast<std::size_t>(n) * size_of(type));
      }
    }
    worker.sync();
  }

  /// Begins a step that writes variables. It may also leave values in each shard's memory: all shards but the first
  /// take the step and the variables are then set back; the caller takes it for the first.
  template <std::size_t S>
  [[gnu::noinline]] static void write_in_others(const Shards<Frame>& shards, kernel::Worker& worker) {
    worker.sync();
    if constexpr (leaves_values<S>) {
      for (Frame& f : shards.frames.subspan(1)) {
        copy_variables<S, true>(f, shards.saved, worker);
        L::template run_steps<S, S + 1>(f, worker);
        worker.sync();
        copy_variables<S, false>(f, shards.saved, worker);
      }
    }
  }
  template <std::size_t S>
  static constexpr bool leaves_values = [] {
    bool some = false;
    each_written(plan.steps[S], [&](std::int32_t v) { some = some || !is_variable(v); });
    return some;
  }();

  template <std::size_t S, bool Save>
  static void copy_variables(const Frame& frame, std::byte* saved, kernel::Worker& worker) {
    if (worker.index() == 0) {
      each_written(plan.steps[S], [&](std::int32_t v) {
        if (!is_variable(v)) return;
        std::byte* const variable = frame.variables + T::offsets.data()[plan.values.data()[v].index];
        std::memcpy(Save ? saved : variable, Save ? variable : saved, variable_bytes(v));
        saved += variable_bytes(v);
      });
    }
    worker.sync();
  }
};

}  // namespace crochet::cpu::CROCHET_ISA
