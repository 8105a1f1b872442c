// SPDX-License-Identifier: Apache-2.0
// The tables of numbers that device code reads (kernels/cuda/table.hpp), from a plan and the sizes of a run.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/executor/plan/planned.hpp>
#include <crochet/executor/plan/step_types.hpp>
#include <crochet/kernels/cuda/kernels.hpp>
#include <crochet/kernels/cuda/loop_parts.hpp>
#include <crochet/kernels/exchange.hpp>

namespace crochet::cuda {

/// The base addresses of a run, in the order of Place::base.
enum class Base : std::int32_t { none = -1, variables, workspace, placeholders };

/// A value, as a step accesses it.
struct PlannedValue {
  Base base = Base::none;
  std::int32_t number = 0;  ///< the slot in the workspace, or the number of the placeholder
  std::int64_t offset = 0;  ///< among the variables
  std::int64_t element_bytes = 0;
  Shape shape;
};

/// `offset(slot)`: the offset of a slot in the workspace.
template <class Offset>
Place place_of(const PlannedValue& v, const Offset& offset) {
  Place p{v.offset, static_cast<std::int32_t>(v.base)};
  if (v.base == Base::workspace) p.offset = offset(static_cast<std::size_t>(v.number));
  if (v.base == Base::placeholders) p.base += v.number;
  return p;
}

/// A step, without its code.
struct PlannedStep {
  Extent rows, columns;
  std::int32_t first_access = 0, accesses = 0, first_operand = 0, operands = 0;
  Attributes attributes;
  bool barrier = false, reduces = false;
  LoopForm form = LoopForm::tiles;
  std::int32_t sums_of_columns = 0, totals = 0;  ///< the reductions of a loop
  Room (*room)(const Sizes&) = nullptr;          ///< of a kernel
};

/// A step in which the ranks exchange (rank_exchanges.hpp).
struct PlannedExchange {
  std::size_t step = 0;
  PlannedValue from, to;
  DType type = DType::float32;
  bool mean = false, of_gradient = false;
  /// Of exchanges that overlap with computation. Its end has the index of its beginning.
  bool begins = false, ends = false;
  std::size_t begun = 0;

  [[nodiscard]] constexpr kernel::RankReduction how() const { return {.mean = mean, .of_gradient = of_gradient}; }
};

/// A plan for the running program: T: the tables of the graph, P: the plan of a demand (cpu::Planned).
template <class T, class P>
class StoredPlan {
  static constexpr const auto& plan = P::plan;
  static constexpr std::size_t count = plan.step_count;

  static constexpr PlannedValue value(std::int32_t at) {
    const Value& v = plan.values.data()[at];
    PlannedValue p{.element_bytes = static_cast<std::int64_t>(size_of(v.dtype)), .shape = v.shape};
    if (v.space == AddressSpace::variable) {
      p.base = Base::variables;
      p.offset = static_cast<std::int64_t>(T::offsets.data()[v.index]);
    } else if (v.space == AddressSpace::arena) {
      p.base = Base::workspace;
      p.number = v.index;
    } else if (v.space == AddressSpace::placeholder) {
      p.base = Base::placeholders;
      p.number = static_cast<std::int32_t>(T::placeholder_number(v.index));
    }
    return p;
  }
  static constexpr std::size_t count_operands() {
    std::size_t n = 0;
    for (std::size_t s = 0; s < count; ++s) {
      if (plan.steps[s].root != nullptr) n += 1 + cpu::operands_of(plan.steps[s]);
    }
    return n;
  }
  static constexpr void count_reductions(const Step& s, PlannedStep& to) {
    bool by_rows = false, flat = true;
    for (std::int32_t i = s.first_instruction; i < s.first_instruction + s.instructions; ++i) {
      const Instruction& in = plan.instructions.data()[i];
      if (in.kind != Instruction::Kind::accumulate) continue;
      const BroadcastMode mode = plan.accesses.data()[s.first_access + in.args[0]].mode;
      by_rows = by_rows || mode == BroadcastMode::column;
      to.sums_of_columns += mode == BroadcastMode::row ? 1 : 0;
      to.totals += mode == BroadcastMode::scalar ? 1 : 0;
    }
    for (std::int32_t a = s.first_access; a < s.first_access + s.accesses; ++a) {
      const BroadcastMode mode = plan.accesses.data()[a].mode;
      flat = flat && (mode == BroadcastMode::full || mode == BroadcastMode::scalar);
    }
    to.form = by_rows ? LoopForm::rows : flat ? LoopForm::flat : LoopForm::tiles;
  }
  template <std::size_t S>
  static constexpr Room (*room_of())(const Sizes&) {
    constexpr const Op* root = plan.steps[S].root;
    if constexpr (root != nullptr) {
      if constexpr (requires { &Kernel<root>::room; }) return &Kernel<root>::room;
    }
    return nullptr;
  }

