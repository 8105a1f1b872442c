// SPDX-License-Identifier: Apache-2.0
// find_lifetimes: computes between which barriers each slot is in use. Steps between two barriers may run concurrently,
// so a slot used by one of them is not reused by another: memory reuse never needs an additional barrier.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/plan.hpp>

namespace crochet {

/// `until`: for each fetched value, the step after which it is not read any more; -1 or an empty list: it is read after
/// the run.
constexpr Plan find_lifetimes(Plan p, const ConstexprVector<int>& until = {}) {
  ArenaSlot* const slots = p.slots.data();
  const Value* const values = p.values.data();
  for (ArenaSlot& s : p.slots) s.first = -1;
  std::int32_t phase = 0;
  const auto touch = [&](std::int32_t value) {
    if (value < 0 || values[value].space != AddressSpace::arena) return;
    ArenaSlot& s = slots[values[value].index];
    if (s.first < 0) s.first = phase;
    s.last = phase;
  };
  const Access* const accesses = p.accesses.data();
  ConstexprVector<std::int32_t> phases;
  for (const Step& s : p.steps) {
    phase += s.barrier ? 1 : 0;
    if (!until.empty()) phases.push_back(phase);
    for (std::size_t k = 0; k < max_inputs && s.operands[k] >= 0; ++k) touch(s.operands[k]);
    touch(s.root_value);
    for (std::int32_t a = s.first_access; a < s.first_access + s.accesses; ++a) touch(accesses[a].value);
  }
  for (std::size_t k = 0; k < p.fetched.size(); ++k) {
    const Value& v = values[p.fetched.data()[k]];
    if (v.space != AddressSpace::arena) continue;
    const bool early = k < until.size() && until.data()[k] >= 0;
    const std::int32_t last = early ? phases.data()[until.data()[k]] : phase;
    if (slots[v.index].last < last) slots[v.index].last = last;
  }
  return p;
}

}  // namespace crochet
