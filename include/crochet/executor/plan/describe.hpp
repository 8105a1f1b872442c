// SPDX-License-Identifier: Apache-2.0
// describe(executor, fetches<...>, targets<...>): a model's graph and the steps of one of its runs as readable text.
// Not included by executor/cpu.hpp, because few programs need it.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/graph/passes/arena.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/demand.hpp>

namespace crochet {

/// The sizes of dynamic dimensions, by name.
using DimensionSizes = std::initializer_list<std::pair<std::string_view, std::int64_t>>;

namespace detail {

/// E: an executor of a graph, D: a Demand.
template <class E, class D>
class PlanText {
  static constexpr const auto& graph = E::graph;
  static constexpr const auto& plan = E::template plan_of<D>::plan;

 public:
  explicit PlanText(DimensionSizes sizes) {
    for (const auto& [name, size] : sizes) {
      for (std::size_t s = 0; s < graph.symbols.size(); ++s) {
        if (graph.text_of(graph.symbols[s]) == name) dims_[s] = size, known_ |= 255U << (8 * s);
      }
    }
  }

  std::string all() {
    write_graph();
    write_plan();
    for (std::size_t k = 0; k < plan.step_count; ++k) write_step(k);
    return text_;
  }

 private:
  static std::string plural(std::int64_t n, std::string_view what) {
    return std::to_string(n).append(" ").append(what).append(n == 1 ? "" : "s");
  }

  void write_graph() {
    std::int64_t variables = 0, elements = 0, bytes = 0, trainable = 0;
    for (const Node& n : graph.nodes) {
      if (!n.is(op::variable)) continue;
      const std::int64_t size = n.shape.size().factor;
      ++variables, elements += size, bytes += size * static_cast<std::int64_t>(size_of(n.dtype));
      if (n.attributes.ints[1] != 0) trainable += size;
    }
    text_ += "graph: " + plural(static_cast<std::int64_t>(graph.nodes.size()), "node") + ", " +
             plural(variables, "variable") + " of " + plural(elements, "element") + " (" + std::to_string(bytes) +
             " bytes), " + std::to_string(trainable) + " of them trainable\n";
  }

  void write_plan() {
    std::int64_t barriers = 0;
    std::uint32_t needed = 0;
    for (std::size_t k = 0; k < plan.step_count; ++k) barriers += plan.steps[k].barrier ? 1 : 0;
    for (std::size_t k = 0; k < plan.slot_count; ++k) needed |= plan.slots[k].bytes.powers;
    text_ += "run: " + plural(static_cast<std::int64_t>(plan.step_count), "step") + ", " + plural(barriers, "barrier");
    if ((needed & ~known_) == 0) {
      text_ += ", " + std::to_string(workspace_bytes(plan, dims_)) + " bytes of workspace";
    } else {
      text_ += ", workspace as large as the dynamic dimensions make it";
    }
    text_ += '\n';
  }

  /// A bar if there is a barrier before the step; then the kernel, its shape, the fused operations, and the variables
  /// that are assigned.
  void write_step(std::size_t k) {
    const Step& s = plan.steps[k];
    text_ += s.barrier ? "| " : "  ";
    text_ += s.root == nullptr ? std::string_view("loop") : s.root->name;
    text_ += s.root == nullptr ? " [" + spelt(s.rows) + ", " + spelt(s.columns) + "]"
                               : " " + spelt(plan.values[static_cast<std::size_t>(s.root_value)].shape);
    std::string_view before = ": ";
    for (std::int32_t i = s.first_instruction; i < s.first_instruction + s.instructions; ++i) {
      const Instruction& ins = plan.instructions[static_cast<std::size_t>(i)];
      if (ins.op != nullptr) {
        text_.append(before).append(ins.op->name);
        before = " ";
      } else if (ins.kind == Instruction::Kind::store) {
        const std::int32_t access = s.first_access + ins.args[0];
        const Access& a = plan.accesses[static_cast<std::size_t>(access)];
        const Value& v = plan.values[static_cast<std::size_t>(a.value)];
        if (v.space != AddressSpace::variable) continue;
        text_.append(before).append("-> ").append(name_of_node(graph, v.index));
        before = " ";
      }
    }
    text_ += '\n';
  }

  static std::string spelt(const Extent& e) {
    std::string s = e.factor == 1 && !e.is_static() ? "" : std::to_string(e.factor);
    for (std::size_t k = 0; k < graph.symbols.size(); ++k) {
      for (int p = 0; p < e.power(k); ++p) s.append(s.empty() ? "" : "*").append(graph.text_of(graph.symbols[k]));
    }
    return s;
  }
  static std::string spelt(const Shape& shape) {
    std::string s = "[";
    for (std::size_t i = 0; i < shape.rank; ++i) s.append(i == 0 ? "" : ", ").append(spelt(shape[i]));
    return s + "]";
  }

  Dims dims_{};
  std::uint32_t known_ = 0;
  std::string text_;
};

}  // namespace detail

/// Text with the graph's size, the bytes of workspace of the run, and its steps in order, each with the elementwise
/// operations fused into its kernel and the variables that it assigns. A bar marks a barrier before a step.
/// - `sizes`: the sizes of dynamic dimensions, e.g. `{{"batch", 32}}`; needed for the bytes of workspace.
/// - Allocates.
template <class E, class... F, class... R>
std::string describe(const E& /*executor*/, Fetches<F...> /*fetched*/, Targets<R...> /*run*/ = {},
                     DimensionSizes sizes = {}) {
  return detail::PlanText<E, Demand<Names<F...>, Names<R...>>>(sizes).all();
}

}  // namespace crochet
