// SPDX-License-Identifier: Apache-2.0
// Slices along an axis, padding, and concatenation on a device: a thread for each element of the result.
#pragma once
#include <crochet/graph/ops/concat.hpp>
#include <crochet/kernels/cuda/around.hpp>

namespace crochet::cuda {

namespace detail {

/// The indices begin, begin + step, ... along an axis.
struct Places {
  std::int64_t begin, step;

  CROCHET_DEVICE_INLINE explicit Places(const Call& call) : begin(call.attribute(3)), step(call.attribute(1)) {
    for (int s = 0; s < table_symbols; ++s) {
      for (int p = (call.attribute(4) >> (8 * s)) & 255; p > 0; --p) begin *= call.tables.dims[s];
    }
    begin += call.attribute(2);
  }
};

}  // namespace detail

template <>
struct Kernel<&op::slice> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    const detail::Around from(call.in(0), call.attribute(0)), to(call.out(), call.attribute(0));
    const detail::Places places(call);
    const T* const x = call.in(0).template as<const T>();
    T* const y = call.out().template as<T>();
    const T missing = call.attribute(5) != 0 ? T{} : detail::missing_element<T>();
    each_element(block, call.first(), call.out().size(), [&](int i) {
      const int j = i % to.inner, row = i / to.inner, o = row / to.n;
      const std::int64_t k = places.begin + row % to.n * places.step;
      y[i] = k < 0 || k >= from.n ? missing : x[(o * from.n + k) * to.inner + j];
    });
  }
};

template <>
struct Kernel<&op::pad> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    const detail::Around from(call.in(0), call.attribute(0)), to(call.out(), call.attribute(0));
    const detail::Places places(call);
    const T* const x = call.in(0).template as<const T>();
    T* const y = call.out().template as<T>();
    const auto value = static_cast<T>(call.real(0));
    each_element(block, call.first(), call.out().size(), [&](int i) {
      const int j = i % to.inner, row = i / to.inner, o = row / to.n;
      const std::int64_t distance = row % to.n - places.begin, k = distance / places.step;
      const bool inside = distance % places.step == 0 && k >= 0 && k < from.n;
      y[i] = inside ? x[(o * from.n + k) * to.inner + j] : value;
    });
  }
};

template <>
struct Kernel<&op::concat> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    piece<Types, 0>(block, call, 0);
  }

 private:
  /// Copies input number I, whose first index along the axis of the result is `begin`, and those behind it.
  template <class Types, std::size_t I, class Block>
  CROCHET_DEVICE_INLINE static void piece(Block& block, const Call& call, int begin) {
    if constexpr (I < kernel::inputs_of<Types>) {
      using T = typename Types::out;
      const Operand in = call.in(static_cast<int>(I));
      const detail::Around from(in, call.attribute(0)), to(call.out(), call.attribute(0));
      const T* const x = in.as<const T>();
      T* const y = call.out().template as<T>();
      const int width = from.n * from.inner;
      each_element(block, call.first(), in.size(),
                   [&](int i) { y[std::int64_t{1} * (i / width * to.n + begin) * to.inner + i % width] = x[i]; });
      piece<Types, I + 1>(block, call, begin + from.n);
    }
  }
};

}  // namespace crochet::cuda
