// SPDX-License-Identifier: Apache-2.0
// The compiled half of export_header.hpp.
#pragma once

#include <crochet/export/export_header.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/export/header_functions.hpp>
#include <crochet/export/header_loops.hpp>
#include <crochet/export/header_names.hpp>
#include <crochet/export/header_plan.hpp>
#include <crochet/graph/core/sources.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet {

namespace detail {

template <class T>
std::string literals(const ExportedNode& node) {
  std::string text;
  for (std::size_t i = 0; i * sizeof(T) < node.value.size(); ++i) {
    T element;
    std::memcpy(&element, node.value.data() + i * sizeof(T), sizeof(T));
    text += i == 0 ? "" : (i % 8 == 0 ? ",\n      " : ", ");
    text += std::is_integral_v<T> && !std::is_same_v<T, bool> && element != std::numeric_limits<T>::min()
                ? std::to_string(element) + (sizeof(T) == 8 ? "LL" : "")
                : literal(node.dtype, static_cast<double>(element));
  }
  return text;
}
CROCHET_INLINE std::string elements_text(const ExportedNode& node) {
  switch (node.dtype) {
    case DType::float32:
      return literals<float>(node);
    case DType::float64:
      return literals<double>(node);
    case DType::int32:
      return literals<std::int32_t>(node);
    case DType::int64:
      return literals<std::int64_t>(node);
    case DType::uint8:
      return literals<std::uint8_t>(node);
    case DType::boolean:
      return literals<bool>(node);
    case DType::bfloat16:  // HeaderPlan refuses it
      break;
  }
  return {};
}

CROCHET_INLINE std::string weights_text(const ExportedModel& model, const HeaderPlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const ExportedNode& node = model.nodes[i];
    const auto id = static_cast<int>(i);
    if (node.op != &op::variable) continue;
    text += "  // " + comment_text(node.name) + "\n  static constexpr " + element_text(node.dtype) + " " +
            plan[id].text + "[" + std::to_string(plan[id].size) + "] = {\n      " + elements_text(node) + "};\n";
  }
  return text;
}

CROCHET_INLINE std::string functions_text(const ExportedModel& model) {
  std::set<const Op*> done;
  std::string text;
  for (const ExportedNode& node : model.nodes) {
    if (node.op->kind == OpKind::elementwise && done.insert(node.op).second) text += header_function(*node.op);
  }
  return text;
}

/// The statements of one node, in a block.
CROCHET_INLINE std::string node_text(const ExportedModel& model, const HeaderPlan& plan, int i) {
  const ExportedNode& node = model.node(i);
  const OpKind kind = node.op->kind;
  if (kind == OpKind::source || kind == OpKind::view || plan.is_number(i) || plan[i].inlined) return {};
  std::string text =
      "    // " + comment_text(node.op->name) + (node.name.empty() ? "" : " of " + comment_text(node.name)) + "\n";
  if (plan[i].offset >= 0) {
    const std::string type = element_text(node.dtype);
    text += "    " + type + "* const " + plan[i].text + " = reinterpret_cast<" + type + "*>(workspace_ + " +
            std::to_string(plan[i].offset) + ");\n";
  }
  return text + "    {\n" + header_loops(model, plan, i) + "    }\n";
}

/// Copies outputs that are not computed where they belong: views, placeholders, numbers, a second name of a value.
CROCHET_INLINE std::string copies_text(const ExportedModel& model, const HeaderPlan& plan) {
  std::string text;
  for (std::size_t k = 0; k < model.outputs.size(); ++k) {
    const int node = model.outputs[k].node;
    const std::string& to = plan.parameters()[model.placeholders.size() + k];
    if (plan[node].text == to) continue;
    const std::string from = plan.is_number(node) ? plan[node].text : plan[node].text + "[i_]";
    text += "    for (std::int32_t i_ = 0; i_ < " + std::to_string(plan[node].size) + "; ++i_) " + to +
            "[i_] = " + from + ";\n";
  }
  return text;
}

/// Calls use(parameter, node, is an output) for each parameter of predict().
template <class Use>
void each_parameter(const ExportedModel& model, const HeaderPlan& plan, Use use) {
  const std::size_t inputs = model.placeholders.size();
  for (std::size_t k = 0; k < plan.parameters().size(); ++k) {
    use(plan.parameters()[k], k < inputs ? model.placeholders[k] : model.outputs[k - inputs].node, k >= inputs);
  }
}

}  // namespace detail

CROCHET_INLINE std::string header_text(const ExportedModel& model, const HeaderOptions& options) {
  const detail::HeaderPlan plan(model, options);
  detail::require_struct_name(options.name, plan.parameters());
  std::string sizes, parameters, body;
  detail::each_parameter(model, plan, [&](const std::string& name, int node, bool out) {
    sizes += "  static constexpr std::size_t " + name + "_size = " + std::to_string(plan[node].size) + ";\n";
    parameters += (parameters.empty() ? "" : ", ") + std::string(out ? "" : "const ") +
                  detail::element_text(model.node(node).dtype) + "* " + name;
  });
  for (std::size_t i = 0; i < model.nodes.size(); ++i) body += detail::node_text(model, plan, static_cast<int>(i));
  const std::string bytes = std::to_string(plan.workspace_bytes());
  return "// Written by crochet::export_header from step " + std::to_string(model.step) + " of a training.\n" +
         "#pragma once\n\n#include <cstddef>\n#include <cstdint>\n\nstruct " + options.name + " {\n" + sizes +
         "  static constexpr std::size_t workspace_size = " + bytes + ";\n\n  void predict(" + parameters +
         ") noexcept {\n" + body + detail::copies_text(model, plan) + "  }\n\n private:\n" +
         detail::functions_text(model) + detail::weights_text(model, plan) +
         (plan.workspace_bytes() > 0 ? "  alignas(16) unsigned char workspace_[workspace_size];\n" : "") + "};\n";
}

CROCHET_INLINE void write_header(const ExportedModel& model, const std::filesystem::path& path,
                                 const HeaderOptions& options) {
  const std::string text = header_text(model, options);
  io::write_whole_file(path, {std::as_bytes(std::span(text))});
}

}  // namespace crochet
