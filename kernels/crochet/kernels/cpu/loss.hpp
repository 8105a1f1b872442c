// SPDX-License-Identifier: Apache-2.0
// Softmax cross entropies, row by row, from logits minus their maximum, so all finite logits are safe.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/loss.hpp>
#include <crochet/kernels/cpu/softmax.hpp>
#include <crochet/kernels/losses.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// Calls visit(row, logits, number of classes) for each of this worker's rows.
template <class T, class Visit>
CROCHET_ALWAYS_INLINE void each_row(const Call& call, Visit visit) {
  const Operand& z = call.in[0];
  const std::int64_t n = z[z.rank - 1];
  std::int64_t rows = 1;
  CROCHET_SHORT_LOOP
  for (std::size_t i = 0; i + 1 < z.rank; ++i) rows *= z[i];
  const Range mine = call.worker.part(rows);
  for (std::int64_t i = mine.from; i < mine.to; ++i) visit(i, z.as<const T>() + i * n, n);
}

/// The upstream gradient of row i: one number for all rows, or one per row.
template <class T>
CROCHET_ALWAYS_INLINE T upstream_of_row(const Call& call, std::int64_t i) {
  return call.in[2].as<const T>()[call.attributes.ints[1] != 0 ? 0 : i];
}

/// The label of row i; -1 if it is not a valid class.
inline std::int64_t label_of_row(const Call& call, std::int64_t i, std::int64_t classes) {
  const std::int64_t label = call.in[1].as<const std::int32_t>()[i];
  return label >= 0 && label < classes ? label : -1;
}
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::sparse_cross_entropy> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::each_row<T>(call, [&](std::int64_t i, const T* z, std::int64_t n) {
      const std::int64_t label = kernel::detail::label_of_row(call, i, n);
      const kernel::detail::LogSum<T> s(z, n);
      // The large numbers are subtracted first: that is exact where they are close.
      call.out.as<T>()[i] = label < 0 ? std::numeric_limits<T>::quiet_NaN() : (s.shift - z[label]) + s.log;
    });
  }
};

template <>
struct Kernel<&op::sparse_cross_entropy_gradient> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::each_row<T>(call, [&](std::int64_t i, const T* z, std::int64_t n) {
      T* out = call.out.as<T>() + i * n;
      const std::int64_t label = kernel::detail::label_of_row(call, i, n);
      const T up = label < 0 ? std::numeric_limits<T>::quiet_NaN() : kernel::detail::upstream_of_row<T>(call, i);
      kernel::detail::softmax_row(z, n, out,
                                  [&](const auto& e, T scale, std::int64_t, auto) { return e * (scale * up); });
      if (label >= 0) out[label] -= up;
    });
  }
};

template <>
struct Kernel<&op::cross_entropy> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::each_row<T>(call, [&](std::int64_t i, const T* z, std::int64_t n) {
      const T* p = call.in[1].as<const T>() + i * n;
      const kernel::detail::LogSum<T> s(z, n);
      call.out.as<T>()[i] = simd::sum_along<T>(n, [&](std::int64_t j, auto how) {
        return simd::load(p + j, how, T(0)) * ((s.shift - simd::load(z + j, how, T(0))) + s.log);
      });
    });
  }
};

template <>
struct Kernel<&op::cross_entropy_gradient> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::each_row<T>(call, [&](std::int64_t i, const T* z, std::int64_t n) {
      const T* p = call.in[1].as<const T>() + i * n;
      const T up = kernel::detail::upstream_of_row<T>(call, i);
      const T mass = simd::sum_along<T>(n, [&](std::int64_t j, auto how) { return simd::load(p + j, how, T(0)); });
      kernel::detail::softmax_row(z, n, call.out.as<T>() + i * n,
                                  [&](const auto& e, T scale, std::int64_t j, auto how) {
                                    return (e * (scale * mass) - simd::load(p + j, how, T(0))) * up;
                                  });
    });
  }
};

}  // namespace crochet
