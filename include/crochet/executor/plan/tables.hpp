// SPDX-License-Identifier: Apache-2.0
// The compile-time part of an executor: the final graph, its names by role, the offset of each variable, and the plan
// of each demand. Every stage is a separate constant.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include <crochet/base/instruction_set.hpp>
#include <crochet/base/name.hpp>
#include <crochet/graph/frozen.hpp>
#include <crochet/graph/passes/layouts.hpp>
#include <crochet/kernels/panels.hpp>
#include <crochet/session/demand.hpp>

namespace crochet::cpu::CROCHET_ISA {

namespace detail {

template <auto& Graph, class Accept>
constexpr std::size_t count_names(Accept accept) {
  std::size_t n = 0;
  for (const PooledName& p : Graph.names) n += accept(Graph.nodes[static_cast<std::size_t>(p.node)]) ? 1U : 0U;
  return n;
}
template <auto& Text>
constexpr std::string_view text_of(const PooledName& p) {
  return {Text.data() + p.begin, static_cast<std::size_t>(p.length)};
}
template <auto& Graph, auto& Text, std::size_t N, class Accept>
constexpr std::array<std::string_view, N> names_of(Accept accept) {
  std::array<std::string_view, N> names{};
  std::size_t n = 0;
  for (const PooledName& p : Graph.names) {
    if (accept(Graph.nodes[static_cast<std::size_t>(p.node)])) names[n++] = text_of<Text>(p);
  }
  return names;
}

template <auto& Graph>
constexpr std::size_t count_nodes(const Op& of) {
  std::size_t n = 0;
  for (const Node& node : Graph.nodes) n += node.is(of) ? 1U : 0U;
  return n;
}

constexpr bool has_value(const Node& n) { return n.op->kind != OpKind::group; }
constexpr bool is_placeholder(const Node& n) { return n.is(op::placeholder); }
constexpr bool is_anything(const Node&) { return true; }

constexpr std::size_t alignment = 64;
constexpr std::int64_t columns_of(const Node& n) { return n.shape.rank == 0 ? 1 : n.shape[n.shape.rank - 1].factor; }
/// The number of elements, including the padding of panels.
constexpr std::int64_t stored_elements(const Node& n) {
  const std::int64_t size = n.shape.size().factor, columns = columns_of(n);
  if (n.layout == Layout::row_major) return size;
  return n.dtype == DType::float64 ? kernel::panel_elements<double>(size / columns, columns)
                                   : kernel::panel_elements<float>(size / columns, columns);
}
constexpr std::size_t bytes_of(const Node& n) {
  const auto bytes = static_cast<std::size_t>(stored_elements(n)) * size_of(n.dtype);
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The offset of each variable in the block of all variables; the last entry is the size of the block.
template <auto& Graph>
constexpr auto variable_offsets() {
  std::array<std::size_t, Graph.nodes.size() + 1> offsets{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < Graph.nodes.size(); ++i) {
    offsets[i] = at;
    if (Graph.nodes[i].is(op::variable)) at += bytes_of(Graph.nodes[i]);
  }
  offsets[Graph.nodes.size()] = at;
  return offsets;
}

}  // namespace detail

/// The run-time description of a variable.
struct VariableInfo {
  std::string_view name;
  DType dtype = DType::float32;
  Layout layout = Layout::row_major;
  std::int64_t size = 0;     ///< in elements
  std::int64_t columns = 1;  ///< the last dimension
  std::size_t offset = 0;    ///< in the block of all variables, in bytes
  Attributes initial;        ///< its initial value: the attributes of op::variable
  std::int32_t node = 0;     ///< its index in the graph
  std::size_t rank = 0;
  std::array<std::int64_t, max_rank> extents{};
};

/// The variable that a variable has a rank's part of values for; without elements if there is none.
struct PartOfVariable {
  std::int64_t size = 0;  ///< in elements
  std::int32_t rank = 0;
  std::array<std::int64_t, max_rank> extents{};

  [[nodiscard]] constexpr bool is_part() const { return size > 0; }
  [[nodiscard]] constexpr std::span<const std::int64_t> shape() const {
    return {extents.data(), static_cast<std::size_t>(rank)};
  }
};

/// What the plans for a device may use.
struct DeviceTraits {
  bool packs = true;           ///< weights may be stored in panels
  bool by_items = true;        ///< one thread may take an item of the batch through several steps (passes/regions.hpp)
  bool reads_bfloat16 = true;  ///< products read operands that are stored as bfloat16 (passes/widen_operands.hpp)
};

/// The session's final graph and its names. The graph itself is for use at compile time only: a program that referred
/// to it at run time would contain all of it, including the rules of operations. For this reason names have a separate
/// text.
template <DeviceTraits Traits, class Model, class... Extensions>
struct Tables {
 private:
  static constexpr auto built = freeze_graph<Model, Extensions...>();
  static constexpr auto laid_out() {
    if constexpr (Traits.packs) return with_layouts(built);
    if constexpr (!Traits.packs) return built;
  }

