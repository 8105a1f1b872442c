// SPDX-License-Identifier: Apache-2.0
// Softmax and related functions on a device: a warp for each line.
#pragma once
#include <crochet/graph/ops/softmax.hpp>
#include <crochet/kernels/accumulate.hpp>
#include <crochet/kernels/cuda/call.hpp>
#include <crochet/kernels/cuda/join.hpp>
#include <crochet/kernels/running.hpp>
#include <crochet/kernels/simd_exp.hpp>
#include <crochet/kernels/simd_log.hpp>

namespace crochet::cuda {

namespace detail {

/// The n elements of a line, `pitch` apart, divided among the threads of a warp.
template <class T, class Block>
class Line {
 public:
  CROCHET_DEVICE_INLINE Line(Block& block, int n, int pitch)
      : n(n), block_(block), pitch_(pitch), lane_(block.thread() % warp_size) {}

  /// Calls f(offset) for this thread's elements.
  template <class F>
  CROCHET_DEVICE_INLINE void each(F f) const {
    CROCHET_DEVICE_UNROLL(1)
    for (int k = lane_; k < n; k += warp_size) f(std::int64_t{1} * k * pitch_);
  }
  /// The sum of f(offset) over the line.
  template <class F>
  CROCHET_DEVICE_INLINE T sum(F f) const {
    kernel::Running<kernel::Sum, T, 1> s;
    each([&](std::int64_t at) { s.add(f(at)); });
    return join_warp<kernel::Sum>(block_, static_cast<T>(s.take()));
  }
  /// The greatest element; elements that are NaN do not count.
  CROCHET_DEVICE_INLINE T max(const T* x) const {
    T top = -std::numeric_limits<T>::infinity();
    each([&](std::int64_t at) { top = x[at] > top ? x[at] : top; });
    return join_warp<kernel::Max>(block_, top);
  }
  CROCHET_DEVICE_INLINE bool first_lane() const { return lane_ == 0; }

  const int n;

 private:
  Block& block_;
  int pitch_, lane_;
};

/// log(sum(exp(z - shift))), and the shift: the maximum, or 0 if that is infinite.
template <class T>
struct LogSum {
  T shift, log;

  template <class Line>
  CROCHET_DEVICE_INLINE LogSum(const Line& line, const T* z) : shift(line.max(z)) {
    shift = shift - shift == T(0) ? shift : T(0);
    log = simd::log(line.sum([&](std::int64_t at) { return simd::exp(z[at] - shift); }));
  }
};

/// Calls f(line, offset of its first element, number of the line) for the lines along the axis in attribute 0.
template <class T, class Block, class F>
CROCHET_DEVICE_INLINE void each_line(Block& block, const Call& call, F f) {
  const Operand x = call.in(0);
  const int axis = call.attribute(0), n = x[axis];
  const int outer = x.product(0, axis), inner = x.product(axis + 1, x.rank());
  each_warp(block, call.first(), outer * inner, [&](int number) {
    const std::int64_t first = std::int64_t{1} * (number / inner) * n * inner + number % inner;
    f(Line<T, Block>(block, n, inner), first, number);
  });
}

}  // namespace detail

template <>
struct Kernel<&op::softmax> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::each_line<T>(block, call, [&](const auto& line, std::int64_t first, int) {
      const T* const x = call.in(0).template as<const T>() + first;
      T* const y = call.out().template as<T>() + first;
      const T top = line.max(x);
      const T share = T(1) / line.sum([&](std::int64_t at) { return y[at] = simd::exp(x[at] - top); });
      line.each([&](std::int64_t at) { y[at] *= share; });
    });
  }
};

template <>
struct Kernel<&op::log_softmax> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::each_line<T>(block, call, [&](const auto& line, std::int64_t first, int) {
      const T* const x = call.in(0).template as<const T>() + first;
      T* const y = call.out().template as<T>() + first;
      const detail::LogSum<T> s(line, x);
      const T log = s.log + (s.log - s.log);  // NaN if it is infinite, as x - max(x) is
      line.each([&](std::int64_t at) { y[at] = (x[at] - s.shift) - log; });
    });
  }
};

template <>
struct Kernel<&op::logsumexp> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::each_line<T>(block, call, [&](const auto& line, std::int64_t first, int number) {
      const detail::LogSum<T> s(line, call.in(0).template as<const T>() + first);
      if (line.first_lane()) call.out().template as<T>()[number] = s.log + s.shift;
    });
  }
};

template <>
struct Kernel<&op::softmax_gradient> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::each_line<T>(block, call, [&](const auto& line, std::int64_t first, int) {
      const T *const y = call.in(0).template as<const T>() + first, *const g =
                                                                        call.in(1).template as<const T>() + first;
      T* const out = call.out().template as<T>() + first;
      const T dot = line.sum([&](std::int64_t at) { return y[at] * g[at]; });
      line.each([&](std::int64_t at) { out[at] = y[at] * (g[at] - dot); });
    });
  }
};

template <>
struct Kernel<&op::log_softmax_gradient> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::each_line<T>(block, call, [&](const auto& line, std::int64_t first, int) {
      const T *const y = call.in(0).template as<const T>() + first, *const g =
                                                                        call.in(1).template as<const T>() + first;
      T* const out = call.out().template as<T>() + first;
      const T total = line.sum([&](std::int64_t at) { return g[at]; });
      line.each([&](std::int64_t at) { out[at] = g[at] - simd::exp(y[at]) * total; });
    });
  }
};

}  // namespace crochet::cuda
