// SPDX-License-Identifier: Apache-2.0
// The greatest elements of rows, the selection of row elements by index, and cumulative sums on a device.
#pragma once
#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/graph/ops/top_k.hpp>
#include <crochet/kernels/accumulate.hpp>
#include <crochet/kernels/cuda/around.hpp>

namespace crochet::cuda {

/// A warp for each row: the best element behind the one before, `k` times.
template <>
struct Kernel<&op::top_k> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = kernel::in_t<Types>;
    const int n = call.in(0).columns(), k = call.out().columns();
    const T* const x = call.in(0).template as<const T>();
    std::int32_t* const out = call.out().template as<std::int32_t>();
    const int lane = block.thread() % warp_size;
    each_warp(block, call.first(), k == 0 ? 0 : call.out().size() / k, [&](int r) {
      const T* const row = x + std::int64_t{1} * r * n;
      int before = -1;
      for (int at = 0; at < k; ++at) {
        int best = n;
        for (int j = lane; j < n; j += warp_size) {
          if (before >= 0 && !is_before(row, before, j, n)) continue;
          if (is_before(row, j, best, n)) best = j;
        }
        for (int mask = warp_size / 2; mask > 0; mask /= 2) {
          const int other = block.shuffle_xor(best, mask);
          if (is_before(row, other, best, n)) best = other;
        }
        if (lane == 0) out[std::int64_t{1} * r * k + at] = best;
        before = best;
      }
    });
  }

 private:
  /// Whether element a of a row comes before element b: greater ones first, NaN before all, equal ones in order. Index
  /// n, which stands for none, comes last.
  template <class T>
  CROCHET_DEVICE_INLINE static bool is_before(const T* row, int a, int b, int n) {
    if (a >= n || b >= n) return a < b;
    const T x = row[a], y = row[b];
    if (x > y || (x != x && y == y)) return true;
    if (y > x || (y != y && x == x)) return false;
    return a < b;
  }
};

template <>
struct Kernel<&op::take_along_rows> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    const int n = call.in(0).columns(), k = call.in(1).columns();
    const T* const x = call.in(0).template as<const T>();
    const std::int32_t* const at = call.in(1).template as<const std::int32_t>();
    T* const out = call.out().template as<T>();
    each_element(block, call.first(), call.in(1).size(),
                 [&](int i) { out[i] = at[i] >= 0 && at[i] < n ? x[std::int64_t{1} * (i / k) * n + at[i]] : T{}; });
  }
};

/// Sums in the order of the indices.
template <>
struct Kernel<&op::add_along_rows> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    const int n = call.out().columns(), k = call.in(1).columns();
    const T* const values = call.in(0).template as<const T>();
    const std::int32_t* const at = call.in(1).template as<const std::int32_t>();
    T* const out = call.out().template as<T>();
    each_element(block, call.first(), call.out().size(), [&](int i) {
      const std::int64_t first = std::int64_t{1} * (i / n) * k;
      T sum{};
      for (int j = 0; j < k; ++j) {
        if (at[first + j] == i % n) sum = static_cast<T>(sum + values[first + j]);
      }
      out[i] = sum;
    });
  }
};

/// A thread for each line.
template <>
struct Kernel<&op::cumulative_sum> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    const detail::Around m(call.out(), call.attribute(0));
    const bool exclusive = call.attribute(1) != 0, reverse = call.attribute(2) != 0;
    const T* const x = call.in(0).template as<const T>();
    T* const y = call.out().template as<T>();
    each_element(block, call.first(), m.n == 0 ? 0 : m.outer * m.inner, [&](int line) {
      const std::int64_t first = std::int64_t{1} * (line / m.inner) * m.n * m.inner + line % m.inner;
      kernel::total_t<T> sum = 0;
      for (int i = 0; i < m.n; ++i) {
        const std::int64_t at = first + std::int64_t{1} * (reverse ? m.n - 1 - i : i) * m.inner;
        const auto next = static_cast<kernel::total_t<T>>(sum + static_cast<kernel::total_t<T>>(x[at]));
        y[at] = static_cast<T>(exclusive ? sum : next);
        sum = next;
      }
    });
  }
};

}  // namespace crochet::cuda
