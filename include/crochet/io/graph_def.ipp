// SPDX-License-Identifier: Apache-2.0
// The compiled half of graph_def.hpp.
#pragma once

#include <crochet/io/graph_def.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/proto/graph.pb.h>
#include <google/protobuf/text_format.h>
#include <crochet/graph/core/table.hpp>
#include <crochet/graph/names/graph_op_name.hpp>
#include <crochet/graph/names/node_names.hpp>
#include <crochet/io/proto_type.ipp>
#include <crochet/storage/whole_file.hpp>

namespace crochet::io::detail {

CROCHET_INLINE void write_shape(const GraphTable::Node& node, proto::TensorShapeProto& to) {
  const Shape& from = node.shape;
  if (!node.has_shape) to.set_unknown_rank(true);
  for (std::size_t i = 0; i < from.rank; ++i) to.add_dim()->set_size(from[i].is_static() ? from[i].factor : -1);
}

/// A scalar constant, as the bytes of its type.
CROCHET_INLINE void write_constant(const GraphTable::Node& from, proto::TensorProto& to) {
  to.set_dtype(proto_type(from.dtype));
  to.mutable_tensor_shape();
  const auto bytes_of = [&](auto value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  };
  const double value = from.attributes.reals[0];
  switch (from.dtype) {
    case DType::float32:
      to.set_tensor_content(bytes_of(static_cast<float>(value)));
      break;
    case DType::float64:
      to.set_tensor_content(bytes_of(value));
      break;
    case DType::int32:
      to.set_tensor_content(bytes_of(static_cast<std::int32_t>(value)));
      break;
    case DType::int64:
      to.set_tensor_content(bytes_of(static_cast<std::int64_t>(value)));
      break;
    case DType::uint8:
      to.set_tensor_content(bytes_of(static_cast<std::uint8_t>(value)));
      break;
    case DType::boolean:
      to.set_tensor_content(bytes_of(value != 0));
      break;
    case DType::bfloat16:
      to.set_tensor_content(bytes_of(bfloat16(value)));
      break;
  }
}

CROCHET_INLINE void write_attributes(const GraphTable::Node& from, proto::NodeDef& to) {
  auto& attr = *to.mutable_attr();
  if (from.kind == OpKind::group || !from.has_tensor) return;
  write_shape(from, *attr["_output_shapes"].mutable_list()->add_shape());
  attr[from.kind == OpKind::source ? "dtype" : "T"].set_type(proto_type(from.dtype));
  if (from.op == "constant") {
    write_constant(from, *attr["value"].mutable_tensor());
  } else if (from.kind == OpKind::source) {
    write_shape(from, *attr["shape"].mutable_shape());
  } else if (!(from.attributes == Attributes{})) {
    for (const std::int32_t number : from.attributes.ints) attr["ints"].mutable_list()->add_i(number);
    for (const double number : from.attributes.reals) attr["reals"].mutable_list()->add_f(static_cast<float>(number));
  }
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE proto::GraphDef graph_def(const GraphTable& graph, std::string_view device) {
  const std::vector<std::string> names = node_names(graph);
  proto::GraphDef def;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphTable::Node& from = graph.nodes[i];
    proto::NodeDef& to = *def.add_node();
    to.set_name(names[i]);
    to.set_op(std::string(GraphOpName(from.op).view()));
    to.set_device(std::string(device));
    for (const std::int32_t input : from.inputs) {
      if (input < 0) continue;
      const std::string& name = names[static_cast<std::size_t>(input)];
      to.add_input(from.kind == OpKind::group ? "^" + name : name);
    }
    detail::write_attributes(from, to);
  }
  def.mutable_versions()->set_producer(134);  // TensorFlow 1.15
  return def;
}

CROCHET_INLINE proto::MetaGraphDef meta_graph_def(proto::GraphDef graph) {
  proto::MetaGraphDef meta;
  meta.mutable_meta_info_def()->add_tags("train");
  *meta.mutable_graph_def() = std::move(graph);
  return meta;
}

CROCHET_INLINE void write_graph_text(const std::filesystem::path& path, const proto::GraphDef& graph) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(graph, &text);
  write_whole_file(path, {std::as_bytes(std::span(text))});
}

}  // namespace crochet::io
