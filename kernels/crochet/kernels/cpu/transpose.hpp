// SPDX-License-Identifier: Apache-2.0
// Permutation of axes. Every permutation is a series of row copies (the last axis stays last) or of matrix transposes
// between the old and the new last axis, which are done block by block in registers.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/transpose.hpp>
#include <crochet/kernels/cpu/axes.hpp>
#include <crochet/kernels/cpu/tiles/transpose.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// to[j, i] = from[i, j] for i in [0, rows), j in [0, columns), with at most one cache line of columns.
template <class U>
void transpose_strip(const U* from, std::int64_t from_pitch, U* to, std::int64_t to_pitch, std::int64_t rows,
                     std::int64_t columns) {
  std::int64_t i = 0;
  if constexpr (sizeof(U) > 2) {
    constexpr std::int64_t n = native_lanes<U>;
    for (; i + n <= rows; i += n) {
      std::int64_t j = 0;
      for (; j + n <= columns; j += n)
        transpose_block(from + i * from_pitch + j, from_pitch, to + j * to_pitch + i, to_pitch);
      for (; j < columns; ++j) {
        for (std::int64_t k = i; k < i + n; ++k) to[j * to_pitch + k] = from[k * from_pitch + j];
      }
    }
  }
  for (; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) to[j * to_pitch + i] = from[i * from_pitch + j];
  }
}

template <class U>
[[gnu::noinline]] void transpose(const Worker& w, Axes axes, const U* in, U* out) {
  if (axes.size() == 0) return;
  const Axes::Axis last = axes.take_last();
  if (last.in == 1) {
    const Range mine = w.part(axes.size());
    Walk at(axes, mine.from);
    for (std::int64_t i = mine.from; i < mine.to; ++i, at.next()) copy(in + at.in, last.extent, out + at.out);
    return;
  }
  std::size_t which = 0;
  while (axes.axis[which].in != 1) ++which;
  const Axes::Axis was_last = axes.take(which);
  constexpr std::int64_t strip = 64 / sizeof(U);
  const std::int64_t strips = (was_last.extent + strip - 1) / strip;
  const Range mine = w.part(axes.size() * strips);
  Walk at(axes, mine.from / strips);
  std::int64_t j = mine.from % strips * strip;
  for (std::int64_t i = mine.from; i < mine.to; ++i, j += strip) {
    if (j >= was_last.extent) {
      j = 0;
      at.next();
    }
    const std::int64_t left = was_last.extent - j;
    transpose_strip(in + at.in + j, last.in, out + at.out + j * was_last.out, was_last.out, last.extent,
                    left < strip ? left : strip);
  }
}
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::transpose> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    using U = kernel::detail::bits_t<sizeof(typename Types::out)>;
    const kernel::Operand& x = call.in[0];
    std::array<std::int64_t, max_rank> step{}, stride{};
    std::int64_t n = 1;
    for (std::size_t i = x.rank; i-- > 0; n *= x[i]) step[i] = n;
    CROCHET_SHORT_LOOP
    for (std::size_t i = 0; i < x.rank; ++i) stride[i] = step[static_cast<std::size_t>(call.attributes.ints[i])];
    kernel::detail::transpose<U>(call.worker, {call.out, stride}, x.as<const U>(), call.out.as<U>());
  }
};

}  // namespace crochet
