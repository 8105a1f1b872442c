// SPDX-License-Identifier: Apache-2.0
// Cumulative sums of [outer, n, inner] along the middle axis. Floating sums are kept in double.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/kernels/accumulate.hpp>
#include <crochet/kernels/call.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {
/// Sums down `width` columns. Rows are `step` apart; a negative step sums from the end to the beginning.
template <class T>
void running_sums(const T* from, T* to, std::int64_t n, std::int64_t step, std::int64_t width, bool exclusive) {
  constexpr std::int64_t strip = 64;
  total_t<T> sums[strip];
  for (std::int64_t j0 = 0; j0 < width; j0 += strip, from += strip, to += strip) {
    const std::int64_t some = width - j0 < strip ? width - j0 : strip;
    for (std::int64_t j = 0; j < some; ++j) sums[j] = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const T* const row = from + i * step;
      T* const out = to + i * step;
      for (std::int64_t j = 0; j < some; ++j) {
        const total_t<T> next = static_cast<total_t<T>>(sums[j] + static_cast<total_t<T>>(row[j]));
        out[j] = static_cast<T>(exclusive ? sums[j] : next);
        sums[j] = next;
      }
    }
  }
}
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::cumulative_sum> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const auto axis = static_cast<std::size_t>(call.attributes.ints[0]);
    const std::int64_t n = call.out[axis], inner = call.out.size(axis + 1);
    const std::int64_t outer = n * inner == 0 ? 0 : call.out.size() / (n * inner);
    const bool exclusive = call.attributes.ints[1] != 0, reverse = call.attributes.ints[2] != 0;
    // Each member takes some of the blocks or, if there are fewer blocks than members, some columns of each.
    const bool by_columns = outer < call.worker.count();
    const kernel::Range blocks = by_columns ? kernel::Range{0, outer} : call.worker.part(outer);
    const kernel::Range columns = by_columns ? call.worker.part(inner, 16) : kernel::Range{0, inner};
    for (std::int64_t o = blocks.from; o < blocks.to; ++o) {
      const std::int64_t at = (o * n + (reverse ? n - 1 : 0)) * inner + columns.from;
      kernel::detail::running_sums(call.in[0].as<const T>() + at, call.out.as<T>() + at, n, reverse ? -inner : inner,
                                   columns.size(), exclusive);
    }
  }
};

}  // namespace crochet
