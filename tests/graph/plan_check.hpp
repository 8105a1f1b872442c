// SPDX-License-Identifier: Apache-2.0
// Runs a demand of a graph as a plan and on the Oracle, with the same random placeholders and variables.
#pragma once
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/testing/oracle.hpp>

#include "plan_machine.hpp"
#include "random_values.hpp"

namespace crochet {

inline bool nearly_equal(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) <= 1e-9 * std::fmax(1, std::abs(a));
}
/// The first difference as a sentence about the elements; empty if there is none.
inline std::string difference(const std::vector<double>& expected, const std::vector<double>& given) {
  if (expected.size() != given.size()) return " has another size";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!nearly_equal(expected[i], given[i])) {
      return "[" + std::to_string(i) + "] should be " + std::to_string(expected[i]) + ", is " +
             std::to_string(given[i]);
    }
  }
  return {};
}

/// Random elements for a placeholder or a variable. Integers are in [0, 5).
inline std::vector<double> random_elements(const Node& source, const Dims& dims, Numbers& numbers) {
  std::vector<double> values = numbers.many(static_cast<std::size_t>(source.shape.size().at(dims)));
  for (double& x : values) {
    if (!is_floating(source.dtype)) x = numbers.below(source.dtype == DType::boolean ? 2 : 5);
  }
  return values;
}

/// Compares all fetched values and all variables after the run. Returns the first difference, empty if there is none.
inline std::string check_plan(const Graph& graph, const Dims& dims, const std::vector<std::string_view>& fetched,
                              const std::vector<std::string_view>& targets, std::uint64_t seed = 1) {
  ConstexprVector<int> fetched_ids, target_ids;
  for (std::string_view f : fetched) fetched_ids.push_back(find_node(graph, f));
  for (std::string_view t : targets) target_ids.push_back(find_node(graph, t));
  const Stages stages(graph, fetched_ids, target_ids);
  PlanMachine machine(stages, dims);
  testing::Oracle oracle(graph);
  for (const PooledName& s : graph.symbols)
    oracle.set_dimension(graph.text_of(s), dims[static_cast<std::size_t>(s.node)]);
  Numbers numbers(seed);
  std::vector<std::pair<std::string_view, int>> variables;
  for (const PooledName& p : graph.names) {
    const Node& n = graph.nodes[static_cast<std::size_t>(p.node)];
    if (n.op->kind != OpKind::source) continue;
    const std::vector<double> values = random_elements(n, dims, numbers);
    const bool fed = n.is(op::placeholder);
    machine.source(fed ? AddressSpace::placeholder : AddressSpace::variable, p.node) = values;
    if (fed) oracle.feed(graph.text_of(p), values);
    if (n.is(op::variable)) oracle.set(graph.text_of(p), values);
    if (n.is(op::variable)) variables.emplace_back(graph.text_of(p), p.node);
  }
  std::vector<std::string_view> all = fetched;
  all.insert(all.end(), targets.begin(), targets.end());
  oracle.run(all);
  try {
    machine.run();
    for (std::size_t i = 0; i < fetched.size(); ++i) {
      const std::string wrong = difference(oracle[fetched[i]].data, machine.fetched(i));
      if (!wrong.empty()) return "fetched " + std::string(fetched[i]) + wrong;
    }
  } catch (const std::logic_error& e) {
    return e.what();
  }
  for (const auto& [name, node] : variables) {
    const std::string wrong = difference(oracle.variable(name), machine.source(AddressSpace::variable, node));
    if (!wrong.empty()) return "variable " + std::string(name) + wrong;
  }
  return {};
}

}  // namespace crochet
