// SPDX-License-Identifier: Apache-2.0
// Elementwise steps: a program over rows and columns, optionally with reductions, split over the team.
#pragma once
#include <atomic>

#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/loop/part.hpp>
#include <crochet/kernels/loop/rows.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Memory for the partial results of a step's reductions, one for each part. The member that finishes last joins them,
/// in the order of the parts.
struct ReductionBuffer {
  std::int64_t rows = 0, columns = 0;   ///< of the whole step
  std::byte* totals = nullptr;          ///< loop_room() bytes for each part
  std::atomic<int>* arrived = nullptr;  ///< the number of parts that are done; 0 at the start of a run

  /// Where a member takes slices of the step in sequence: the part to which the slice belongs.
  struct Slice {
    int part = 0, parts = 0;
    bool first = true, last = true;
  } slice;
};

/// Bytes of partial results of one part.
template <class P, class R>
std::int64_t loop_room(std::int64_t columns) {
  return detail::Part<P, R>::template offset<SIZE_MAX>(columns);
}

namespace detail {
/// The least cost that is worth another thread.
inline constexpr std::int64_t worth_a_part = 1 << 14;

/// This member's part of [0, n), where the whole has this cost. Small work is not divided: that would cost more than it
/// saves.
CROCHET_HOST_ALWAYS_INLINE Range worthwhile_part(const Worker& worker, std::int64_t n, std::int64_t grain,
                                                 std::int64_t cost) {
  const int members = worker.members_for(cost, worth_a_part);
  if (members == 1) return worker.index() == 0 ? Range{0, n} : Range{};
  return worker.index() < members ? part_of(n, worker.index(), members, grain) : Range{};
}
}  // namespace detail

/// Runs the program of an elementwise step over flat positions. Every member calls it.
template <class P, class R>
void loop(P, const R& refs, std::int64_t rows, std::int64_t columns, Worker& worker) {
  using Part = detail::Part<P, R>;
  const std::int64_t all = rows * columns;
  const Range mine = detail::worthwhile_part(worker, all, detail::block_of<P>, all * UsesOf<P>::cost);
  if (mine.size() > 0) Part::run(refs, rows, columns, mine, nullptr, true);
}

/// As above, for a program with reductions.
template <class P, class R>
void loop(P, const R& refs, std::int64_t rows, std::int64_t columns, Worker& worker, const ReductionBuffer& all) {
  using Part = detail::Part<P, R>;
  const ReductionBuffer::Slice& slice = all.slice;
  const std::int64_t stride = loop_room<P, R>(all.columns);
  const bool sliced = slice.parts != 0;
  const int parts = sliced ? slice.parts : worker.parts_of(rows * columns * UsesOf<P>::cost, detail::worth_a_part);
  const Range mine = sliced ? Range{slice.part, slice.part + 1} : worker.part(parts);
  for (std::int64_t p = mine.from; p < mine.to; ++p) {
    Range at{0, rows * columns};
    if (!sliced && !Part::by_rows) at = part_of(rows * columns, p, parts, detail::block_of<P>);
    if (!sliced && Part::by_rows) at = part_of(rows, p, parts), at = {at.from * columns, at.to * columns};
    Part::run(refs, rows, columns, at, all.totals + p * stride, slice.first);
  }
  const auto done = static_cast<int>(slice.last ? mine.size() : 0);
  if (done == 0 || (done < parts && all.arrived->fetch_add(done, std::memory_order_acq_rel) + done < parts)) return;
  Part::finish(refs, all.rows, all.columns, parts, all.totals, stride);
}

/// As above, for operands in panels or with padded rows.
template <class P, class R>
void loop_over_rows(P program, const R& refs, std::int64_t rows, std::int64_t columns, Worker& worker) {
  const Range mine = detail::worthwhile_part(worker, rows, 1, rows * columns * UsesOf<P>::cost);
  detail::loop_over_rows(program, refs, mine.from, mine.to, columns);
}

}  // namespace crochet::kernel::CROCHET_ISA
