// SPDX-License-Identifier: Apache-2.0
// Softmax cross entropies on a device: a warp for each row.
#pragma once
#include <crochet/graph/ops/loss.hpp>
#include <crochet/kernels/cuda/softmax.hpp>
#include <crochet/kernels/losses.hpp>

namespace crochet::cuda {

namespace detail {

/// Calls f(line, row) for each row of the logits.
template <class T, class Block, class F>
CROCHET_DEVICE_INLINE void each_row(Block& block, const Call& call, F f) {
  const Operand z = call.in(0);
  const int n = z.columns();
  each_warp(block, call.first(), n == 0 ? 0 : z.size() / n, [&](int row) { f(Line<T, Block>(block, n, 1), row); });
}
/// The upstream gradient of a row: one number for all rows, or one per row.
template <class T>
CROCHET_DEVICE_INLINE T upstream_of_row(const Call& call, int row) {
  return call.in(2).template as<const T>()[call.attribute(1) != 0 ? 0 : row];
}
/// The label of a row; -1 if it is not a valid class.
CROCHET_DEVICE_INLINE int label_of_row(const Call& call, int row, int classes) {
  const std::int32_t label = call.in(1).as<const std::int32_t>()[row];
  return label >= 0 && label < classes ? label : -1;
}

}  // namespace detail

template <>
struct Kernel<&op::sparse_cross_entropy> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::each_row<T>(block, call, [&](const auto& line, int row) {
      const T* const z = call.in(0).template as<const T>() + std::int64_t{1} * row * line.n;
      const int label = detail::label_of_row(call, row, line.n);
      const detail::LogSum<T> s(line, z);
      if (!line.first_lane()) return;
      // The large numbers are subtracted first: that is exact where they are close.
      call.out().template as<T>()[row] = label < 0 ? std::numeric_limits<T>::quiet_NaN() : (s.shift - z[label]) + s.log;
    });
  }
};

template <>
struct Kernel<&op::sparse_cross_entropy_gradient> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::each_row<T>(block, call, [&](const auto& line, int row) {
      const T* const z = call.in(0).template as<const T>() + std::int64_t{1} * row * line.n;
      T* const out = call.out().template as<T>() + std::int64_t{1} * row * line.n;
      const int label = detail::label_of_row(call, row, line.n);
      const T up = label < 0 ? std::numeric_limits<T>::quiet_NaN() : detail::upstream_of_row<T>(call, row);
      const T top = line.max(z);
      const T share = up / line.sum([&](std::int64_t at) { return out[at] = simd::exp(z[at] - top); });
      line.each([&](std::int64_t at) { out[at] = out[at] * share - (at == label ? up : T(0)); });
    });
  }
};

template <>
struct Kernel<&op::cross_entropy> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::each_row<T>(block, call, [&](const auto& line, int row) {
      const std::int64_t first = std::int64_t{1} * row * line.n;
      const T *const z = call.in(0).template as<const T>() + first, *const p =
                                                                        call.in(1).template as<const T>() + first;
      const detail::LogSum<T> s(line, z);
      const T loss = line.sum([&](std::int64_t at) { return p[at] * ((s.shift - z[at]) + s.log); });
      if (line.first_lane()) call.out().template as<T>()[row] = loss;
    });
  }
};

template <>
struct Kernel<&op::cross_entropy_gradient> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::each_row<T>(block, call, [&](const auto& line, int row) {
      const std::int64_t first = std::int64_t{1} * row * line.n;
      const T *const z = call.in(0).template as<const T>() + first, *const p =
                                                                        call.in(1).template as<const T>() + first;
      T* const out = call.out().template as<T>() + first;
      const T up = detail::upstream_of_row<T>(call, row), mass = line.sum([&](std::int64_t at) { return p[at]; });
      const T top = line.max(z);
      const T share = mass / line.sum([&](std::int64_t at) { return out[at] = simd::exp(z[at] - top); });
      line.each([&](std::int64_t at) { out[at] = (out[at] * share - p[at]) * up; });
    });
  }
};

}  // namespace crochet::cuda
