// SPDX-License-Identifier: Apache-2.0
// Shared by both parts of the test: models, inputs, and the CPU executor's results. nvcc compiles no vector code, so
// only the host's compiler compiles the executor.
#pragma once
#include <crochet/base/name.hpp>
#include <crochet/model.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

namespace lowering {

inline constexpr std::int64_t rows = 37, columns = 61;

/// Elementwise operations with a broadcast row and a scalar, and two results.
struct Fused {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("rows"), columns});
    const auto b = g.placeholder<float>("b", {columns});
    const auto h = g.name("h", tanh(x * b + 0.25));
    g.name("y", select(greater(h, 0.0), sigmoid(h) * x, exp(h) - sqrt(abs(x))));
  }
};

/// A reduction with an epilogue.
struct Mean {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("rows"), columns});
    const auto b = g.placeholder<float>("b", {columns});
    g.name("y", exp(reduce_mean(x, {1})) * 2.0 + reduce_sum(b));
  }
};

/// Adam's update of a weight matrix.
struct Update {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {rows, columns});
    const auto w = g.variable<float>("w", {rows, columns}, crochet::ones());
    g.name("train", minimize(reduce_sum(w * x), crochet::Adam{0.01}));
  }
};

inline std::vector<float> numbers(std::int64_t n, float step) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(static_cast<float>(i) * step) * 2;
  return v;
}
inline std::vector<float> input_x() { return numbers(rows * columns, 1.7F); }
inline std::vector<float> input_b() { return numbers(columns, 0.3F); }

// executor.cpp: on the CPU executor.
std::vector<std::vector<float>> fused_on_executor();  ///< h and y
std::vector<std::vector<float>> mean_on_executor();   ///< y
std::vector<float> weights_after(int updates);

}  // namespace lowering
