// SPDX-License-Identifier: Apache-2.0
// Oracle: interprets a graph as written, without passes or a plan, node by node in double. Reference for an executor's
// results. Slow by design.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/graph/passes/assignments.hpp>
#include <crochet/testing/oracle_rules.hpp>

namespace crochet::testing {

/// A run-time interpreter of a GraphBuilder's graph. Feeds and variables are set by name.
/// - Every node is an immutable value within a run. A variable's node is its value at the start; an assignment makes a
///   new value, which later nodes read and which the variable holds after the run.
/// - Results of integer types are truncated and wrapped as their types require; float32 is not rounded.
/// - Throws: std::invalid_argument for an unknown name or operation and for an invalid size.
class Oracle {
 public:
  explicit Oracle(Graph graph) : graph_(std::move(graph)), values_(graph_.nodes.size()), kept_(graph_.nodes.size()) {
    dims_.fill(unknown);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const Node& n = graph_.nodes[i];
      if (n.is(op::variable)) kept_[i] = empty(n);
    }
  }

  /// Defines the rule of a user's operation.
  void teach(const Op& op, ElementRule rule) { elements_[&op] = std::move(rule); }
  void teach(const Op& op, KernelRule rule) { kernels_[&op] = std::move(rule); }

  /// The size of a dynamic dimension that the feeds' lengths do not determine. An unknown name has no effect.
  void set_dimension(std::string_view name, std::int64_t size) {
    for (const PooledName& s : graph_.symbols) {
      if (graph_.text_of(s) == name) dims_[static_cast<std::size_t>(s.node)] = size;
    }
  }
  /// Feeds a placeholder; its length determines an unknown dimension.
  template <class Values>
  void feed(std::string_view name, const Values& values) {
    const std::size_t i = id(name);
    settle(graph_.nodes[i].shape.size(), static_cast<std::int64_t>(std::size(values)));
    put(kept_[i] = empty(graph_.nodes[i]), values, name);
  }
  /// Clears the dynamic dimensions, so that the next feeds may have other sizes.
  void forget_dimensions() { dims_.fill(unknown); }
  /// Sets the elements of a variable.
  template <class Values>
  void set(std::string_view name, const Values& values) {
    put(kept_[id(name)], values, name);
  }

  /// Computes the named values, and runs the named targets.
  void run(const std::vector<std::string_view>& names) {
    std::vector<char> needed(graph_.nodes.size(), 0);
    for (std::string_view n : names) needed[id(n)] = 1;
    for (std::size_t i = needed.size(); i-- > 0;) {
      for (int in : graph_.nodes[i].inputs) {
        if (needed[i] != 0 && in >= 0) needed[static_cast<std::size_t>(in)] = 1;
      }
    }
    needed_ = needed;
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (needed[i] != 0) evaluate(i);
    }
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const Node& n = graph_.nodes[i];
      if (needed[i] != 0 && n.is(op::assign)) kept_[static_cast<std::size_t>(n.inputs[0])] = values_[i];
    }
  }

  /// A value of the last run; for a variable its value after the run.
  const Array& operator[](std::string_view name) const {
    const std::size_t i = id(name);
    return graph_.nodes[i].is(op::variable) ? kept_[i] : values_[i];
  }
  /// The value of a node, by its number, in the last run; for a variable its value before the run. Null if the run did
  /// not need the node, and for a node without a value.
  const Array* computed(std::size_t node) const {
    const bool there = node < needed_.size() && needed_[node] != 0 && graph_.nodes[node].op->kind != OpKind::group;
    return there ? &values_[node] : nullptr;
  }
  /// The value of a scalar.
  double scalar(std::string_view name) const { return (*this)[name].data.at(0); }
  /// A variable's elements, mutable between runs.
  std::vector<double>& variable(std::string_view name) { return kept_[id(name)].data; }
  const Graph& graph() const { return graph_; }

 private:
  static constexpr std::int64_t unknown = -1;

  std::size_t id(std::string_view name) const {
    const int i = find_node(graph_, name);
    if (i < 0) throw std::invalid_argument("oracle: no name " + std::string(name));
    return static_cast<std::size_t>(i);
  }
  Array empty(const Node& n) const {
    Array a;
    for (std::size_t i = 0; i < n.shape.rank; ++i) a.shape.push_back(n.shape[i].at(dims_));
    a.data.assign(static_cast<std::size_t>(n.shape.size().at(dims_)), 0);
    return a;
  }
  template <class Values>
  static void put(Array& to, const Values& values, std::string_view name) {
    if (std::size(values) != to.data.size()) throw std::invalid_argument("oracle: wrong size for " + std::string(name));
    std::transform(std::begin(values), std::end(values), to.data.begin(),
                   [](auto x) { return static_cast<double>(x); });
  }
  void settle(const Extent& e, std::int64_t size) {
    std::int64_t known = e.factor;
    std::int64_t* open = nullptr;
    for (std::size_t s = 0; s < max_symbols; ++s) {
      if (e.power(s) != 0 && dims_[s] == unknown) open = &dims_[s];
      for (int p = 0; p < e.power(s) && dims_[s] != unknown; ++p) known *= dims_[s];
    }
    if (open == nullptr) return;
    if (known == 0 || size % known != 0) throw std::invalid_argument("oracle: wrong size");
    *open = size / known;
  }

  void evaluate(std::size_t i) {
    const Node& n = graph_.nodes[i];
    if (n.is(op::variable) || n.is(op::placeholder)) {
      values_[i] = kept_[i];
      return;
    }
    Array out = empty(n);
    Use use{n.attributes, {}, out, dims_, n.dtype};
    for (int in : n.inputs) {
      if (in >= 0) use.in.push_back(&values_[static_cast<std::size_t>(seen(i, in))]);
    }
    if (n.is(op::constant)) out.data[0] = n.attributes.reals[0];
    if (n.is(op::assign)) out = *use.in[1];
    if (n.op->kind == OpKind::elementwise) by_elements(n, use);
    if (n.op->kind == OpKind::kernel || n.op->kind == OpKind::view) kernel(n)(use);
    convert(out, n.dtype);
    values_[i] = std::move(out);
  }
  /// The input node; for a variable the value of the latest assignment before this node in this run.
  int seen(std::size_t node, int input) const {
    const Node& n = graph_.nodes[node];
    if (!graph_.nodes[static_cast<std::size_t>(input)].is(op::variable)) return input;
    const int moment = n.moment < 0 ? static_cast<int>(node) : n.moment;
    return variable_as_at(graph_.nodes, input, moment,
                          [&](int a) { return needed_[static_cast<std::size_t>(a)] != 0; });
  }
  void by_elements(const Node& n, const Use& u) const {
    auto rule = integers_.find(n.op);
    if (is_floating(n.dtype) || rule == integers_.end()) rule = elements_.find(n.op);
    if (rule == elements_.end()) throw std::invalid_argument("oracle: teach me " + std::string(n.op->name));
    apply_to_elements(rule->second, u);
  }
  const KernelRule& kernel(const Node& n) const {
    const auto rule = kernels_.find(n.op);
    if (rule == kernels_.end()) throw std::invalid_argument("oracle: teach me " + std::string(n.op->name));
    return rule->second;
  }

  Graph graph_;
  std::vector<Array> values_, kept_;
  std::vector<char> needed_;
  Dims dims_{};
  std::map<const Op*, ElementRule> elements_ = element_rules(), integers_ = integer_rules();
  std::map<const Op*, KernelRule> kernels_ = kernel_rules();
};

}  // namespace crochet::testing
