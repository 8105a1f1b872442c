// SPDX-License-Identifier: Apache-2.0
// Loops over elements: elementwise operations, also several in one loop, and broadcast_to.
#pragma once

#include <string>
#include <vector>

#include <crochet/export/header_functions.hpp>
#include <crochet/export/loop_writer.ipp>
#include <crochet/graph/ops/broadcast_to.hpp>
#include <crochet/graph/ops/comparisons.hpp>

namespace crochet::detail {

class ElementwiseLoops : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

  /// Whether the node is one of these, which is then written.
  bool write() {
    if (node_.op->kind == OpKind::elementwise) return elementwise(), true;
    if (node_.op == &op::broadcast_to) return broadcast(), true;
    return false;
  }

 private:
  [[nodiscard]] std::string value(int i, const std::vector<std::string>& indices, const std::string& flat) const {
    if (plan_[i].inlined || i == i_) return call(i, indices, flat);
    if (plan_.is_number(i)) return plan_[i].text;
    const bool whole = !flat.empty() && plan_[i].size != 1;
    return plan_[i].text + "[" + (whole ? flat : place(plan_[i].dims, indices)) + "]";
  }
  [[nodiscard]] std::string call(int i, const std::vector<std::string>& indices, const std::string& flat) const {
    const ExportedNode& node = model_.node(i);
    if (node.op == &op::cast) {
      const std::string x = value(node.inputs[0], indices, flat), type = element_text(node.dtype);
      return node.dtype == DType::boolean ? "(" + x + " != 0)" : "static_cast<" + type + ">(" + x + ")";
    }
    if (header_function(*node.op).empty()) refuse(i);
    std::string arguments;
    for (const int in : node.inputs) arguments += (arguments.empty() ? "" : ", ") + value(in, indices, flat);
    return std::string(node.op->name) + "_(" + arguments + ")";
  }
  /// Whether every operand in this loop is a number or has the loop's shape.
  [[nodiscard]] bool is_flat(int i) const {
    for (const int in : model_.node(i).inputs) {
      if (plan_[in].inlined ? !is_flat(in) : plan_[in].size != 1 && plan_[in].dims != plan_[i_].dims) return false;
    }
    return true;
  }
  void elementwise() {
    if (is_flat(i_)) {
      each("i0_", plan_[i_].size, out() + "[i0_] = " + value(i_, {}, "i0_") + ";");
      return;
    }
    const std::vector<std::string> indices = open_all(plan_[i_].dims);
    line(out() + "[" + place(plan_[i_].dims, indices) + "] = " + value(i_, indices, "") + ";");
    close(static_cast<int>(indices.size()));
  }
  void broadcast() {
    const std::vector<std::string> indices = open_all(plan_[i_].dims);
    line(out() + "[" + place(plan_[i_].dims, indices) + "] = " + value(node_.inputs[0], indices, "") + ";");
    close(static_cast<int>(indices.size()));
  }
};

}  // namespace crochet::detail
