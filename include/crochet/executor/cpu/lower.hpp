// SPDX-License-Identifier: Apache-2.0
// From plan to code: each step becomes one call of a kernel, with its program as a type and its memory as arguments.
#pragma once
#include <array>
#include <atomic>
#include <utility>

#include <crochet/executor/cpu/where.hpp>
#include <crochet/graph/passes/regions.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/epilogue.hpp>
#include <crochet/kernels/loop.hpp>

namespace crochet::cpu {

// Not inlined: it is the same for every operand of every step.
[[gnu::noinline]] inline std::array<std::int64_t, max_rank> extents_of(const Shape& shape, const Dims& dims) {
  std::array<std::int64_t, max_rank> extents{};
  for (std::size_t i = 0; i < shape.rank; ++i) extents[i] = shape[i].at(dims);
  return extents;
}

/// T: the tables of the graph, P: the plan of the demand (Planned).
template <class T, class P, class Backend>
class Lowering {
  static constexpr const auto& plan = P::plan;

 public:
  using FrameType = Frame<plan.slot_count, T::graph.nodes.size(), plan.gathering_count>;

  /// All steps, in order, on one member of the team.
  static void run(const FrameType& frame, kernel::Worker& worker) {
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      // An array and not a fold: clang nests folds, and stops at 256.
      [[maybe_unused]] const bool done[] = {true, (step_or_region<S>(frame, worker), true)...};
    }
    (std::make_index_sequence<plan.step_count>{});
  }

  /// Whether all that the steps do is to compute scalars: no second thread is worth telling of it.
  static constexpr bool only_scalars = [] {
    for (std::size_t s = 0; s < plan.step_count; ++s) {
      const Step& step = plan.steps[s];
      if (step.root != nullptr || step.gathering >= 0 || !step.rows.is_one() || !step.columns.is_one()) return false;
    }
    return true;
  }();

  /// Bytes of workspace for the values of regions, for a team of so many.
  static constexpr std::size_t item_bytes(std::int64_t members) {
    std::int64_t most = 0;
    for (std::size_t r = 0; r < plan.region_count; ++r) {
      const std::int64_t bytes = plan.regions[r].room * items_at_once(plan.regions[r]) * members;
      most = bytes > most ? bytes : most;
    }
    return static_cast<std::size_t>(most);
  }

  /// Where value V of the plan lies; of values that live for a few items only, nothing is known outside their region.
  template <std::int32_t V>
  CROCHET_HOST_ALWAYS_INLINE static void* address(const FrameType& frame) {
    static constexpr Value v = plan.values[static_cast<std::size_t>(V)];
    constexpr auto index = static_cast<std::size_t>(v.index);
    if constexpr (v.region == Region::variable) {
      return frame.variables + T::offsets[index];
    } else if constexpr (v.region == Region::placeholder) {
      return const_cast<void*>(frame.placeholders[index]);
    } else if constexpr (v.region == Region::slot) {
      return frame.slots[index];
    } else {
      return nullptr;
    }
  }

  /// Gives the members of a team room for the totals of each step that reduces; keeps the memory.
  static void place_totals(FrameType& frame, kernel::AlignedBytes& memory, int members) {
    if constexpr (plan.gathering_count > 0) {
      std::array<std::size_t, plan.gathering_count + 1> offsets{};
      for_each_step([&]<std::size_t S>(Index<S>) {
        if constexpr (plan.steps[S].gathering >= 0) {
          constexpr auto k = static_cast<std::size_t>(plan.steps[S].gathering);
          static constexpr Extent columns = plan.steps[S].columns;
          const std::int64_t each =
              kernel::loop_room<program_of<S>, decltype(refs_of<S>(frame))>(columns.at(frame.dims));
          offsets[k + 1] = offsets[k] + static_cast<std::size_t>(each * members);
        }
      });
      memory.reserve(offsets[plan.gathering_count]);
      for (std::size_t k = 0; k < plan.gathering_count; ++k) frame.totals[k] = memory.data() + offsets[k];
    }
  }