 public:
  static constexpr auto steps = []<std::size_t... S>(std::index_sequence<S...>) {
    std::array<PlannedStep, count> all{};
    const std::array<Room (*)(const Sizes&), count> rooms{room_of<S>()...};
    std::int32_t operand = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Step& s = plan.steps[i];
      PlannedStep& to = all[i];
      to.rows = s.rows;
      to.columns = s.columns;
      to.first_access = s.first_access;
      to.accesses = s.accesses;
      to.first_operand = operand;
      to.operands = s.root == nullptr ? 0 : 1 + static_cast<std::int32_t>(cpu::operands_of(s));
      to.attributes = s.attributes;
      to.barrier = s.barrier;
      to.reduces = s.reduction_buffer >= 0;
      to.room = rooms[i];
      operand += to.operands;
      if (to.reduces) count_reductions(s, to);
    }
    return all;
  }
  (std::make_index_sequence<count>{});
  static constexpr auto accesses = [] {
    std::array<PlannedValue, plan.sizes().accesses> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = value(plan.accesses[i].value);
    return all;
  }();
  static constexpr auto operands = [] {
    std::array<PlannedValue, count_operands()> all{};
    PlannedValue* to = all.data();
    for (std::size_t i = 0; i < count; ++i) {
      const Step& s = plan.steps[i];
      if (s.root == nullptr) continue;
      *to++ = value(s.root_value);
      for (std::size_t k = 0; k < cpu::operands_of(s); ++k) *to++ = value(s.operands[k]);
    }
    return all;
  }();
  static constexpr auto exchanges = [] {
    using Exchanges = cpu::ExchangesOf<T, P>;
    std::array<PlannedExchange, Exchanges::parts> all{};
    std::size_t n = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Step& s = plan.steps.data()[i];
      if (!Exchanges::is_part(s)) continue;
      PlannedExchange& to = all[n++];
      to = {.step = i, .from = value(s.operands[0]), .to = value(s.root_value), .type = DType::float32};
      to.type = plan.values.data()[s.operands[0]].dtype;
      to.begins = s.root == &op::begin_over_ranks, to.ends = s.root == &op::end_over_ranks;
      to.mean = s.root == &op::mean_over_ranks || (to.begins && s.attributes.ints[1] != 0);
      to.of_gradient = s.attributes.ints[0] != 0;
      while (to.ends && plan.steps.data()[all[to.begun].step].root_value != s.operands[1]) ++to.begun;
    }
    return all;
  }();
  static constexpr auto fetched = [] {
    std::array<PlannedValue, plan.sizes().fetched> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = value(plan.fetched[i]);
    return all;
  }();
};

/// The tables at the sizes of a run.
class PlanTables {
 public:
  std::vector<TableStep> steps;
  std::vector<TableAccess> accesses;
  std::vector<TableOperand> operands;
  Room room;  ///< what the steps between two barriers need, at most, and the largest tile

