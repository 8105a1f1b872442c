// SPDX-License-Identifier: Apache-2.0
// RunMemory: the memory of a run on the CPU, and where the run has left its values.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/item_regions.hpp>
#include <crochet/executor/cpu/lower.hpp>
#include <crochet/executor/cpu/step_memory.hpp>
#include <crochet/executor/plan/feed_order.hpp>
#include <crochet/executor/plan/feeds.hpp>
#include <crochet/executor/plan/fetched_type.hpp>
#include <crochet/executor/plan/placement.hpp>
#include <crochet/executor/plan/sizes.hpp>
#include <crochet/executor/plan/variables.hpp>
#include <crochet/kernels/aligned_bytes.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The memory of the runs of one thread at a time. It grows to the size of the largest run and is kept.
/// T: the tables of the graph.
template <class T>
class RunMemory {
 public:
  /// The bytes of memory, without the variables.
  [[nodiscard]] std::size_t bytes() const { return memory_.capacity() + totals_.capacity(); }

  /// The feeds, sizes and places of values of a run of plan P by at most `members` threads. Backend: of the executor.
  /// Throws ShapeError if the size of a feed does not fit, ResourceExhaustedError if there is no memory.
  template <class P, class Backend, class Frame, class... F>
  CROCHET_HOST_ALWAYS_INLINE void bind(Frame& frame, int members, const F&... feeds) {
    bind_feeds<P>(frame, feeds...);
    place<P, Backend>(frame, members);
  }
  /// The first half of bind(): the feeds and sizes.
  template <class P, class Frame, class... F>
  CROCHET_HOST_ALWAYS_INLINE void bind_feeds(Frame& frame, const F&... feeds) {
    frame.dims.fill(unknown_dim);
    bind_in_order<T>(
        [&](auto, const auto& feed) __attribute__((always_inline)) { bind_feed(feed, frame); }, feeds...);
    check_dims<T, P>(frame.dims, dims_);
  }
  /// The second half: the places of values, at the sizes in `frame`.
  template <class P, class Backend, class Frame>
  CROCHET_HOST_ALWAYS_INLINE void place(Frame& frame, int members) {
    place_slots<P>(frame, members);
    Lowering<T, P, Backend>::place_totals(frame, totals_, members);
  }

  /// Records the sizes of the run and where the values of its demand are.
  template <class P, class Frame, class D>
  void remember(const Frame& frame, D* demand) {
    remember_at<P>(frame.dims, demand, [&]<std::int32_t V>(std::integral_constant<std::int32_t, V>) {
      return StepMemory<T, P>::template address<V>(frame);
    });
  }
  /// The same; address_of(V) is the address of value V of the plan. A value in panels has none: it is a variable.
  template <class P, class... N, class R, class Address>
  void remember_at(const Dims& dims, Demand<Names<N...>, R>*, const Address& address_of) {
    dims_ = dims;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((where_[index_of<N>()] = address_by_rows<P::plan.fetched[I], P>(address_of)), ...);
    }
    (std::make_index_sequence<sizeof...(N)>{});
  }

  /// A value of the last run. One that is stored in panels is a variable, unless the run copied it before a later
  /// assignment.
  template <class N>
  [[nodiscard]] auto value(const Variables<T>& variables) const {
    static constexpr Node n = T::template node<N>();
    using E = element_t<n.dtype>;
    const auto* data = static_cast<const E*>(where_[index_of<N>()]);
    if constexpr (n.layout == Layout::panels) {
      if (data == nullptr) data = static_cast<const E*>(variables.read(T::variable_index(T::template node_id<N>)));
    }
    if constexpr (n.shape.rank == 0) {
      return static_cast<typename FetchedType<n.dtype, 0>::type>(*data);
    } else {
      static constexpr Shape shape = n.shape;
      return typename FetchedType<n.dtype, n.shape.rank>::type(data, extents<n.shape.rank>(shape));
    }
  }

 private:
  template <class N, class X, class Frame>
  static void bind_feed(const Feed<N, X>& feed, Frame& frame) {
    constexpr auto node = static_cast<std::size_t>(T::template node_id<N>);
    static constexpr Shape shape = T::graph.nodes[node].shape;
    frame.placeholders[node] = cpu::bind(feed.value, {N::view(), shape, T::symbols}, frame.dims);
  }
  template <class P, class Frame>
  void place_slots(Frame& frame, int members) {
    with_placement<P>(placements_, frame.dims, [&](std::int64_t bytes, auto offset) {
      const auto slots = static_cast<std::size_t>(bytes);
      memory_.reserve(slots + ItemRegions<P>::workspace_bytes(members), "the tensors of a run");
      frame.items = memory_.data() + slots;
      CROCHET_SHORT_LOOP
      for (std::size_t k = 0; k < frame.slots.size(); ++k) frame.slots[k] = memory_.data() + offset(k);
    });
  }

  /// The address of value V of plan P; null for a value in panels.
  template <std::int32_t V, class P, class Address>
  static const void* address_by_rows(const Address& address_of) {
    if constexpr (P::plan.values[static_cast<std::size_t>(V)].layout == Layout::panels) {
      return nullptr;
    } else {
      return address_of(std::integral_constant<std::int32_t, V>{});
    }
  }
  template <class N>
  static constexpr std::size_t index_of() {
    return crochet::detail::index_of_name(N::view(), T::fetchable);
  }
  template <std::size_t Rank>
  [[nodiscard]] std::array<std::int64_t, Rank> extents(const Shape& shape) const {
    std::array<std::int64_t, Rank> e{};
    for (std::size_t i = 0; i < Rank; ++i) e[i] = shape[i].at(dims_);
    return e;
  }

  kernel::AlignedBytes memory_, totals_;
  Placements placements_;
  std::array<const void*, T::fetchable.size()> where_{};
  Dims dims_ = no_dims;  // of the last run
};

}  // namespace crochet::cpu::CROCHET_ISA