 private:
  template <std::size_t S>
  using Index = std::integral_constant<std::size_t, S>;
  template <class Visit>
  static void for_each_step(Visit visit) {
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      [[maybe_unused]] const bool done[] = {true, (visit(Index<S>{}), true)...};
    }
    (std::make_index_sequence<plan.step_count>{});
  }

  template <std::int32_t V>
  using type_of = element_t<plan.values[static_cast<std::size_t>(V)].dtype>;

  template <std::int32_t V>
  static constexpr Value value_of = plan.values[static_cast<std::size_t>(V)];

  // A region: every member takes its items through all steps, a few at a time. Where there are fewer items than
  // members, the members share each step instead.

  /// How many items at a time: what the steps touch for them should stay in a core's own cache, with weights beside it.
  static constexpr std::int64_t items_at_once(const ItemSteps& r) {
    constexpr std::int64_t cache = std::int64_t{1} << 18;
    const std::int64_t items = cache / (r.bytes < 1 ? 1 : r.bytes);
    return items < 1 ? 1 : items;
  }

  template <std::size_t S>
  CROCHET_HOST_ALWAYS_INLINE static void step_or_region(const FrameType& frame, kernel::Worker& worker) {
    static constexpr Step s = plan.steps[S];
    if constexpr (s.barrier) worker.sync();
    if constexpr (s.region < 0) {
      step<S>(Whole<FrameType>{frame, frame.dims, nullptr, 0}, worker);
    } else if constexpr (plan.regions[static_cast<std::size_t>(s.region)].first == static_cast<std::int32_t>(S)) {
      region<static_cast<std::size_t>(s.region)>(frame, worker);
    }
  }

  template <std::size_t R>
  static void region(const FrameType& frame, kernel::Worker& worker) {
    static constexpr ItemSteps r = plan.regions[R];
    constexpr std::int64_t some = items_at_once(r);
    static constexpr Extent extent = r.items;
    const std::int64_t items = extent.at(frame.dims);
    if (items < worker.count()) {
      steps_of<R, true>(Whole<FrameType>{frame, frame.dims, frame.items, items}, worker);
      return;
    }
    kernel::Worker alone = worker.alone();
    const kernel::Range mine = worker.part(items);
    std::byte* const room = frame.items + worker.index() * r.room * some;
    for (std::int64_t i = mine.from; i < mine.to; i += some) {
      const kernel::Range range{i, i + some < mine.to ? i + some : mine.to};
      const bool first = i == mine.from, last = range.to == mine.to;
      const Slice<FrameType> slice{frame, frame.dims, room, some, range, worker.index(), worker.count(), first, last};
      steps_of<R, false>(slice, alone);
    }
  }
  template <std::size_t R, bool Together, class Where>
  CROCHET_HOST_ALWAYS_INLINE static void steps_of(const Where& where, kernel::Worker& worker) {
    constexpr auto first = static_cast<std::size_t>(plan.regions[R].first);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto one = [&]<std::size_t S>(std::integral_constant<std::size_t, S>) {
        if constexpr (Together && S > first) worker.sync();
        step<S>(where, worker);
        return true;
      };
      [[maybe_unused]] const bool done[] = {true, one(std::integral_constant<std::size_t, first + I>{})...};
    }
    (std::make_index_sequence<static_cast<std::size_t>(plan.regions[R].count)>{});
  }

  /// Elements of value V that belong to one item of step S's region.
  template <std::size_t S, std::int32_t V>
  static constexpr std::int64_t per_item =
      elements_per_item(value_of<V>.shape, plan.regions[static_cast<std::size_t>(plan.steps[S].region)].items);

  /// Where value V begins for step S; Items: if the step works on some items, whether it wants theirs of it.
  template <std::size_t S, std::int32_t V, bool Items, class Where>
  CROCHET_HOST_ALWAYS_INLINE static void* find(const Where& where) {
    if constexpr (value_of<V>.region == Region::items) {
      return where.items + value_of<V>.index * where.capacity;
    } else if constexpr (Where::sliced && Items) {
      constexpr auto bytes = static_cast<std::int64_t>(size_of(value_of<V>.dtype)) * per_item<S, V>;
      return static_cast<std::byte*>(address<V>(where.all)) + where.range.from * bytes;
    } else {
      return address<V>(where.all);
    }
  }

  template <std::size_t S, class Where>
  CROCHET_HOST_ALWAYS_INLINE static void step(const Where& frame, kernel::Worker& worker) {
    static constexpr Step s = plan.steps[S];
    if constexpr (s.root == nullptr) {
      run_loop<S>(frame, worker);
    } else {
      const kernel::Call call = call_of<S>(frame, worker);
      using Types = decltype(types<S>(operands<S>()));
      if constexpr (s.root->has_epilogue()) {
        const auto refs = refs_of<S>(frame);
        const kernel::Epilogue<typename Types::out, program_of<S>, decltype(refs)> epilogue(refs);
        Kernel<s.root>::template run<Backend, Types>(call, epilogue);
      } else {
        Kernel<s.root>::template run<Backend, Types>(call);
      }
    }
  }

  /// Whether one of the step's operands lies in panels.
  template <std::size_t S>
  static constexpr bool has_panels() {
    const Step& s = plan.steps[S];
    for (std::int32_t a = s.first_access; a < s.first_access + s.accesses; ++a) {
      const std::int32_t value = plan.accesses[static_cast<std::size_t>(a)].value;
      if (plan.values[static_cast<std::size_t>(value)].layout == Layout::panels) return true;
    }
    return false;
  }
  /// An elementwise step.
  template <std::size_t S, class Where>
  CROCHET_HOST_ALWAYS_INLINE static void run_loop(const Where& frame, kernel::Worker& worker) {
    static constexpr Step s = plan.steps[S];
    static constexpr Extent row_extent = s.rows, column_extent = s.columns;
    const std::int64_t all_rows = row_extent.at(frame.dims), all_columns = column_extent.at(frame.dims);
    std::int64_t rows = all_rows, columns = all_columns;
    if constexpr (Where::sliced) share_of<S>(frame, rows, columns);
    const auto refs = refs_of<S>(frame);
    if constexpr (s.rows.is_one() && s.columns.is_one()) {
      if (worker.index() == 0) kernel::once(program_of<S>{}, refs);
    } else if constexpr (has_panels<S>()) {
      kernel::loop_over_rows(program_of<S>{}, refs, rows, columns, worker);
    } else if constexpr (s.gathering < 0) {
      kernel::loop(program_of<S>{}, refs, rows, columns, worker);
    } else {
      constexpr auto k = static_cast<std::size_t>(s.gathering);
      kernel::Gathering all{all_rows, all_columns, frame.all.totals[k], &frame.all.arrived[k], {}};
      if constexpr (Where::sliced) all.slice = {frame.member, frame.members, frame.first, frame.last};
      kernel::loop(program_of<S>{}, refs, rows, columns, worker, all);
    }
  }

  /// A loop over some items has their share of the rows, or of the columns where there are no rows.
  template <std::size_t S, class Where>
  CROCHET_HOST_ALWAYS_INLINE static void share_of(const Where& where, std::int64_t& rows, std::int64_t& columns) {
    static constexpr Step s = plan.steps[S];
    static constexpr Extent items = plan.regions[static_cast<std::size_t>(s.region)].items;
    if constexpr (divides(items, s.rows)) {
      rows = (s.rows / items).factor * where.range.size();
    } else {
      columns = (s.columns / items).factor * where.range.size();
    }
  }

 public:
  // A step's program as types: the same ones on every device.

  template <std::int32_t At, std::int32_t First>
  static constexpr auto instruction() {
    constexpr Instruction i = plan.instructions[static_cast<std::size_t>(At)];
    using R = element_t<i.dtype>;
    constexpr int a = i.args[0], b = i.args[1], c = i.args[2];
    if constexpr (i.kind == Instruction::Kind::root) return kernel::Root<R>{};
    if constexpr (i.kind == Instruction::Kind::load) return kernel::Load<R, a>{};
    if constexpr (i.kind == Instruction::Kind::store) return kernel::Store<R, a, b>{};
    if constexpr (i.kind == Instruction::Kind::accumulate) return kernel::Accumulate<R, i.op, a, b>{};
    if constexpr (i.kind == Instruction::Kind::constant) {
      return kernel::Constant<R, std::bit_cast<std::uint64_t>(i.immediate)>{};
    }
    if constexpr (i.kind == Instruction::Kind::compute) {
      using A = element_t<plan.instructions[static_cast<std::size_t>(First + (a < 0 ? 0 : a))].dtype>;
      return kernel::Compute<R, i.op, a, A, b, c>{};
    }
  }
  template <std::int32_t First, std::size_t... I>
  static constexpr auto program(std::index_sequence<I...>) {
    return kernel::Program<decltype(instruction<First + static_cast<std::int32_t>(I), First>())...>{};
  }
  template <std::size_t S>
  using program_of = decltype(program<plan.steps[S].first_instruction>(
      std::make_index_sequence<static_cast<std::size_t>(plan.steps[S].instructions)>{}));

  // Its memory as arguments; a frame may hold addresses of any device.

  template <std::size_t S, std::int32_t At, class Where>
  CROCHET_HOST_ALWAYS_INLINE static auto ref_of(const Where& frame) {
    static constexpr Access a = plan.accesses[static_cast<std::size_t>(At)];
    using R = type_of<a.value>;
    static constexpr Extent columns = plan.steps[S].columns;
    constexpr bool items = a.mode == Mode::full || a.mode == Mode::column;
    auto* const data = static_cast<R*>(find<S, a.value, items>(frame));
    if constexpr (plan.values[static_cast<std::size_t>(a.value)].layout == Layout::row_major) {
      return kernel::Ref<R, a.mode>{data, columns.at(frame.dims)};
    } else if constexpr (columns.factor <= kernel::panel_width<R>) {
      return kernel::Ref<R, a.mode>{data, kernel::panel_pitch<R>(columns.factor)};
    } else {
      constexpr std::int64_t rows = plan.steps[S].rows.factor;
      return kernel::Ref<R, a.mode, Layout::panels>{data, rows * kernel::panel_width<R>};
    }
  }
  template <std::size_t S, class Where>
  CROCHET_HOST_ALWAYS_INLINE static auto refs_of(const Where& frame) {
    constexpr std::int32_t first = plan.steps[S].first_access;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return kernel::Refs<decltype(ref_of<S, first + static_cast<std::int32_t>(I)>(frame))...>{
          {ref_of<S, first + static_cast<std::int32_t>(I)>(frame)}...};
    }
    (std::make_index_sequence<static_cast<std::size_t>(plan.steps[S].accesses)>{});
  }

  template <std::size_t S>
  CROCHET_HOST_ALWAYS_INLINE static auto refs_of(const FrameType& frame) {
    return refs_of<S>(Whole<FrameType>{frame, frame.dims, nullptr, 0});
  }

 private:
  // A kernel's call.

  template <std::size_t S>
  static constexpr auto operands() {
    constexpr std::size_t n = [] {
      std::size_t count = 0;
      while (count < max_inputs && plan.steps[S].operands[count] >= 0) ++count;
      return count;
    }();
    return std::make_index_sequence<n>{};
  }
  template <std::size_t S, std::size_t... I>
  static constexpr auto types(std::index_sequence<I...>) {
    constexpr Step s = plan.steps[S];
    return kernel::Types<type_of<s.root_value>, type_of<s.operands[I]>...>{};
  }
  template <std::size_t S, std::int32_t V, bool Items, class Where>
  CROCHET_HOST_ALWAYS_INLINE static kernel::Operand operand(const Where& frame) {
    static constexpr Value v = plan.values[static_cast<std::size_t>(V)];
    static constexpr Shape shape = v.shape;
    kernel::Operand x{.data = find<S, V, Items>(frame),
                      .rank = shape.rank,
                      .extents = extents_of(shape, frame.dims),
                      .layout = v.layout};
    if constexpr (Where::sliced && Items) {
      constexpr Extent items = plan.regions[static_cast<std::size_t>(plan.steps[S].region)].items;
      x.extents[0] = (v.shape[0] / items).factor * frame.range.size();
    }
    return x;
  }
  template <std::size_t S, class Where>
  CROCHET_HOST_ALWAYS_INLINE static kernel::Call call_of(const Where& frame, kernel::Worker& worker) {
    static constexpr Step s = plan.steps[S];
    static constexpr Attributes attributes = s.attributes;
    kernel::Call call{.in = {},
                      .out = operand<S, s.root_value, true>(frame),
                      .attributes = attributes,
                      .dims = frame.dims,
                      .worker = worker};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((call.in[I] = operand<S, s.operands[I], ((plan.steps[S].item_inputs >> I) & 1U) != 0>(frame)), ...);
    }
    (operands<S>());
    return call;
  }
};

}  // namespace crochet::cpu
