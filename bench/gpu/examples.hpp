// SPDX-License-Identifier: Apache-2.0
// Examples: the data set of a model that is trained on labelled data.
#pragma once
#include <crochet/base/tensor_view.hpp>

#include <cstddef>
#include <cstdint>

namespace bench {

/// Views of images, or other inputs, and of their labels; the first dimension is the example.
template <std::size_t R, class L, std::size_t RL>
struct Examples {
  crochet::TensorView<float, R> images;
  crochet::TensorView<L, RL> labels;

  /// The first `rows` of them.
  Examples first(std::int64_t rows) const { return {cut(images, rows), cut(labels, rows)}; }

 private:
  template <class T, std::size_t N>
  static crochet::TensorView<T, N> cut(const crochet::TensorView<T, N>& all, std::int64_t rows) {
    auto shape = all.shape();
    shape[0] = rows;
    return {all.data(), shape};
  }
};

}  // namespace bench
