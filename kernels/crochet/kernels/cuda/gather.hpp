// SPDX-License-Identifier: Apache-2.0
// Elements by index, and sums of elements that share an index, on a device.
#pragma once
#include <crochet/graph/ops/gather.hpp>
#include <crochet/kernels/cuda/around.hpp>

namespace crochet::cuda {

template <>
struct Kernel<&op::gather> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    using I = kernel::in_t<Types, 1>;
    const detail::Around from(call.in(0), call.attribute(0));
    const int count = call.in(1).size();
    const T* const x = call.in(0).template as<const T>();
    const I* const ids = call.in(1).template as<const I>();
    T* const y = call.out().template as<T>();
    const T missing = call.attribute(2) != 0 ? T{} : detail::missing_element<T>();
    each_element(block, call.first(), call.out().size(), [&](int i) {
      const int j = i % from.inner, row = i / from.inner, o = row / count;
      const auto id = static_cast<std::int64_t>(ids[row % count]);
      y[i] = id < 0 || id >= from.n ? missing : x[(o * from.n + id) * from.inner + j];
    });
  }
};

/// An element is always summed in the order of the indices. A warp has 32 columns of a range of rows, and reads all
/// indices.
template <>
struct Kernel<&op::segment_sum> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    using I = kernel::in_t<Types, 1>;
    const detail::Around to(call.out(), call.attribute(0));
    const int count = call.in(1).size(), inner = to.inner, rows = to.outer * to.n;
    const I* const ids = call.in(1).template as<const I>();
    const T* const values = call.in(0).template as<const T>();
    T* const out = call.out().template as<T>();
    constexpr int rows_each = 8;
    const int tiles = (inner + warp_size - 1) / warp_size, ranges = (rows + rows_each - 1) / rows_each;
    each_warp(block, call.first(), tiles * ranges, [&](int unit) {
      const int j = unit % tiles * warp_size + block.thread() % warp_size, first = unit / tiles * rows_each;
      if (j >= inner) return;
      const int last = first + rows_each < rows ? first + rows_each : rows;
      for (int row = first; row < last; ++row) out[std::int64_t{1} * row * inner + j] = T{};
      for (int o = first / to.n; o * to.n < last; ++o) {
        for (int k = 0; k < count; ++k) {
          const auto id = static_cast<std::int64_t>(ids[k]);
          const std::int64_t row = o * to.n + id;
          if (id < 0 || id >= to.n || row < first || row >= last) continue;
          T& sum = out[row * inner + j];
          sum = static_cast<T>(sum + values[(std::int64_t{1} * o * count + k) * inner + j]);
        }
      }
    });
  }
};

}  // namespace crochet::cuda
