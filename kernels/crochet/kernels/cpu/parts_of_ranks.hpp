// SPDX-License-Identifier: Apache-2.0
// Parts of variables and gradients of several ranks. The calling thread exchanges, the others wait at the barrier
// behind the step.
#pragma once
#include <algorithm>
#include <cstring>

#include <crochet/graph/ops/parts_of_ranks.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/exchange.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet {

template <>
struct Kernel<&op::part_of_rank> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const kernel::Operand& x = call.in[0];
    const std::int64_t n = x.size(), part = call.out.size(), first = call.exchange->place() * part;
    const kernel::Range mine = call.worker.part(part, 16);
    const std::int64_t end = std::clamp(n - first, mine.from, mine.to);  // behind it are zeros
    T* const to = call.out.as<T>();
    if (x.layout == Layout::row_major) {
      if (end > mine.from) std::copy_n(x.as<const T>() + first + mine.from, end - mine.from, to + mine.from);
    } else {
      copy_from_panels(x, first + mine.from, first + end, to + mine.from);
    }
    std::fill(to + end, to + mine.to, T{});
  }

 private:
  /// Elements [from, end) of a matrix, in row-major order.
  template <class T>
  static void copy_from_panels(const kernel::Operand& x, std::int64_t from, std::int64_t end, T* to) {
    const std::int64_t columns = x[x.rank - 1], rows = x.size() / columns, pitch = kernel::panel_pitch<T>(columns);
    while (from < end) {
      const std::int64_t i = from / columns, j = from % columns;
      const std::int64_t some = std::min({pitch - j % pitch, columns - j, end - from});
      std::copy_n(x.as<const T>() + kernel::panel_offset<T>(rows, columns, i, j), some, to);
      from += some, to += some;
    }
  }
};

template <>
struct Kernel<&op::scatter_over_ranks> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    if (call.worker.index() != 0) return;
    const kernel::RankReduction how{.mean = call.attributes.ints[1] != 0, .of_gradient = true};
    call.exchange->reduce_part(call.in[0].data, call.out.data, call.in[0].size(), dtype_of<typename Types::out>, how);
  }
};
template <>
struct Kernel<&op::gather_over_ranks> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    if (call.worker.index() != 0) return;
    call.exchange->gather_parts(call.in[0].data, call.out.data, call.out.size(), dtype_of<typename Types::out>);
  }
};

}  // namespace crochet
