// SPDX-License-Identifier: Apache-2.0
// ExportedNode: one node of an exported model.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <crochet/graph/core/op.hpp>

namespace crochet {

/// One node. Its inputs are before it.
struct ExportedNode {
  const Op* op = nullptr;  ///< its address is the operation's identity: `node.op == &op::matmul`
  DType dtype = DType::float32;
  Shape shape;                     ///< dynamic dimensions are symbols: numbers in ExportedModel::symbols
  std::vector<int> inputs{};       ///< indices of nodes
  Attributes attributes{};         ///< of op::constant (a scalar): reals[0] is the value
  std::string name{};              ///< of the model's node that it computes or helps to compute; may be empty
  std::vector<std::byte> value{};  ///< of op::variable: the elements, row-major, of type `dtype`
};

}  // namespace crochet
