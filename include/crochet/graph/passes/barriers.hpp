// SPDX-License-Identifier: Apache-2.0
// place_barriers: puts a barrier before a step that accesses memory written since the last barrier, or writes memory
// accessed since then. An item region counts as one step: within it every item stays on one thread.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/passes/plan.hpp>

namespace crochet {

namespace detail {
struct Touch {
  AddressSpace space;
  std::int32_t index;
  bool writes;
};

/// Appends a step's accesses to memory that all threads share.
constexpr void add_touches(const Plan& p, const Step& s, ConstexprVector<Touch>& all) {
  auto touch = [&](std::int32_t value, bool writes) {
    if (value < 0) return;
    const Value& v = p.values[at(value)];
    if (v.space != AddressSpace::none && v.space != AddressSpace::tile) all.push_back({v.space, v.index, writes});
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
}

/// The locations accessed since the last barrier, by region and index.
class Touched {
 public:
  constexpr explicit Touched(const Plan& p) {
    for (const Value& v : p.values) {
      if (v.space != AddressSpace::tile && v.index >= width_) width_ = v.index + 1;
    }
    last_.assign(at(width_) * static_cast<std::size_t>(AddressSpace::tile), 0);
  }
  /// Whether the location was accessed since the last barrier and at least one of the two accesses is a write.
  constexpr bool conflict(const Touch& t) const { return last_[place(t)] >= (t.writes ? read_ : read_ + 1); }
  constexpr void add(const Touch& t) {
    int& last = last_[place(t)];
    const int now = read_ + (t.writes ? 1 : 0);
    if (last < now) last = now;
  }
  constexpr void barrier() { read_ += 2; }

 private:
  constexpr std::size_t place(const Touch& t) const {
    return static_cast<std::size_t>(t.space) * at(width_) + at(t.index);
  }

  std::int32_t width_ = 0;
  int read_ = 1;               ///< the mark of a read since the last barrier; a write's is one more
  ConstexprVector<int> last_;  ///< the last mark, by location
};
}  // namespace detail

constexpr Plan place_barriers(Plan p) {
  detail::Touched since(p);
  ConstexprVector<detail::Touch> mine;
  for (std::size_t k = 0; k < p.steps.size();) {
    Step& first = p.steps[k];
    const std::int32_t region = first.region;
    mine.clear();
    do {
      detail::add_touches(p, p.steps[k], mine);
    } while (++k < p.steps.size() && region >= 0 && p.steps[k].region == region);
    for (const detail::Touch& t : mine) first.barrier = first.barrier || since.conflict(t);
    if (first.barrier) since.barrier();
    for (const detail::Touch& t : mine) since.add(t);
  }
  return p;
}

}  // namespace crochet
