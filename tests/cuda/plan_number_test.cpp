// SPDX-License-Identifier: Apache-2.0
// The number of a plan: every part of the code changes it, and it is the same from every compiler.
#include <crochet/executor/cuda/plan_number.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace crochet::cuda {
namespace plan_number_test {

/// A plan of one loop: it loads, computes with a constant, and stores.
struct Plan {
  std::array<SourceStep, 1> steps{{{.first_instruction = 0, .instructions = 4, .first_access = 0, .accesses = 2}}};
  std::array<SourceInstruction, 4> instructions{{{.kind = Instruction::Kind::load},
                                                 {.kind = Instruction::Kind::constant, .immediate = 0.5},
                                                 {.kind = Instruction::Kind::compute, .op = "mul", .args = {0, 1, -1}},
                                                 {.kind = Instruction::Kind::store, .args = {1, 2}}}};
  std::array<SourceAccess, 2> accesses{};

  constexpr std::uint64_t number() const { return plan_number({steps, instructions, accesses}); }
};

/// The number after a change.
template <class Change>
std::uint64_t with(Change change) {
  Plan plan;
  change(plan);
  return plan.number();
}

TEST(PlanNumber, IsTheSameFromEveryCompiler) { static_assert(Plan{}.number() == 0xe183ac8f55a76704); }

TEST(PlanNumber, DependsOnEveryPartOfTheCode) {
  const std::set<std::uint64_t> numbers{Plan{}.number(),
                                        with([](Plan& p) { p.steps[0].root = "matmul"; }),
                                        with([](Plan& p) { p.steps[0].epilogue = true; }),
                                        with([](Plan& p) { p.steps[0].reduces = true; }),
                                        with([](Plan& p) { p.steps[0].scalar = true; }),
                                        with([](Plan& p) { p.steps[0].barrier = true; }),
                                        with([](Plan& p) { p.steps[0].rank = 3; }),
                                        with([](Plan& p) { p.steps[0].types = 3; }),
                                        with([](Plan& p) { p.steps[0].dtypes[2] = DType::int32; }),
                                        with([](Plan& p) { p.steps[0].instructions = 3; }),
                                        with([](Plan& p) { p.steps[0].accesses = 1; }),
                                        with([](Plan& p) { p.instructions[0].dtype = DType::float64; }),
                                        with([](Plan& p) { p.instructions[1].immediate = 0.25; }),
                                        with([](Plan& p) { p.instructions[2].op = "add"; }),
                                        with([](Plan& p) { p.instructions[2].operand = DType::int32; }),
                                        with([](Plan& p) { p.instructions[2].args[1] = 0; }),
                                        with([](Plan& p) { p.instructions[3].kind = Instruction::Kind::accumulate; }),
                                        with([](Plan& p) { p.accesses[1].mode = BroadcastMode::row; }),
                                        with([](Plan& p) { p.accesses[1].dtype = DType::float64; })};
  EXPECT_EQ(numbers.size(), 19U);
}

}  // namespace plan_number_test
}  // namespace crochet::cuda
