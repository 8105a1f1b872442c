// SPDX-License-Identifier: Apache-2.0
// What the oracle's rules are written with: plain arrays in double, and one use of an operation.
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

/// One use of an operation: `out` has its shape, and zeros in it.
struct Use {
  const Attributes& attributes;
  std::vector<const Array*> in;
  Array& out;
  const Dims& dims;
  DType type = DType::float64;  ///< of the result
};

/// What an elementwise operation makes of up to three elements, and what another one makes of its inputs.
using ElementRule = std::function<double(double, double, double)>;
using KernelRule = std::function<void(const Use&)>;

namespace detail {

/// The element of `part` that lies where element `flat` of `full` does, by numpy's rule.
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