 public:
  static constexpr bool by_items = Traits.by_items, reads_bfloat16 = Traits.reads_bfloat16;
  static constexpr auto graph = laid_out();
  static constexpr auto text = graph.text;

  static constexpr auto fetchable =
      detail::names_of<graph, text, detail::count_names<graph>(detail::has_value)>(detail::has_value);
  static constexpr auto feedable =
      detail::names_of<graph, text, detail::count_names<graph>(detail::is_placeholder)>(detail::is_placeholder);
  static constexpr auto targets =
      detail::names_of<graph, text, detail::count_names<graph>(detail::is_anything)>(detail::is_anything);
  static constexpr auto offsets = detail::variable_offsets<graph>();

  /// The names of the dynamic dimensions.
  static constexpr auto symbols = [] {
    std::array<std::string_view, graph.symbols.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = detail::text_of<text>(graph.symbols[i]);
    return names;
  }();

  static constexpr std::size_t placeholder_count = detail::count_nodes<graph>(op::placeholder);
  static constexpr bool is_placeholder(std::size_t node) { return graph.nodes[node].is(op::placeholder); }
  /// The number of a placeholder among all placeholders, in the order of the graph.
  static constexpr std::size_t placeholder_number(int node) {
    std::size_t n = 0;
    for (int i = 0; i < node; ++i) n += graph.nodes[static_cast<std::size_t>(i)].is(op::placeholder) ? 1U : 0U;
    return n;
  }

  /// The first name of a node; empty if it has none.
  static constexpr std::string_view name_of(std::size_t node) {
    const std::int32_t name = graph.nodes[node].name;
    return name < 0 ? std::string_view{} : detail::text_of<text>(graph.names[static_cast<std::size_t>(name)]);
  }

  /// The run-time descriptions of the variables.
  static constexpr auto variables = [] {
    constexpr std::size_t count = detail::count_nodes<graph>(op::variable);
    std::array<VariableInfo, count> list{};
    std::size_t n = 0;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& v = graph.nodes[i];
      if (v.is(op::variable)) {
        list[n] = {name_of(i),
                   v.dtype,
                   v.layout,
                   v.shape.size().factor,
                   detail::columns_of(v),
                   offsets[i],
                   v.attributes,
                   static_cast<std::int32_t>(i),
                   v.shape.rank};
        for (std::size_t k = 0; k < v.shape.rank; ++k) list[n].extents[k] = v.shape[k].factor;
        ++n;
      }
    }
    return list;
  }();

  /// By variable: whether it is a rank's part of values for another variable (GraphBuilder::note_part).
  static constexpr auto parts = [] {
    std::array<PartOfVariable, variables.size()> list{};
    for (std::size_t v = 0; v < variables.size(); ++v) {
      const std::int32_t whole = variables[v].initial.ints[GraphBuilder::whole_of_part] - 1;
      if (whole < 0) continue;
      const Shape& shape = graph.nodes[static_cast<std::size_t>(whole)].shape;
      list[v] = {shape.size().factor, static_cast<std::int32_t>(shape.rank)};
      for (std::size_t k = 0; k < shape.rank; ++k) list[v].extents[k] = shape[k].factor;
    }
    return list;
  }();

  /// The index in `variables` of a variable node or an assignment to one; `variables.size()` for other nodes.
  static constexpr std::size_t variable_index(int node) {
    int id = node;
    if (graph.nodes[static_cast<std::size_t>(id)].is(op::assign))
      id = graph.nodes[static_cast<std::size_t>(id)].inputs[0];
    if (!graph.nodes[static_cast<std::size_t>(id)].is(op::variable)) return variables.size();
    std::size_t n = 0;
    for (int i = 0; i < id; ++i) n += graph.nodes[static_cast<std::size_t>(i)].is(op::variable) ? 1U : 0U;
    return n;
  }

  template <class N>
  static constexpr int node_id = find_node(graph, N::view());
  template <class N>
  static constexpr const Node& node() {
    return graph.nodes[static_cast<std::size_t>(node_id<N>)];
  }
};

}  // namespace crochet::cpu::CROCHET_ISA
