// SPDX-License-Identifier: Apache-2.0
// The approximate cost of an elementwise operation in instructions. Used to weigh recomputing a value against storing
// it, and splitting work over threads against their synchronisation.
#pragma once
#include <crochet/graph/ops/elementwise.hpp>

namespace crochet {

/// 1 for a single instruction. Other operations are taken for a function of many instructions, like exp.
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
