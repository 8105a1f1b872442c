// SPDX-License-Identifier: Apache-2.0
// Axes in another order. Whatever the permutation, it is many copies of rows (the last axis stays last) or many matrix
// transposes between the axis that was last and the one that will be; those go block by block through registers.
#pragma once
#include <crochet/graph/ops/transpose.hpp>
#include <crochet/kernels/cpu/copy.hpp>
#include <crochet/kernels/cpu/tiles/transpose.hpp>

namespace crochet {

namespace kernel::detail {

/// The axes of the result that matter: none of size 1, and neighbours that stay neighbours are one.
struct Axes {
  struct Axis {
    std::int64_t extent, in, out;  ///< distances of neighbours in the input and in the result
  };
  std::array<Axis, max_rank> axis{};
  std::size_t rank = 0;

  Axes(const Operand& in, const Operand& out, const Attributes& a) {
    std::array<std::int64_t, max_rank> stride{};
    std::int64_t step = 1;
    for (std::size_t i = in.rank; i-- > 0; step *= in[i]) stride[i] = step;
    for (std::size_t i = 0; i < out.rank; ++i) {
      if (out[i] == 1) continue;
      const std::int64_t from = stride[static_cast<std::size_t>(a.ints[i])];
      if (rank > 0 && axis[rank - 1].in == from * out[i]) {
        axis[rank - 1] = {axis[rank - 1].extent * out[i], from, 0};
      } else {
        axis[rank++] = {out[i], from, 0};
      }
    }
    step = 1;
    for (std::size_t i = rank; i-- > 0; step *= axis[i].extent) axis[i].out = step;
  }

  /// Takes an axis out.
  Axis take(std::size_t which) {
    const Axis taken = axis[which];
    for (std::size_t i = which; i + 1 < rank; ++i) axis[i] = axis[i + 1];
    --rank;
    return taken;
  }
  std::int64_t size() const {
    std::int64_t n = 1;
    for (std::size_t i = 0; i < rank; ++i) n *= axis[i].extent;
    return n;
  }
  /// Where element number `i` of these axes lies in the input and in the result.
  void locate(std::int64_t i, std::int64_t& in, std::int64_t& out) const {
    in = out = 0;
    for (std::size_t d = rank; d-- > 0; i /= axis[d].extent) {
      in += i % axis[d].extent * axis[d].in;
      out += i % axis[d].extent * axis[d].out;
    }
  }
};

/// to[j, i] = from[i, j] for i in [0, rows), j in [0, columns): one cache line's width of columns at most.
template <class U>
void transpose_strip(const U* from, std::int64_t from_pitch, U* to, std::int64_t to_pitch, std::int64_t rows,
                     std::int64_t columns) {
  std::int64_t i = 0;
  if constexpr (sizeof(U) > 1) {
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
  std::int64_t from = 0, to = 0;
  if (axes.size() == 0) return;
  const Axes::Axis last = axes.rank == 0 ? Axes::Axis{1, 1, 1} : axes.take(axes.rank - 1);
  if (last.in == 1) {
    const Range mine = w.part(axes.size());
    for (std::int64_t i = mine.from; i < mine.to; ++i) {
      axes.locate(i, from, to);
      copy(in + from, last.extent, out + to);
    }
    return;
  }
  std::size_t which = 0;
  while (axes.axis[which].in != 1) ++which;
  const Axes::Axis was_last = axes.take(which);
  constexpr std::int64_t strip = 64 / sizeof(U);
  const std::int64_t strips = (was_last.extent + strip - 1) / strip;
  const Range mine = w.part(axes.size() * strips);
  for (std::int64_t i = mine.from; i < mine.to; ++i) {
    axes.locate(i / strips, from, to);
    const std::int64_t j = i % strips * strip, left = was_last.extent - j;
    transpose_strip(in + from + j, last.in, out + to + j * was_last.out, was_last.out, last.extent,
                    left < strip ? left : strip);
  }
}
}  // namespace kernel::detail

template <>
struct Kernel<&op::transpose> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    using U = kernel::detail::bits_t<sizeof(typename Types::out)>;
    const kernel::detail::Axes axes(call.in[0], call.out, call.attributes);
    kernel::detail::transpose<U>(call.worker, axes, call.in[0].as<const U>(), call.out.as<U>());
  }
};

}  // namespace crochet
