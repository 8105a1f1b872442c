// SPDX-License-Identifier: Apache-2.0
// Elementwise steps: a program over rows and columns, with reductions on the way, split among the team.
#pragma once
#include <atomic>

#include <crochet/kernels/loop/part.hpp>
#include <crochet/kernels/loop/rows.hpp>

namespace crochet::kernel {

/// Where the members of a team leave what they have of a step's reductions. Whoever comes last joins it, in the order
/// of the members.
struct Gathering {
  std::int64_t rows = 0, columns = 0;   ///< of the whole step
  std::byte* totals = nullptr;          ///< loop_room() bytes for each member
  std::atomic<int>* arrived = nullptr;  ///< 0 when the run begins

  /// If members take slices of the step, one after the other: whose this is, and which of its own.
  struct Slice {
    int member = 0, members = 0;
    bool first = true, last = true;
  } slice;
};

/// Bytes of totals that each member needs.
template <class P, class R>
std::int64_t loop_room(std::int64_t columns) {
  return detail::Part<P, R>::template offset<SIZE_MAX>(columns);
}

namespace detail {
/// How many members share work of this cost: where the team's help costs more than it saves, the first does it all.
CROCHET_ALWAYS_INLINE int members_for(std::int64_t cost, const Worker& worker) {
  constexpr std::int64_t worth_splitting = 1 << 15;
  return cost < worth_splitting ? 1 : worker.count();
}
}  // namespace detail

/// The program of an elementwise step over flat positions. Every member calls it.
template <class P, class R>
void loop(P, const R& refs, std::int64_t rows, std::int64_t columns, Worker& worker) {
  using Part = detail::Part<P, R>;
  const int members = detail::members_for(rows * columns * detail::UsesOf<P>::cost, worker);
  if (worker.index() >= members) return;
  const Range all{0, rows * columns};
  Part::run(refs, rows, columns, members > 1 ? worker.part(all.to, detail::block_of<P>) : all, nullptr, true);
}

/// The same for a program that reduces.
template <class P, class R>
void loop(P, const R& refs, std::int64_t rows, std::int64_t columns, Worker& worker, const Gathering& all) {
  using Part = detail::Part<P, R>;
  Gathering::Slice slice = all.slice;
  Range mine{0, rows * columns};
  if (slice.members == 0) {
    slice.members = detail::members_for(rows * columns * detail::UsesOf<P>::cost, worker);
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

/// The same where operands lie in panels, or have rows with something behind them.
template <class P, class R>
void loop_over_rows(P program, const R& refs, std::int64_t rows, std::int64_t columns, Worker& worker) {
  const int members = detail::members_for(rows * columns * detail::UsesOf<P>::cost, worker);
  if (worker.index() >= members) return;
  const Range mine = members > 1 ? worker.part(rows) : Range{0, rows};
  detail::loop_over_rows(program, refs, mine.from, mine.to, columns);
}

}  // namespace crochet::kernel
