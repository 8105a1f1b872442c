// SPDX-License-Identifier: Apache-2.0
// From plan to code: each step becomes one call of a kernel, with its program as a type and its memory as arguments.
#pragma once
#include <array>
#include <utility>

#include <crochet/graph/plan.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/epilogue.hpp>

namespace crochet::cpu {

/// The memory of one run.
template <std::size_t Slots, std::size_t Nodes>
struct Frame {
  std::byte* variables;
  std::array<std::byte*, Slots> slots;
  std::array<const void*, Nodes> placeholders;  ///< by node of the model's graph
  Dims dims;
};

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
  using FrameType = Frame<plan.slot_count, T::graph.nodes.size()>;

  /// All steps, in order, on one member of the team.
  static void run(const FrameType& frame, kernel::Worker& worker) {
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      // An array and not a fold: clang nests folds, and stops at 256.
      [[maybe_unused]] const bool done[] = {true, (step<S>(frame, worker), true)...};
    }
    (std::make_index_sequence<plan.step_count>{});
  }

  /// Where value V of the plan lies.
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

 private:
  template <std::int32_t V>
  using type_of = element_t<plan.values[static_cast<std::size_t>(V)].dtype>;

  template <std::size_t S>
  CROCHET_HOST_ALWAYS_INLINE static void step(const FrameType& frame, kernel::Worker& worker) {
    static constexpr Step s = plan.steps[S];
    if constexpr (s.barrier) worker.sync();
    if constexpr (s.root == nullptr) {
      run_loop<S>(frame, worker);
    } else {
      const kernel::Call call = call_of<S>(frame, worker);
      using Types = decltype(types<S>(operands<S>()));
      if constexpr (s.root->epilogue_rows >= 0) {
        const auto refs = refs_of<S>(frame);
        const kernel::Epilogue<typename Types::out, program_of<S>, decltype(refs)> epilogue(refs);
        Kernel<s.root>::template run<Backend, Types>(call, epilogue);
      } else {
        Kernel<s.root>::template run<Backend, Types>(call);
      }
    }
  }

  /// An elementwise step: split by rows, or within the one row; small ones are not worth splitting.
  template <std::size_t S>
  CROCHET_HOST_ALWAYS_INLINE static void run_loop(const FrameType& frame, kernel::Worker& worker) {
    static constexpr Step s = plan.steps[S];
    constexpr std::int64_t worth_splitting = 4096, grain = 4 * simd::lanes;
    static constexpr Extent row_extent = s.rows, column_extent = s.columns;
    const std::int64_t rows = row_extent.at(frame.dims), columns = column_extent.at(frame.dims);
    const auto refs = refs_of<S>(frame);
    if constexpr (s.rows.is_one() && s.columns.is_one()) {
      if (worker.index() == 0) kernel::once(program_of<S>{}, refs);
    } else if (rows * columns < worth_splitting) {
      if (worker.index() == 0) kernel::loop(program_of<S>{}, refs, 0, rows, 0, columns);
    } else if (rows == 1) {
      const kernel::Range mine = worker.part(columns, grain);
      kernel::loop(program_of<S>{}, refs, 0, 1, mine.from, mine.to);
    } else {
      const kernel::Range mine = worker.part(rows);
      kernel::loop(program_of<S>{}, refs, mine.from, mine.to, 0, columns);
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

  template <std::size_t S, std::int32_t At>
  CROCHET_HOST_ALWAYS_INLINE static auto ref_of(const FrameType& frame) {
    static constexpr Access a = plan.accesses[static_cast<std::size_t>(At)];
    using R = type_of<a.value>;
    static constexpr Extent columns = plan.steps[S].columns;
    auto* const data = static_cast<R*>(address<a.value>(frame));
    if constexpr (plan.values[static_cast<std::size_t>(a.value)].layout == Layout::row_major) {
      return kernel::Ref<R, a.mode>{data, columns.at(frame.dims)};
    } else if constexpr (columns.factor <= kernel::panel_width<R>) {
      return kernel::Ref<R, a.mode>{data, kernel::panel_pitch<R>(columns.factor)};
    } else {
      constexpr std::int64_t rows = plan.steps[S].rows.factor;
      return kernel::Ref<R, a.mode, Layout::panels>{data, rows * kernel::panel_width<R>};
    }
  }
  template <std::size_t S>
  CROCHET_HOST_ALWAYS_INLINE static auto refs_of(const FrameType& frame) {
    constexpr std::int32_t first = plan.steps[S].first_access;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return kernel::Refs<decltype(ref_of<S, first + static_cast<std::int32_t>(I)>(frame))...>{
          {ref_of<S, first + static_cast<std::int32_t>(I)>(frame)}...};
    }
    (std::make_index_sequence<static_cast<std::size_t>(plan.steps[S].accesses)>{});
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
  template <std::int32_t V>
  CROCHET_HOST_ALWAYS_INLINE static kernel::Operand operand(const FrameType& frame) {
    static constexpr Value v = plan.values[static_cast<std::size_t>(V)];
    static constexpr Shape shape = v.shape;
    return {
        .data = address<V>(frame), .rank = shape.rank, .extents = extents_of(shape, frame.dims), .layout = v.layout};
  }
  template <std::size_t S>
  CROCHET_HOST_ALWAYS_INLINE static kernel::Call call_of(const FrameType& frame, kernel::Worker& worker) {
    static constexpr Step s = plan.steps[S];
    static constexpr Attributes attributes = s.attributes;
    kernel::Call call{
        .in = {}, .out = operand<s.root_value>(frame), .attributes = attributes, .dims = frame.dims, .worker = worker};
    [&]<std::size_t... I>(std::index_sequence<I...>) { ((call.in[I] = operand<s.operands[I]>(frame)), ...); }
    (operands<S>());
    return call;
  }
};

}  // namespace crochet::cpu
