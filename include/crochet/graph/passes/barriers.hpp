// SPDX-License-Identifier: Apache-2.0
// place_barriers: a step waits for all threads if it touches what a step since the last barrier wrote, or writes what
// such a step touched. An item region counts as one step: in it every item stays on one thread.
#pragma once
#include <crochet/graph/plan.hpp>

namespace crochet {

namespace detail {
struct Touch {
  Region region;
  std::int32_t index;
  bool writes;
};

constexpr std::vector<Touch> touches(const Plan& p, const Step& s) {
  std::vector<Touch> all;
  auto touch = [&](std::int32_t value, bool writes) {
    if (value < 0) return;
    const Value& v = p.values[at(value)];
    if (v.region != Region::none && v.region != Region::items) all.push_back({v.region, v.index, writes});
  };
  for (std::int32_t operand : s.operands) touch(operand, false);
  if (s.instructions == 0) touch(s.root_value, true);
  for (std::int32_t i = s.first_instruction; i < s.first_instruction + s.instructions; ++i) {
    const Instruction& ins = p.instructions[at(i)];
    const bool stores = ins.kind == Instruction::Kind::store || ins.kind == Instruction::Kind::accumulate;
    if (stores || ins.kind == Instruction::Kind::load) {
      touch(p.accesses[at(s.first_access + ins.args[0])].value, stores);
    }
  }
  return all;
}

constexpr bool conflict(const std::vector<Touch>& a, const std::vector<Touch>& b) {
  for (const Touch& x : a) {
    for (const Touch& y : b) {
      if ((x.writes || y.writes) && x.region == y.region && x.index == y.index) return true;
    }
  }
  return false;
}
}  // namespace detail

constexpr Plan place_barriers(Plan p) {
  std::vector<detail::Touch> since;
  for (std::size_t k = 0; k < p.steps.size();) {
    Step& first = p.steps[k];
    const std::int32_t region = first.region;
    std::vector<detail::Touch> mine;
    do {
      for (const detail::Touch& t : detail::touches(p, p.steps[k])) mine.push_back(t);
    } while (++k < p.steps.size() && region >= 0 && p.steps[k].region == region);
    first.barrier = detail::conflict(mine, since);
    if (first.barrier) since.clear();
    for (const detail::Touch& t : mine) since.push_back(t);
  }
  return p;
}

}  // namespace crochet
