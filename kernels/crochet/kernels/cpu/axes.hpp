// SPDX-License-Identifier: Apache-2.0
// The axes of a result that are permuted or repeated axes of the input.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/copy.hpp>

namespace crochet::kernel::CROCHET_ISA::detail {

/// The axes of the result, simplified: axes of size 1 are dropped, and axes that are contiguous in the input are
/// merged.
struct Axes {
  struct Axis {
    std::int64_t extent = 1, in = 1, out = 1;  ///< strides in the input and in the result
  };
  std::array<Axis, max_rank> axis{};
  std::size_t rank = 0;

  /// `stride`: the input's stride for each axis of the result; 0 where the input is repeated.
  Axes(const Operand& out, const std::array<std::int64_t, max_rank>& stride) {
    CROCHET_SHORT_LOOP
    for (std::size_t i = 0; i < out.rank; ++i) {
      if (out[i] == 1) continue;
      if (rank > 0 && axis[rank - 1].in == stride[i] * out[i]) {
        axis[rank - 1] = {axis[rank - 1].extent * out[i], stride[i], 0};
      } else {
        axis[rank++] = {out[i], stride[i], 0};
      }
    }
    std::int64_t step = 1;
    for (std::size_t i = rank; i-- > 0; step *= axis[i].extent) axis[i].out = step;
  }

  /// Removes and returns an axis.
  Axis take(std::size_t which) {
    const Axis taken = axis[which];
    CROCHET_SHORT_LOOP
    for (std::size_t i = which; i + 1 < rank; ++i) axis[i] = axis[i + 1];
    --rank;
    return taken;
  }
  /// Removes and returns the last axis.
  Axis take_last() { return rank == 0 ? Axis{} : take(rank - 1); }
  std::int64_t size() const {
    std::int64_t n = 1;
    CROCHET_SHORT_LOOP
    for (std::size_t i = 0; i < rank; ++i) n *= axis[i].extent;
    return n;
  }
};

/// Iterates over the elements of some axes in the result's order; gives their offsets in the input and the result.
class Walk {
 public:
  Walk(const Axes& axes, std::int64_t first) : axes_(axes) {
    for (std::size_t d = axes.rank; d-- > 0; first /= axes.axis[d].extent) {
      index_[d] = first % axes.axis[d].extent;
      in += index_[d] * axes.axis[d].in;
      out += index_[d] * axes.axis[d].out;
    }
  }
  void next() {
    for (std::size_t d = axes_.rank; d-- > 0;) {
      const Axes::Axis& a = axes_.axis[d];
      in += a.in;
      out += a.out;
      if (++index_[d] < a.extent) return;
      index_[d] = 0;
      in -= a.extent * a.in;
      out -= a.extent * a.out;
    }
  }

  std::int64_t in = 0, out = 0;

 private:
  const Axes& axes_;
  std::array<std::int64_t, max_rank> index_{};
};

/// Repeats the input along the axes where the result has more elements, by numpy's broadcasting.
template <class U>
[[gnu::noinline]] void repeat(const Call& call) {
  const Operand &x = call.in[0], &out = call.out;
  std::array<std::int64_t, max_rank> stride{};
  std::int64_t step = 1;
  for (std::size_t i = x.rank; i-- > 0; step *= x[i]) stride[out.rank - x.rank + i] = x[i] == 1 ? 0 : step;
  if (out.size() == 0) return;
  Axes axes(out, stride);
  const Axes::Axis last = axes.take_last();
  const bool by_rows = axes.size() >= call.worker.count();
  const Range rows = by_rows ? call.worker.part(axes.size()) : Range{0, axes.size()};
  const Range part = by_rows ? Range{0, last.extent} : call.worker.part(last.extent, 16);
  Walk at(axes, rows.from);
  for (std::int64_t i = rows.from; i < rows.to; ++i, at.next()) {
    const U* from = x.as<const U>() + at.in + part.from * last.in;
    U* to = out.as<U>() + at.out + part.from;
    if (last.in == 0) {
      fill(*from, part.size(), to);
    } else {
      copy(from, part.size(), to);
    }
  }
}

}  // namespace crochet::kernel::CROCHET_ISA::detail
