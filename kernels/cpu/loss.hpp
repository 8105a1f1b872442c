// SPDX-License-Identifier: Apache-2.0
// Softmax cross entropies, row by row, from logits less their maximum: safe for any finite logits.
#pragma once
#include <limits>

#include <crochet/graph/ops/loss.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/simd.hpp>

namespace crochet {

namespace kernel::detail {
/// exp(z - max z) into `out`; returns the maximum and the sum.
template <class T>
struct Softmax {
  T top;
  T sum;

  Softmax(const T* z, std::int64_t n, T* out) : top(z[0]), sum(0) {
    for (std::int64_t j = 1; j < n; ++j) top = z[j] > top ? z[j] : top;
    for (std::int64_t j = 0; j < n; j += simd::lanes) {
      const std::int64_t some = n - j < simd::lanes ? n - j : simd::lanes;
      const auto bytes = static_cast<std::size_t>(some) * sizeof(T);
      simd::vec<T> v = simd::splat<T, true>(-std::numeric_limits<T>::infinity());
      __builtin_memcpy(&v, z + j, bytes);
      v = simd::exp(v - top);
      __builtin_memcpy(out + j, &v, bytes);
      sum += simd::sum(v);
    }
  }
};

/// Calls visit(row, logits, number of classes) for this worker's rows.
template <class T, class Visit>
void each_row(const Call& call, Visit visit) {
  const std::int64_t n = call.in[0][1];
  const Range mine = call.worker.part(call.in[0][0]);
  for (std::int64_t i = mine.from; i < mine.to; ++i) visit(i, call.in[0].as<const T>() + i * n, n);
}
}  // namespace kernel::detail

template <>
struct Kernel<&op::sparse_cross_entropy> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    T* e = call.worker.scratch<T>(call.in[0][1]);
    kernel::detail::each_row<T>(call, [&](std::int64_t i, const T* z, std::int64_t n) {
      const std::int32_t label = call.in[1].as<const std::int32_t>()[i];
      const kernel::detail::Softmax<T> s(z, n, e);
      const bool valid = label >= 0 && label < n;
      call.out.as<T>()[i] = valid ? std::log(s.sum) + s.top - z[label] : std::numeric_limits<T>::quiet_NaN();
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
      const T up = call.in[2].as<const T>()[i];
      const std::int32_t label = call.in[1].as<const std::int32_t>()[i];
      const kernel::detail::Softmax<T> s(z, n, out);
      const bool valid = label >= 0 && label < n;
      const T scale = valid ? up / s.sum : std::numeric_limits<T>::quiet_NaN();
      for (std::int64_t j = 0; j < n; ++j) out[j] *= scale;
      if (valid) out[label] -= up;
    });
  }
};

template <>
struct Kernel<&op::cross_entropy> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    T* e = call.worker.scratch<T>(call.in[0][1]);
    kernel::detail::each_row<T>(call, [&](std::int64_t i, const T* z, std::int64_t n) {
      const T* p = call.in[1].as<const T>() + i * n;
      const kernel::detail::Softmax<T> s(z, n, e);
      const T log_sum = std::log(s.sum) + s.top;
      T loss = 0;
      for (std::int64_t j = 0; j < n; ++j) loss += p[j] * (log_sum - z[j]);
      call.out.as<T>()[i] = loss;
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
      T* out = call.out.as<T>() + i * n;
      const T up = call.in[2].as<const T>()[i];
      const kernel::detail::Softmax<T> s(z, n, out);
      T mass = 0;
      for (std::int64_t j = 0; j < n; ++j) mass += p[j];
      for (std::int64_t j = 0; j < n; ++j) out[j] = up * (out[j] / s.sum * mass - p[j]);
    });
  }
};

}  // namespace crochet
