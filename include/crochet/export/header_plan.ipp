// SPDX-License-Identifier: Apache-2.0
// The compiled half of header_plan.hpp.
#pragma once

#include <crochet/export/header_plan.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/export/header_names.hpp>
#include <crochet/graph/core/sources.hpp>
#include <crochet/graph/ops/attention.hpp>

namespace crochet::detail {

CROCHET_INLINE std::string spelt_node(const ExportedModel& model, int i) {
  int named = i;
  for (int j = i + 1; model.node(named).name.empty() && j < static_cast<int>(model.nodes.size()); ++j) {
    const std::vector<int>& in = model.node(j).inputs;
    if (std::find(in.begin(), in.end(), named) != in.end()) named = j;
  }
  return (named == i ? "\"" : "a part of \"") + model.node(named).name + "\" (" + std::string(model.node(i).op->name) +
         ")";
}
CROCHET_INLINE std::string element_text(DType type) {
  constexpr const char* names[] = {"float", "double", "std::int32_t", "std::int64_t", "std::uint8_t", "bool"};
  return names[static_cast<std::size_t>(type)];
}
CROCHET_INLINE std::string literal(DType type, double value) {
  if (type == DType::boolean) return value != 0 ? "true" : "false";
  if (!is_floating(type)) {
    // The lowest value has no literal of its own: its digits are those of a number that does not fit.
    const auto whole = static_cast<std::int64_t>(value);
    const bool lowest = whole == INT64_MIN;
    const std::string digits = std::to_string(lowest ? whole + 1 : whole) + (type == DType::int64 ? "LL" : "");
    return "static_cast<" + element_text(type) + ">(" + digits + (lowest ? " - 1" : "") + ")";
  }
  const std::string suffix = type == DType::float32 ? "f" : "", sign = std::signbit(value) ? "-" : "";
  const double stored = std::abs(type == DType::float32 ? static_cast<double>(static_cast<float>(value)) : value);
  if (std::isnan(stored)) return "__builtin_nan" + suffix + "(\"\")";
  if (std::isinf(stored)) return sign + "__builtin_inf" + suffix + "()";
  std::array<char, 40> text{};  // std::to_chars, because the decimal point of printf is the locale's
  const auto end = std::to_chars(text.data(), text.data() + text.size(), stored, std::chars_format::hex).ptr;
  return sign + "0x" + std::string(text.data(), end) + suffix;
}

CROCHET_INLINE HeaderPlan::HeaderPlan(const ExportedModel& model, const HeaderOptions& options) : model_(model) {
  choose_sizes(options);
  choose_loops();
  choose_names(options.name);
  choose_memory();
}

/// `; they have "batch", "time"`, or nothing without dynamic dimensions.
CROCHET_INLINE std::string dimensions_of(const ExportedModel& model) {
  std::string all;
  for (const auto& name : model.symbols) all.append(all.empty() ? "; they have \"" : ", \"").append(name) += '"';
  return all;
}

CROCHET_INLINE void HeaderPlan::choose_sizes(const HeaderOptions& options) {
  dims_.fill(1);
  for (const ExportedDimension& d : options.dimensions) {
    const auto found = std::find(model_.symbols.begin(), model_.symbols.end(), d.name);
    if (found == model_.symbols.end()) {
      throw LogicError("crochet: the exported outputs have no dynamic dimension \"" + d.name + "\"" +
                       dimensions_of(model_));
    }
    if (d.size < 1) {
      throw LogicError("crochet: an exported header cannot have " + std::to_string(d.size) + " for the dimension \"" +
                       d.name + "\"; its size is at least 1");
    }
    dims_[static_cast<std::size_t>(found - model_.symbols.begin())] = d.size;
  }
  for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
    const ExportedNode& node = model_.nodes[i];
    HeaderNode& to = nodes_.emplace_back();
    if (node.dtype == DType::bfloat16) {
      throw LogicError(
          "crochet: " + spelt_node(model_, static_cast<int>(i)) +
          " is bfloat16, which an exported header does not have; export the model with float in its place");
    }
    for (std::size_t d = 0; d < node.shape.rank; ++d) to.dims.push_back(at(node.shape[d]));
    to.size = at(node.shape.size());
    if (to.size == 0) {
      throw LogicError(
          "crochet: " + spelt_node(model_, static_cast<int>(i)) +
          " has no elements, so it cannot be in an exported header; export an output that does not need it");
    }
    if (to.size > INT32_MAX) {
      throw LogicError("crochet: " + spelt_node(model_, static_cast<int>(i)) + " has " + std::to_string(to.size) +
                       " elements, too many for an exported header; give its dynamic dimensions smaller sizes");
    }
    const bool is_view = node.op->kind == OpKind::view;
    to.root = is_view ? (*this)[node.inputs[0]].root : static_cast<int>(i);
  }
}

