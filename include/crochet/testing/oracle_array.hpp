// SPDX-License-Identifier: Apache-2.0
// The types of the oracle's rules: plain arrays in double, and one use of an operation.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <crochet/graph/core/op.hpp>

namespace crochet::testing {

/// A tensor of the oracle: row-major, in double whatever the element type.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<double> data;

  std::size_t rank() const { return shape.size(); }
};

/// One use of an operation: `out` has its shape and is zero-filled.
struct Use {
  const Attributes& attributes;
  std::vector<const Array*> in;
  Array& out;
  const Dims& dims;
  DType type = DType::float64;  ///< of the result
};

/// The rule of an elementwise operation on up to three elements, and the rule of any other operation.
using ElementRule = std::function<double(double, double, double)>;
using KernelRule = std::function<void(const Use&)>;

namespace detail {

/// The index in `part` that broadcasts to element `flat` of `full`, by numpy's rule.
inline std::size_t broadcast_index(std::size_t flat, const std::vector<std::int64_t>& full, const Array& part) {
  std::size_t index = 0, step = 1;
  for (std::size_t i = 0; i < part.rank(); ++i) {
    const auto extent = static_cast<std::size_t>(full[full.size() - 1 - i]);
    const auto mine = static_cast<std::size_t>(part.shape[part.rank() - 1 - i]);
    if (mine != 1) index += flat % extent * step;
    flat /= extent;
    step *= mine;
  }
  return index;
}

}  // namespace detail

}  // namespace crochet::testing
