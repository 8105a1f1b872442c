// SPDX-License-Identifier: Apache-2.0
// Elementwise steps: a program over rows and columns, optionally with reductions, split over the team.
#pragma once
#include <atomic>

#include <crochet/kernels/loop/part.hpp>
#include <crochet/kernels/loop/rows.hpp>

namespace crochet::kernel {

/// Memory for the partial results of a step's reductions, one part per member. The member that finishes last joins
/// them, in the order of the members.
struct ReductionBuffer {
  std::int64_t rows = 0, columns = 0;   ///< of the whole step
  std::byte* totals = nullptr;          ///< loop_room() bytes per member
  std::atomic<int>* arrived = nullptr;  ///< 0 at the start of a run

  /// Where members take slices of the step in sequence: the member and the number of its slice.
  struct Slice {
    int member = 0, members = 0;
    bool first = true, last = true;
  } slice;
};

/// Bytes of partial results per member.
template <class P, class R>
std::int64_t loop_room(std::int64_t columns) {
  return detail::Part<P, R>::template offset<SIZE_MAX>(columns);
}

namespace detail {
/// The number of members that share work of this cost. Below a threshold the first member does it alone, because
/// splitting would cost more than it saves.
CROCHET_ALWAYS_INLINE int members_for(std::int64_t cost, const Worker& worker) {
  constexpr std::int64_t worth_splitting = 1 << 15;
  return cost < worth_splitting ? 1 : worker.count();
}
}  // namespace detail

/// Runs the program of an elementwise step over flat positions. Every member calls it.
template <class P, class R>
void loop(P, const R& refs, std::int64_t rows, std::int64_t columns, Worker& worker) {
  using Part = detail::Part<P, R>;
  const int members = detail::members_for(rows * columns * UsesOf<P>::cost, worker);
  if (worker.index() >= members) return;
  const Range all{0, rows * columns};
  Part::run(refs, rows, columns, members > 1 ? worker.part(all.to, detail::block_of<P>) : all, nullptr, true);
}

/// As above, for a program with reductions.
template <class P, class R>
void loop(P, const R& refs, std::int64_t rows, std::int64_t columns, Worker& worker, const ReductionBuffer& all) {
  using Part = detail::Part<P, R>;
  ReductionBuffer::Slice slice = all.slice;
  Range mine{0, rows * columns};
  if (slice.members == 0) {
    slice.members = detail::members_for(rows * columns * UsesOf<P>::cost, worker);
    slice.member = worker.index();
    if (slice.member >= slice.members) return;
    if (slice.members > 1) mine = Part::by_rows ? worker.part(rows) : worker.part(rows * columns, detail::block_of<P>);
    if (slice.members > 1 && Part::by_rows) mine = {mine.from * columns, mine.to * columns};
  }
  const std::int64_t stride = loop_room<P, R>(all.columns);
  Part::run(refs, rows, columns, mine, all.totals + slice.member * stride, slice.first);
  if (!slice.last) return;
  if (slice.members > 1 && all.arrived->fetch_add(1, std::memory_order_acq_rel) + 1 < slice.members) return;
  Part::finish(refs, all.rows, all.columns, slice.members, all.totals, stride);
}

/// As above, for operands in panels or with padded rows.
template <class P, class R>
void loop_over_rows(P program, const R& refs, std::int64_t rows, std::int64_t columns, Worker& worker) {
  const int members = detail::members_for(rows * columns * UsesOf<P>::cost, worker);
  if (worker.index() >= members) return;
  const Range mine = members > 1 ? worker.part(rows) : Range{0, rows};
  detail::loop_over_rows(program, refs, mine.from, mine.to, columns);
}

}  // namespace crochet::kernel