  /// `offset(slot)`: the offset of a slot in the workspace. Throws ShapeError for a value of more than `most_elements`.
  template <class Offset>
  PlanTables(std::span<const PlannedStep> planned, std::span<const PlannedValue> planned_accesses,
             std::span<const PlannedValue> planned_operands, const Dims& dims, int blocks, const Offset& offset) {
    const auto place = [&](const PlannedValue& v) { return place_of(v, offset); };
    for (const PlannedValue& v : planned_operands) operands.push_back(operand(v, dims, place(v)));
    for (const PlannedValue& v : planned_accesses) accesses.push_back({place(v), 0});
    Room phase;
    int first_block = 0;
    for (const PlannedStep& s : planned) {
      if (s.barrier) phase = {}, first_block = 0;
      add(s, planned_operands, dims, blocks, first_block, phase);
      room.bytes = phase.bytes > room.bytes ? phase.bytes : room.bytes;
      room.tickets = phase.tickets > room.tickets ? phase.tickets : room.tickets;
      room.tile = phase.tile > room.tile ? phase.tile : room.tile;
      first_block = blocks == 0 ? 0 : (first_block + blocks_of(steps.back())) % blocks;
    }
  }

 private:
  /// Indices of kernels are ints, which pass the end by less than 2^17.
  static constexpr std::int64_t most_elements = INT32_MAX - (1 << 17);
  static std::int32_t narrow(std::int64_t n) {
    if (n > most_elements) too_large(n);
    return static_cast<std::int32_t>(n);
  }
  [[noreturn]] CROCHET_COLD static void too_large(std::int64_t n) {
    throw ShapeError(crochet::detail::message(
        {"crochet: a tensor of ", n, " elements; on a GPU a tensor has at most 2^31 - 2^17, use smaller batches"}));
  }
  static TableOperand operand(const PlannedValue& v, const Dims& dims, const Place& place) {
    TableOperand o{place, static_cast<std::int32_t>(v.shape.rank), {}, narrow(v.shape.size().at(dims))};
    for (std::size_t i = 0; i < v.shape.rank; ++i) o.extents[i] = narrow(v.shape[i].at(dims));
    return o;
  }
  void add(const PlannedStep& s, std::span<const PlannedValue> planned_operands, const Dims& dims, int blocks,
           int first_block, Room& phase) {
    constexpr std::int64_t line = 256;
    TableStep t{narrow(s.rows.at(dims)),
                narrow(s.columns.at(dims)),
                s.first_access,
                s.first_operand,
                first_block,
                phase.tickets,
                phase.bytes};
    narrow(std::int64_t{t.rows} * t.columns);
    for (int k = 0; k < 8; ++k) t.ints[k] = s.attributes.ints[k];
    for (int k = 0; k < 2; ++k) t.reals[k] = s.attributes.reals[k];
    for (std::int32_t a = s.first_access; a < s.first_access + s.accesses; ++a) {
      accesses[static_cast<std::size_t>(a)].pitch = t.columns;
    }
    Room mine;
    if (s.reduces) mine = LoopParts::of(s.form, t.rows, t.columns).room(s.sums_of_columns, s.totals, t.columns);
    if (s.room != nullptr) {
      const auto first = static_cast<std::size_t>(s.first_operand);
      mine = s.room({t, operands.data() + first, planned_operands[first].element_bytes, blocks});
    }
    phase.bytes += (mine.bytes + line - 1) / line * line;
    phase.tickets += mine.tickets;
    phase.tile = mine.tile > phase.tile ? mine.tile : phase.tile;
    steps.push_back(t);
  }
  /// About how many blocks a step keeps busy.
  static int blocks_of(const TableStep& s) {
    constexpr std::int64_t elements = 1024;
    return static_cast<int>((std::int64_t{s.rows} * s.columns + elements - 1) / elements);
  }
};

}  // namespace crochet::cuda
