// SPDX-License-Identifier: Apache-2.0
// A tensor as [outer, n, inner] around one of its axes, and the value of elements that do not exist.
#pragma once
#include <limits>
#include <type_traits>

#include <crochet/kernels/cuda/call.hpp>

namespace crochet::cuda::detail {

struct Around {
  int outer, n, inner;

  CROCHET_DEVICE_INLINE Around(const Operand& x, int axis)
      : outer(x.product(0, axis)), n(x[axis]), inner(x.product(axis + 1, x.rank())) {}
};

/// NaN, the lowest signed integer, the greatest unsigned integer, true. (As jax.numpy.take with mode "fill".)
template <class T>
CROCHET_DEVICE_INLINE T missing_element() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::quiet_NaN();
  if constexpr (std::is_same_v<T, bool>) return true;
  if constexpr (std::is_same_v<T, bfloat16>) return T(std::numeric_limits<float>::quiet_NaN());
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return std::is_signed_v<T> ? std::numeric_limits<T>::lowest() : static_cast<T>(-1);
  }
}

}  // namespace crochet::cuda::detail
