// SPDX-License-Identifier: Apache-2.0
// Values that are passed on. Plans drop most of these operations; what they keep is a copy.
#pragma once
#include <crochet/graph/ops/control.hpp>
#include <crochet/kernels/elementwise.hpp>

namespace crochet {

template <>
struct Elementwise<&op::identity> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return a;
  }
};
template <>
struct Elementwise<&op::stop_gradient> : Elementwise<&op::identity> {};

}  // namespace crochet
