// SPDX-License-Identifier: Apache-2.0
// Gradients of operations that move elements, against finite differences in double.
#include "gradient_cases.hpp"

namespace crochet {
namespace {

TEST(Gradient, OfTranspose) {
  check_gradients("matrix", [](Case& c) { return transpose(c.x({5, 3})); });
  check_gradients("vector", [](Case& c) { return transpose(c.x({7})); });
  for (const std::initializer_list<int> order :
       {std::initializer_list<int>{0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}}) {
    check_gradients("cube", [&](Case& c) { return transpose(c.x({2, 3, 5}), order); });
  }
  check_gradients("with ones", [](Case& c) { return transpose(c.x({2, 1, 3, 1}), {3, 2, 1, 0}); });
  check_gradients("twice used", [](Case& c) {
    const Tensor x = c.x({3, 3});
    return x * transpose(x);
  });
}

TEST(Gradient, OfTriangles) {
  check_gradients("tril", [](Case& c) { return tril(c.x({2, 3, 5}), 1); });
  check_gradients("triu", [](Case& c) { return triu(c.x({5, 3})); });
}

TEST(Gradient, OfViews) {
  check_gradients("expand_dims", [](Case& c) { return expand_dims(c.x({5, 3}), 1) * c.x({2, 3}); });
  check_gradients("squeeze", [](Case& c) { return squeeze(c.x({5, 1, 3}), -2); });
}

}  // namespace
}  // namespace crochet
