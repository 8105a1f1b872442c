// SPDX-License-Identifier: Apache-2.0
// OnnxWriter: an exported model as the graph of an ONNX model; sizes of dynamic dimensions. Only compiled halves
// include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/export/exported_model.hpp>
#include <crochet/export/onnx_graph.ipp>
#include <crochet/graph/core/sources.hpp>

namespace crochet::detail {

using OnnxInts = std::vector<std::int64_t>;

/// The values of the model's nodes so far, as names of the ONNX graph, and what rules share.
class OnnxWriter {
 public:
  OnnxWriter(const ExportedModel& model, proto::onnx::GraphProto& to)
      : g(to), model_(&model), values_(model.nodes.size()) {}

  OnnxGraph g;

  [[nodiscard]] const ExportedModel& model() const { return *model_; }
  std::string& value(int node) { return values_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const ExportedNode& input(const ExportedNode& n, std::size_t k) const {
    return model_->node(n.inputs[k]);
  }
  /// The name of an input's value.
  std::string in(const ExportedNode& n, std::size_t k) {
    std::string& name = value(n.inputs[k]);
    if (name.empty()) refuse(n);
    return name;
  }
  [[noreturn]] static void refuse(const ExportedNode& n) {
    throw LogicError("crochet: the operation " + std::string(n.op->name) + " of " +
                     (n.name.empty() ? std::string("a value without a name") : "\"" + n.name + "\"") + " (" +
                     std::string(name_of(n.dtype)) +
                     ") cannot be exported as ONNX: export an output that does not need it, or compute it from other "
                     "operations");
  }

  std::string cast(const std::string& x, DType from, DType to) {
    return from == to ? x : g.add("Cast", {x}, {{"to", std::int64_t{onnx_type(to)}}});
  }
  /// Indices 0, 1, ..., int64 [n].
  std::string range(const Extent& n) {
    const std::string end = g.add("Squeeze", {size(n)});
    return g.add("Range", {g.scalar(DType::int64, 0), end, g.scalar(DType::int64, 1)});
  }
  std::string transpose(const std::string& x, OnnxInts order) {
    return g.add("Transpose", {x}, {{"perm", std::move(order)}});
  }
  std::string reshape(const std::string& x, const Shape& to) { return g.add("Reshape", {x, sizes(to, true)}); }
  std::string reshape(const std::string& x, const OnnxInts& to) { return g.add("Reshape", {x, g.integers(to)}); }

  /// A dimension's size, int64 [1].
  std::string size(const Extent& e) {
    if (e.is_static()) return g.integers({e.factor});
    std::string n;
    for (std::size_t s = 0; s < max_symbols; ++s) {
      for (int p = e.power(s); p > 0; --p) n = n.empty() ? symbol(s) : g.add("Mul", {n, symbol(s)});
    }
    return e.factor == 1 ? n : g.add("Mul", {n, g.integers({e.factor})});
  }
  /// The sizes of a shape, int64 [rank]. `one_open`: a single dynamic one may be -1, as in Reshape.
  std::string sizes(const Shape& shape, bool one_open = false) {
    OnnxInts numbers;
    std::size_t dynamic = 0;
    for (std::size_t i = 0; i < shape.rank; ++i) {
      numbers.push_back(shape[i].is_static() ? shape[i].factor : -1);
      dynamic += shape[i].is_static() ? 0 : 1;
    }
    if (dynamic == 0 || (one_open && dynamic == 1)) return g.integers(numbers);
    OnnxGraph::Names parts;
    for (std::size_t i = 0; i < shape.rank; ++i) parts.push_back(size(shape[i]));
    return g.add("Concat", parts, {{"axis", std::int64_t{0}}});
  }

 private:
  /// The size of a dynamic dimension, from the first placeholder that has it, int64 [1].
  std::string symbol(std::size_t s) {
    if (!symbols_[s].empty()) return symbols_[s];
    for (const int p : model_->placeholders) {
      const Shape& shape = model_->node(p).shape;
      for (std::size_t i = 0; i < shape.rank; ++i) {
        if (shape[i].powers == Extent::symbol(s).powers) return symbols_[s] = measured(p, i, shape[i].factor);
      }
    }
    throw LogicError("crochet: no placeholder of the outputs has the dynamic dimension \"" + model_->symbols[s] +
                     "\" itself or a multiple of it, so an ONNX model cannot compute it: add one to an output");
  }
  std::string measured(int placeholder, std::size_t axis, std::int64_t factor) {
    const auto at = static_cast<std::int64_t>(axis);
    const std::string n = g.add("Shape", {value(placeholder)}, {{"start", at}, {"end", at + 1}});
    return factor == 1 ? n : g.add("Div", {n, g.integers({factor})});
  }

  const ExportedModel* model_;
  std::vector<std::string> values_;
  std::string symbols_[max_symbols];
};

}  // namespace crochet::detail