CROCHET_INLINE bool HeaderPlan::is_number(int i) const {
  const Op* op = model_.node((*this)[i].root).op;  // a view of a number is that number
  return op == &op::constant || op == &op::count;
}
CROCHET_INLINE bool HeaderPlan::is_output(int i) const {
  return std::any_of(model_.outputs.begin(), model_.outputs.end(), [i](const auto& out) { return out.node == i; });
}

/// An elementwise node with one user, which is elementwise and has its shape, is computed in that user's loop.
CROCHET_INLINE void HeaderPlan::choose_loops() {
  std::vector<int> users(nodes_.size()), user(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    for (const int in : model_.nodes[i].inputs) {
      ++users[static_cast<std::size_t>(in)];
      user[static_cast<std::size_t>(in)] = static_cast<int>(i);
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (model_.nodes[i].op->kind != OpKind::elementwise || users[i] != 1 || is_output(static_cast<int>(i))) continue;
    nodes_[i].inlined = model_.node(user[i]).op->kind == OpKind::elementwise && (*this)[user[i]].dims == nodes_[i].dims;
  }
}

CROCHET_INLINE void HeaderPlan::choose_names(const std::string& of_struct) {
  std::set<std::string> used = taken_identifiers();
  used.insert(of_struct);
  for (const int p : model_.placeholders) {
    parameters_.push_back(header_identifier(model_.node(p).name, used));
    nodes_[static_cast<std::size_t>(p)].text = parameters_.back();
  }
  for (const ExportedOutput& output : model_.outputs) {
    parameters_.push_back(header_identifier(output.name, used));
    HeaderNode& node = nodes_[static_cast<std::size_t>(output.node)];
    const OpKind kind = model_.node(output.node).op->kind;
    const bool computed = kind == OpKind::elementwise || kind == OpKind::kernel;
    if (computed && !is_number(output.node) && node.text.empty()) node.text = parameters_.back();
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const ExportedNode& node = model_.nodes[i];
    if (node.op == &op::variable) nodes_[i].text = "w" + std::to_string(i) + "_";
    if (node.op == &op::constant) nodes_[i].text = literal(node.dtype, node.attributes.reals[0]);
    if (node.op == &op::count) {
      Extent n;
      for (std::size_t s = 0; s < max_symbols; ++s) {
        for (int p = 0; p < node.attributes.ints[s]; ++p) n = n * Extent::symbol(s);
      }
      nodes_[i].text = literal(node.dtype, node.attributes.reals[0] * static_cast<double>(at(n)));
    }
  }
}

CROCHET_INLINE void HeaderPlan::mark_uses(int node, int time, std::vector<int>& last) const {
  for (const int in : model_.node(node).inputs) {
    if ((*this)[in].inlined) {
      mark_uses(in, time, last);
    } else {
      last[static_cast<std::size_t>((*this)[in].root)] = time;
    }
  }
}
/// An operand of the loop of node i, through inlined nodes, that the loop may replace element by element; -1: none.
CROCHET_INLINE int HeaderPlan::replaceable(int node, int i, const std::vector<int>& last) const {
  if (model_.node(i).op->kind != OpKind::elementwise) return -1;
  for (const int in : model_.node(node).inputs) {
    const int root = (*this)[in].root;
    if ((*this)[in].inlined) {
      if (const int found = replaceable(in, i, last); found >= 0) return found;
    } else if ((*this)[root].offset >= 0 && last[static_cast<std::size_t>(root)] == i &&
               (*this)[in].dims == (*this)[i].dims && model_.node(root).dtype == model_.node(i).dtype) {
      return root;
    }
  }
  return -1;
}
CROCHET_INLINE std::int64_t HeaderPlan::scratch_bytes(int i) const {
  const ExportedNode& node = model_.node(i);
  const bool attention = node.op == &op::self_attention;
  return attention ? (*this)[i].dims[1] * static_cast<std::int64_t>(size_of(node.dtype)) : 0;
}

/// First fit: the lowest place that no living value has. Each element type has a part of the workspace of its own:
/// memory that has the type of its elements for ever may be assumed not to change by a store of another type.
CROCHET_INLINE void HeaderPlan::choose_memory() {
  struct Block {
    std::int64_t begin, end;
    int last;
  };
  struct Part {
    std::vector<Block> blocks;
    std::int64_t bytes = 0;
  };
  const int count = static_cast<int>(nodes_.size());
  std::vector<int> last(nodes_.size(), -1);
  for (int i = 0; i < count; ++i) {
    if (!(*this)[i].inlined) mark_uses(i, i, last);
  }
  for (const ExportedOutput& output : model_.outputs) last[static_cast<std::size_t>((*this)[output.node].root)] = count;
  std::array<Part, 6> parts;
  const auto part_of = [&](int i) -> Part& { return parts[static_cast<std::size_t>(model_.node(i).dtype)]; };
  const auto place = [](Part& part, std::int64_t size, int until) {
    const std::int64_t bytes = (size + 15) / 16 * 16;
    auto& blocks = part.blocks;
    std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.begin < b.begin; });
    std::int64_t at = 0;
    for (const Block& b : blocks) {
      if (b.begin >= at + bytes) break;
      at = std::max(at, b.end);
    }
    blocks.push_back({at, at + bytes, until});
    part.bytes = std::max(part.bytes, at + bytes);
    return at;
  };
  for (int i = 0; i < count; ++i) {
    Part& part = part_of(i);
    const auto is_dead = [i](const Block& b) { return b.last < i; };
    part.blocks.erase(std::remove_if(part.blocks.begin(), part.blocks.end(), is_dead), part.blocks.end());
    HeaderNode& node = nodes_[static_cast<std::size_t>(i)];
    if (const std::int64_t bytes = scratch_bytes(i); bytes > 0) node.scratch = place(part, bytes, i);
    if (node.root != i || node.inlined || !node.text.empty()) continue;
    node.text = "v" + std::to_string(i) + "_";
    const int until = std::max(last[static_cast<std::size_t>(i)], i);
    if (const int old = replaceable(i, i, last); old >= 0) {
      node.offset = (*this)[old].offset;
      for (Block& b : part.blocks) b.last = b.begin == node.offset ? until : b.last;
      continue;
    }
    const auto width = static_cast<std::int64_t>(size_of(model_.node(i).dtype));
    node.offset = place(part, node.size * width, until);
  }
  for (Part& part : parts) part.bytes = std::exchange(bytes_, bytes_ + part.bytes);  // from here on: where it begins
  for (int i = 0; i < count; ++i) {
    HeaderNode& node = nodes_[static_cast<std::size_t>(i)];
    if (node.offset >= 0) node.offset += part_of(i).bytes;
    if (node.scratch >= 0) node.scratch += part_of(i).bytes;
  }
  for (HeaderNode& node : nodes_) {
    if (node.text.empty() && !node.inlined) node.text = (*this)[node.root].text;
  }
}

}  // namespace crochet::detail
