// SPDX-License-Identifier: Apache-2.0
// Elementwise programs, and kernels whose limit is memory too. Their operands do not fit in the cache.
#include "../models.hpp"
#include "kernels.hpp"

namespace bench {
namespace {

inline constexpr std::int64_t rows = is_gpu ? 8192 : 8, columns = is_gpu ? 4096 : 36, elements = rows * columns;

template <class F>
struct Of {  // one operand
  static constexpr void define(crochet::GraphBuilder& g) { g.name("y", F{}(operand(g, "x", {rows, columns}))); }
};
template <class F>
struct OfThree {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = operand(g, "x", {rows, columns}), y = operand(g, "y", {rows, columns});
    g.name("result", F{}(x, y, operand(g, "z", {rows, columns})));
  }
};
template <class F>
struct OfRow {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = operand(g, "x", {rows, columns});
    g.name("y", F{}(x, operand(g, "scale", {columns}), operand(g, "shift", {columns})));
  }
};
/// An update of a weight whose gradient is a variable.
template <class Optimizer>
struct Update {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto w = operand(g, "w", {rows, columns}, true), dw = operand(g, "dw", {rows, columns});
    g.name("train", minimize(reduce_sum(w * dw), Optimizer{}));
  }
};
/// The chain of W5 and its gradient.
struct LongChain {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = operand(g, "x", {elements}, true);
    const auto inner = square(tanh(x * 1.1 + 0.3)) + 1.0;
    const auto loss = reduce_mean(sigmoid(relu(exp(-sqrt(inner)) * x) - 0.1));
    g.name("gradient", gradient(loss, x));
  }
};

// Their names are in the table.
using X = crochet::Tensor;
struct PlusOne {
  constexpr X operator()(X x) const { return x + 1.0; }
};
struct Gelu {
  constexpr X operator()(X x) const { return gelu_tanh(x); }
};
struct Select {
  constexpr X operator()(X x, X y, X z) const { return select(greater(x, y), x * z, y + z); }
};
struct ScaleAndRelu {
  constexpr X operator()(X x, X scale, X shift) const { return relu(x * scale + shift); }
};
struct Sum {
  constexpr X operator()(X x) const { return reduce_sum(x); }
};
struct MeanOfRows {
  constexpr X operator()(X x) const { return reduce_mean(x, {1}); }
};
struct MeanOfColumns {
  constexpr X operator()(X x) const { return reduce_mean(x, {0}); }
};
struct Softmax {
  constexpr X operator()(X x) const { return softmax(x); }
};
struct LayerNorm {
  constexpr X operator()(X x, X scale, X shift) const { return layer_norm(x, scale, shift); }
};
struct Transposed {
  constexpr X operator()(X x) const { return transpose(x); }
};

template <class Model, class D>
void memory_bound(const char* name, const char* kind, double bytes_an_element, const Options& options) {
  measure_kernel<Model, D>(name, kind, {0, bytes_an_element * static_cast<double>(elements)}, options);
}

}  // namespace

void measure_elementwise(const Options& options) {
  constexpr const char *elementwise = "elementwise", *other = "memory";
  using Train = crochet::Demand<crochet::Names<>, crochet::Names<crochet::Name<"train">>>;
  memory_bound<Of<PlusOne>, Computes<"y">>("x + 1", elementwise, 8, options);
  memory_bound<OfRow<ScaleAndRelu>, Computes<"y">>("relu(x * row + row)", elementwise, 8, options);
  memory_bound<OfThree<Select>, Computes<"result">>("select(x > y, x * z, y + z)", elementwise, 16, options);
  memory_bound<Of<Gelu>, Computes<"y">>("gelu", elementwise, 8, options);
  memory_bound<Update<crochet::SGD>, Train>("update by SGD", elementwise, 12, options);
  memory_bound<Update<crochet::Adam>, Train>("update by Adam", elementwise, 28, options);
  memory_bound<LongChain, Computes<"gradient">>("gradient of the chain of W5", elementwise, 8, options);
  memory_bound<Of<Sum>, Computes<"y">>("sum of all", other, 4, options);
  memory_bound<Of<MeanOfRows>, Computes<"y">>("mean of rows", other, 4, options);
  memory_bound<Of<MeanOfColumns>, Computes<"y">>("mean of columns", other, 4, options);
  memory_bound<Of<Softmax>, Computes<"y">>("softmax of rows", other, 8, options);
  memory_bound<OfRow<LayerNorm>, Computes<"y">>("layer normalization of rows", other, 8, options);
  memory_bound<Of<Transposed>, Computes<"y">>("transpose", other, 8, options);
}

}  // namespace bench
