// SPDX-License-Identifier: Apache-2.0
// Operations that pass a value on. The planner removes most of them; a remaining one is a copy.
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
