// SPDX-License-Identifier: Apache-2.0
// ExportedPart: the variables of an exported model as the part of a session that a Saver restores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/export/exported_node.hpp>
#include <crochet/graph/core/sources.hpp>
#include <crochet/hook/state.hpp>

namespace crochet::detail {

/// The variables among nodes, as those of an executor (HasVariables in session/variables.hpp). They have values from
/// the start: zeros.
class ExportedVariables {
 public:
  explicit ExportedVariables(std::vector<ExportedNode>& nodes) : nodes_(&nodes) {
    for (ExportedNode& node : nodes) {
      if (node.op != &op::variable) continue;
      node.value.assign(static_cast<std::size_t>(node.shape.size().factor) * size_of(node.dtype), std::byte{});
    }
  }

  template <class Visit>
  void for_each_variable(Visit&& visit) {
    for (ExportedNode& node : *nodes_) {
      if (node.op == &op::variable) visit_typed<std::byte>(node, visit);
    }
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const {
    for (const ExportedNode& node : *nodes_) {
      if (node.op == &op::variable) visit_typed<const std::byte>(node, visit);
    }
  }
  [[nodiscard]] bool variables_initialized() const { return true; }
  [[nodiscard]] std::vector<std::string> uninitialized_variables() const { return {}; }

 private:
  template <class Byte, class N, class Visit>
  static void visit_typed(N& node, Visit& visit) {
    switch (node.dtype) {
      case DType::float32:
        return visit_as<Byte, float>(node, visit);
      case DType::float64:
        return visit_as<Byte, double>(node, visit);
      case DType::int32:
        return visit_as<Byte, std::int32_t>(node, visit);
      case DType::int64:
        return visit_as<Byte, std::int64_t>(node, visit);
      case DType::uint8:
        return visit_as<Byte, std::uint8_t>(node, visit);
      case DType::boolean:
        return visit_as<Byte, bool>(node, visit);
      case DType::bfloat16:
        return visit_as<Byte, bfloat16>(node, visit);
    }
  }
  template <class Byte, class T, class N, class Visit>
  static void visit_as(N& node, Visit& visit) {
    using X = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    std::array<std::int64_t, max_rank> extents{};
    for (std::size_t i = 0; i < node.shape.rank; ++i) extents[i] = node.shape[i].factor;
    // The memory is that of operator new, which is aligned for all these types.
    visit(std::string_view(node.name),
          std::span<X>(reinterpret_cast<X*>(node.value.data()), node.value.size() / sizeof(T)),
          std::span<const std::int64_t>(extents.data(), node.shape.rank));
  }

  std::vector<ExportedNode>* nodes_;
};

/// What restore_session needs of a session: these variables, the step of the checkpoint, no hooks.
class ExportedPart {
 public:
  explicit ExportedPart(std::vector<ExportedNode>& nodes) : variables_(nodes) {}

  [[nodiscard]] ExportedVariables& executor() { return variables_; }
  [[nodiscard]] std::int64_t step() const { return step_; }
  void set_step(std::int64_t step) { step_ = step; }
  void save_hook_state(StateWriter& /*out*/) const {}
  void load_hook_state(StateReader& /*in*/) {}

 private:
  ExportedVariables variables_;
  std::int64_t step_ = 0;
};

}  // namespace crochet::detail
