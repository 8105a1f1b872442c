// SPDX-License-Identifier: Apache-2.0
// The greatest elements of rows, and the selection of row elements by index.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/top_k.hpp>
#include <crochet/kernels/call.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {
template <class T>
bool comes_before(T a, T b) {
  return a > b || (a != a && b == b);  // NaN first
}
/// Keeps the best elements so far in order; most elements of a row only need a comparison with the last of them.
template <class T>
void top_k_of_row(const T* row, std::int64_t n, std::int32_t* best, std::int64_t k) {
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (kept == k && (k == 0 || !comes_before(row[i], row[best[k - 1]]))) continue;
    std::int64_t at = kept < k ? kept++ : k - 1;
    for (; at > 0 && comes_before(row[i], row[best[at - 1]]); --at) best[at] = best[at - 1];
    best[at] = static_cast<std::int32_t>(i);
  }
}
/// Calls each(row of the data, its indices, the same row of the result) for this worker's rows.
template <class Each>
void each_indexed_row(const Call& call, const Operand& indices, Each each) {
  const std::int64_t k = indices[indices.rank - 1], rows = indices.size() / (k > 0 ? k : 1);
  const Range mine = k > 0 ? call.worker.part(rows) : Range{};
  for (std::int64_t r = mine.from; r < mine.to; ++r) each(r, indices.as<std::int32_t>() + r * k, k);
}
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::top_k> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = kernel::in_t<Types>;
    const std::int64_t n = call.in[0][call.in[0].rank - 1];
    kernel::detail::each_indexed_row(call, call.out, [&](std::int64_t r, std::int32_t* best, std::int64_t k) {
      kernel::detail::top_k_of_row(call.in[0].as<const T>() + r * n, n, best, k);
    });
  }
};

template <>
struct Kernel<&op::take_along_rows> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const std::int64_t n = call.in[0][call.in[0].rank - 1];
    kernel::detail::each_indexed_row(call, call.in[1], [&](std::int64_t r, const std::int32_t* at, std::int64_t k) {
      const T* const row = call.in[0].as<const T>() + r * n;
      T* const out = call.out.as<T>() + r * k;
      for (std::int64_t j = 0; j < k; ++j) out[j] = at[j] >= 0 && at[j] < n ? row[at[j]] : T{};
    });
  }
};

template <>
struct Kernel<&op::add_along_rows> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const std::int64_t n = call.out[call.out.rank - 1], k = call.in[1][call.in[1].rank - 1];
    const kernel::Range mine = n > 0 ? call.worker.part(call.out.size() / n) : kernel::Range{};
    for (std::int64_t r = mine.from; r < mine.to; ++r) {
      T* const out = call.out.as<T>() + r * n;
      const T* const values = call.in[0].as<const T>() + r * k;
      const std::int32_t* const at = call.in[1].as<const std::int32_t>() + r * k;
      for (std::int64_t j = 0; j < n; ++j) out[j] = T{};
      for (std::int64_t j = 0; j < k; ++j) {
        if (at[j] >= 0 && at[j] < n) out[at[j]] = static_cast<T>(out[at[j]] + values[j]);
      }
    }
  }
};

}  // namespace crochet
