// SPDX-License-Identifier: Apache-2.0
// HeaderPlan: sizes, loops and memory of an exported header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crochet/export/exported_model.hpp>
#include <crochet/export/header_options.hpp>

namespace crochet::detail {

/// A node in an error: `"logits" (matmul)`, or `a part of "logits" (matmul)` for one without a name.
std::string spelt_node(const ExportedModel& model, int i);
/// The C++ type of an element.
std::string element_text(DType type);
/// A number as a C++ literal of this type, without rounding.
std::string literal(DType type, double value);

/// One node of the header.
struct HeaderNode {
  std::vector<std::int64_t> dims;
  std::int64_t size = 1;      ///< elements
  int root = -1;              ///< the node whose memory it has: itself, or what a view is of
  bool inlined = false;       ///< a part of the loop of its only user
  std::int64_t offset = -1;   ///< bytes, in the workspace; -1: not there
  std::int64_t scratch = -1;  ///< bytes, in the workspace: memory during its own loop
  std::string text;           ///< the C++ expression of its first element's address; of a constant: its value
};

/// The sizes, which nodes share a loop, and where each value is. Memory is used again after the last reader, and by the
/// last reader if it is elementwise.
class HeaderPlan {
 public:
  /// Throws LogicError for options that do not fit the model. Refers to `model`.
  HeaderPlan(const ExportedModel& model, const HeaderOptions& options);

  [[nodiscard]] const HeaderNode& operator[](int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::int64_t workspace_bytes() const { return bytes_; }
  /// The parameter of each placeholder, then of each output.
  [[nodiscard]] const std::vector<std::string>& parameters() const { return parameters_; }
  /// Whether a node is a number in the text.
  [[nodiscard]] bool is_number(int i) const;
  /// The value of an Extent.
  [[nodiscard]] std::int64_t at(const Extent& e) const { return e.at(dims_); }

 private:
  void choose_sizes(const HeaderOptions& options);
  void choose_loops();
  void choose_names(const std::string& of_struct);
  void choose_memory();
  void mark_uses(int node, int time, std::vector<int>& last) const;
  [[nodiscard]] int replaceable(int node, int i, const std::vector<int>& last) const;
  [[nodiscard]] std::int64_t scratch_bytes(int i) const;
  [[nodiscard]] bool is_output(int i) const;

  const ExportedModel& model_;
  Dims dims_{};
  std::vector<HeaderNode> nodes_;
  std::vector<std::string> parameters_;
  std::int64_t bytes_ = 0;
};

}  // namespace crochet::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/export/header_plan.ipp>
#endif
