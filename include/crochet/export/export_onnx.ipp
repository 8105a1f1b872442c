// SPDX-License-Identifier: Apache-2.0
// The compiled half of export_onnx.hpp.
#pragma once

#include <crochet/export/export_onnx.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include <crochet/proto/onnx.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/export/onnx_arrays.ipp>
#include <crochet/export/onnx_bytes.ipp>
#include <crochet/export/onnx_elementwise.ipp>
#include <crochet/export/onnx_kernels.ipp>
#include <crochet/export/onnx_writer.ipp>
#include <crochet/io/serialized.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet::detail {

/// Type and shape of an input or output. A dynamic dimension has its name; a multiple of one is not stated.
CROCHET_INLINE void describe_value(const ExportedModel& model, const ExportedNode& node, const std::string& name,
                                   proto::onnx::ValueInfoProto& to) {
  to.set_name(name);
  auto& tensor = *to.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx_type(node.dtype));
  tensor.mutable_shape();
  for (std::size_t i = 0; i < node.shape.rank; ++i) {
    auto& dim = *tensor.mutable_shape()->add_dim();
    const Extent& e = node.shape[i];
    if (e.is_static()) dim.set_dim_value(e.factor);
    for (std::size_t s = 0; s < model.symbols.size(); ++s) {
      if (e == Extent::symbol(s)) dim.set_dim_param(model.symbols[s]);
    }
  }
}

CROCHET_INLINE std::string onnx_variable(OnnxWriter& w, const ExportedNode& n) {
  OnnxInts shape;
  for (std::size_t i = 0; i < n.shape.rank; ++i) shape.push_back(n.shape[i].factor);
  return w.g.constant(n.name, n.dtype, shape, n.value);
}
/// The value of an operation; empty if there is none.
CROCHET_INLINE std::string onnx_operation(OnnxWriter& w, const ExportedNode& n) {
  std::string y = n.op->kind == OpKind::elementwise ? onnx_elementwise(w, n) : onnx_kernel(w, n);
  return y.empty() ? onnx_array(w, n) : y;
}
/// The value of a node; empty for the moments of a row, which a normalization computes itself.
CROCHET_INLINE std::string onnx_value(OnnxWriter& w, const ExportedNode& n) {
  if (n.op == &op::variable) return onnx_variable(w, n);
  if (n.op == &op::constant) return w.g.scalar(n.dtype, n.attributes.reals[0]);
  if (n.op == &op::row_moments) return {};
  const std::string y = onnx_computes_on_bytes(w, n) ? onnx_of_bytes(w, n, onnx_operation)
                        : onnx_moves_bfloat16(n)     ? onnx_of_bfloat16(w, n, onnx_operation)
                                                     : onnx_operation(w, n);
  if (y.empty()) OnnxWriter::refuse(n);
  return y;
}

/// A size of 0 means "as before" in a Reshape of ONNX, and runtimes differ about empty values.
CROCHET_INLINE void require_elements(const ExportedModel& model) {
  for (const ExportedNode& n : model.nodes) {
    if (n.shape.size().factor != 0) continue;
    throw LogicError("crochet: " + std::string(n.op->name) + " of " +
                     (n.name.empty() ? std::string("a value without a name") : "\"" + n.name + "\"") +
                     " has no elements, so it cannot be exported as ONNX: export an output that does not need it");
  }
}

/// Inputs and outputs have the model's names, so these are taken first.
CROCHET_INLINE void write_onnx_graph(const ExportedModel& model, proto::onnx::GraphProto& graph) {
  require_elements(model);
  OnnxWriter w(model, graph);
  for (const int p : model.placeholders) {
    if (model.node(p).name.empty()) {
      throw LogicError("crochet: a placeholder without a name cannot be exported as ONNX: give it one");
    }
    w.value(p) = w.g.unique(model.node(p).name);
    describe_value(model, model.node(p), w.value(p), *graph.add_input());
  }
  OnnxGraph::Names outputs;
  for (const ExportedOutput& out : model.outputs) outputs.push_back(w.g.unique(out.name));
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    if (model.nodes[i].op == &op::placeholder) continue;
    w.value(static_cast<int>(i)) = onnx_value(w, model.nodes[i]);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ExportedNode& node = model.node(model.outputs[i].node);
    if (w.value(model.outputs[i].node).empty()) OnnxWriter::refuse(node);
    w.g.add("Identity", {w.value(model.outputs[i].node)}, {}, outputs[i]);
    describe_value(model, node, outputs[i], *graph.add_output());
  }
}

}  // namespace crochet::detail

namespace crochet {

CROCHET_INLINE std::string onnx_bytes(const ExportedModel& model, const OnnxOptions& options) {
  proto::onnx::ModelProto file;
  file.set_ir_version(8);
  file.add_opset_import()->set_version(17);
  file.set_producer_name("crochet");
  auto& step = *file.add_metadata_props();
  step.set_key("global_step");
  step.set_value(std::to_string(model.step));
  file.mutable_graph()->set_name(options.name);
  detail::write_onnx_graph(model, *file.mutable_graph());
  return io::serialized(file);
}

CROCHET_INLINE void write_onnx(const ExportedModel& model, const std::filesystem::path& path,
                               const OnnxOptions& options) {
  const std::string bytes = onnx_bytes(model, options);
  io::TemporaryFile file{path};
  file.write(std::as_bytes(std::span(bytes)));
  file.close();
  std::ifstream in(file.path(), std::ios::binary);
  const std::string read{std::istreambuf_iterator<char>(in), {}};
  if (read != bytes) {
    throw DataLossError("crochet: " + file.path().string() + " differs from what was written: check the disk");
  }
  file.rename();
  io::sync_folder_of(path);
}

}  // namespace crochet
