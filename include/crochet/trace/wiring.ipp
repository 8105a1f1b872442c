// SPDX-License-Identifier: Apache-2.0
// The compiled half of wiring.hpp.
#pragma once

#include <crochet/trace/wiring.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

CROCHET_INLINE Wiring::Wiring(const RunTrace& run)
    : run_(run), step_of_(run.graph.nodes.size(), -1), inputs_(run.steps.size()), outputs_(run.steps.size()) {
  for (std::size_t k = 0; k < run.steps.size(); ++k) {
    for (const std::int32_t node : run.steps[k].nodes) {
      if (step_of(node) < 0) step_of_[index(node)] = static_cast<std::int32_t>(k);
    }
  }
  for (std::size_t k = 0; k < run.steps.size(); ++k) {
    step_of_[index(run.steps[k].node)] = static_cast<std::int32_t>(k);  // a node that is computed twice belongs to
                                                                        // this step
    outputs_[k].push_back(run.steps[k].node);
  }
  for (std::size_t k = 0; k < run.steps.size(); ++k) connect(k);
}

CROCHET_INLINE std::string Wiring::tensor(std::int32_t node) const {
  const std::int32_t step = step_of(node);
  if (step < 0) return std::string(run_.names[index(node)]);
  const std::vector<std::int32_t>& out = outputs_[index(step)];
  const auto position = std::find(out.begin(), out.end(), node) - out.begin();
  const std::string name(run_.names[index(out.front())]);
  return position == 0 ? name : name + ":" + std::to_string(position);
}

CROCHET_INLINE void Wiring::connect(std::size_t k) {
  for (const std::int32_t member : run_.steps[k].nodes) {
    for (const std::int32_t input : node(member).inputs) {
      if (input >= 0) read(k, made(input));
    }
  }
}

CROCHET_INLINE std::int32_t Wiring::made(std::int32_t i) const {
  while (step_of(i) < 0 && node(i).kind != OpKind::source && node(i).inputs[0] >= 0) i = node(i).inputs[0];
  return i;
}

CROCHET_INLINE void Wiring::read(std::size_t k, std::int32_t input) {
  const std::vector<std::int32_t>& own = run_.steps[k].nodes;
  if (node(input).op == "constant" || std::find(own.begin(), own.end(), input) != own.end()) return;
  add(inputs_[k], input);
  if (step_of(input) >= 0) add(outputs_[index(step_of(input))], input);
}

CROCHET_INLINE void Wiring::add(std::vector<std::int32_t>& list, std::int32_t i) {
  if (std::find(list.begin(), list.end(), i) == list.end()) list.push_back(i);
}

}  // namespace crochet::trace
