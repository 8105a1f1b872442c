// SPDX-License-Identifier: Apache-2.0
// What an elementwise operation costs, roughly, in instructions: enough to weigh computing a value again against
// storing it, and a thread's help against telling it.
#pragma once
#include <crochet/graph/ops/elementwise.hpp>

namespace crochet {

/// 1 for what is one instruction. What is not known is taken for a function made of many, like exp.
constexpr int cost_of(const Op& o) {
  constexpr int function = 12;
  for (const Op* cheap :
       {&op::add,         &op::sub,           &op::mul,           &op::neg,         &op::square,     &op::abs,
        &op::relu,        &op::relu_gradient, &op::maximum,       &op::minimum,     &op::sign,       &op::floor,
        &op::ceil,        &op::round,         &op::trunc,         &op::equal,       &op::not_equal,  &op::less,
        &op::less_equal,  &op::greater,       &op::greater_equal, &op::logical_and, &op::logical_or, &op::logical_xor,
        &op::logical_not, &op::select,        &op::cast}) {
    if (&o == cheap) return 1;
  }
  return &o == &op::div || &o == &op::sqrt || &o == &op::rsqrt ? 4 : function;
}

}  // namespace crochet
