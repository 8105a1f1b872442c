// SPDX-License-Identifier: Apache-2.0
// plan_number(): a number for the code of a plan, the same from every compiler.
#pragma once
#include <bit>
#include <cstdint>
#include <string_view>

#include <crochet/executor/cuda/plan_source.hpp>

namespace crochet::cuda {

/// FNV-1a over the source of a plan. Plans with equal code have equal numbers.
class PlanNumber {
 public:
  constexpr explicit PlanNumber(const PlanSource& plan) {
    add(plan.steps.size());
    for (const SourceStep& s : plan.steps) add_step(s);
    for (const SourceInstruction& i : plan.instructions) add_instruction(i);
    for (const SourceAccess& a : plan.accesses) {
      add(static_cast<std::uint64_t>(a.dtype));
      add(static_cast<std::uint64_t>(a.mode));
    }
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  constexpr void add_step(const SourceStep& s) {
    add_text(s.root);
    for (const bool flag : {s.epilogue, s.reduces, s.scalar, s.barrier}) add(flag ? 1 : 0);
    for (const std::int32_t n : {s.rank, s.types, s.first_instruction, s.instructions, s.first_access, s.accesses}) {
      add(static_cast<std::uint64_t>(n));
    }
    for (const DType type : s.dtypes) add(static_cast<std::uint64_t>(type));
  }
  constexpr void add_instruction(const SourceInstruction& i) {
    add(static_cast<std::uint64_t>(i.kind));
    add(static_cast<std::uint64_t>(i.dtype));
    add(static_cast<std::uint64_t>(i.operand));
    add_text(i.op);
    for (const std::int16_t arg : i.args) add(static_cast<std::uint64_t>(arg));
    add(std::bit_cast<std::uint64_t>(i.immediate));
  }
  constexpr void add_text(std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<unsigned char>(c));
  }
  constexpr void add(std::uint64_t x) {
    constexpr std::uint64_t prime = 0x100000001b3;
    value_ = (value_ ^ x) * prime;
  }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

constexpr std::uint64_t plan_number(const PlanSource& plan) { return PlanNumber(plan).value(); }

}  // namespace crochet::cuda
