// SPDX-License-Identifier: Apache-2.0
// OnnxGraph: builds the graph of an ONNX model. Only compiled halves include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <crochet/proto/onnx.pb.h>
#include <crochet/graph/core/dtype.hpp>

namespace crochet::detail {

/// ONNX's number of an element type.
constexpr int onnx_type(DType type) {
  constexpr int types[] = {1, 11, 6, 7, 2, 9, 16};  // TensorProto::DataType, in the order of DType
  return types[static_cast<std::size_t>(type)];
}

/// An attribute of a node.
struct OnnxAttribute {
  std::string_view name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>> value;
};

/// A graph under construction. Values are names; each is unique.
class OnnxGraph {
 public:
  using Names = std::vector<std::string>;

  explicit OnnxGraph(proto::onnx::GraphProto& graph) : graph_(&graph) {}

  /// A name that no value has: `base`, or `base` with a number.
  std::string unique(const std::string& base) {
    std::string name = base;
    for (int n = 1; !taken_.insert(name).second; ++n) name = base + "_" + std::to_string(n);
    return name;
  }
  /// Appends a node with one result, and returns the result's name. `name`: that result's name, already taken; empty
  /// for a new one.
  std::string add(const std::string& op, const Names& inputs, const std::vector<OnnxAttribute>& attributes = {},
                  std::string name = {}) {
    if (name.empty()) name = unique(op);
    proto::onnx::NodeProto& node = *graph_->add_node();
    node.set_op_type(op);
    node.set_name(name);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(name);
    for (const OnnxAttribute& a : attributes) set(*node.add_attribute(), a);
    return name;
  }
  /// A constant of the file. Returns its name.
  std::string constant(const std::string& base, DType type, const std::vector<std::int64_t>& shape,
                       std::span<const std::byte> bytes) {
    proto::onnx::TensorProto& tensor = *graph_->add_initializer();
    tensor.set_name(unique(base));
    tensor.set_data_type(onnx_type(type));
    for (const std::int64_t n : shape) tensor.add_dims(n);
    tensor.set_raw_data(bytes.data(), bytes.size());
    return tensor.name();
  }
  std::string integers(const std::vector<std::int64_t>& values) {
    return constant("integers", DType::int64, {static_cast<std::int64_t>(values.size())},
                    std::as_bytes(std::span(values)));
  }
  /// A constant of rank 0. The same one for equal arguments.
  std::string scalar(DType type, double value) {
    std::string bytes(size_of(type), '\0');
    const auto put = [&](auto number) { std::memcpy(bytes.data(), &number, sizeof number); };
    if (type == DType::float32) put(static_cast<float>(value));
    if (type == DType::float64) put(value);
    if (type == DType::int32) put(static_cast<std::int32_t>(value));
    if (type == DType::int64) put(static_cast<std::int64_t>(value));
    if (type == DType::uint8) put(static_cast<std::uint8_t>(value));
    if (type == DType::boolean) put(static_cast<std::uint8_t>(value != 0));
    if (type == DType::bfloat16) put(bfloat16(value));
    std::string& name = scalars_[{type, bytes}];
    if (name.empty()) name = constant("number", type, {}, std::as_bytes(std::span(bytes)));
    return name;
  }
  proto::onnx::GraphProto& message() { return *graph_; }

 private:
  static void set(proto::onnx::AttributeProto& to, const OnnxAttribute& a) {
    to.set_name(std::string(a.name));
    if (const auto* i = std::get_if<std::int64_t>(&a.value)) {
      to.set_type(proto::onnx::AttributeProto::INT);
      to.set_i(*i);
    } else if (const auto* f = std::get_if<float>(&a.value)) {
      to.set_type(proto::onnx::AttributeProto::FLOAT);
      to.set_f(*f);
    } else if (const auto* s = std::get_if<std::string>(&a.value)) {
      to.set_type(proto::onnx::AttributeProto::STRING);
      to.set_s(*s);
    } else {
      to.set_type(proto::onnx::AttributeProto::INTS);
      for (const std::int64_t n : std::get<std::vector<std::int64_t>>(a.value)) to.add_ints(n);
    }
  }

  proto::onnx::GraphProto* graph_;
  std::set<std::string> taken_;
  std::map<std::pair<DType, std::string>, std::string> scalars_;
};

}  // namespace crochet::detail
