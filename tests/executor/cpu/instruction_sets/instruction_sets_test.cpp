// SPDX-License-Identifier: Apache-2.0
// Files of one program may be compiled for different instruction sets: the linker merges functions of one name, and the
// functions that depend on the instruction set have different names (base/instruction_set.hpp). CMakeLists.txt links
// this program in both orders of the files.
#include "network.hpp"

#include <gtest/gtest.h>

namespace two_instruction_sets {
namespace {

void expect_near(const std::vector<float>& a, const std::vector<float>& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_LT(a.back(), a.front());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << "step " << i;
}

TEST(InstructionSets, FilesOfOneProgramMayDiffer) {
  const Losses narrow = losses_without_options(), wide = losses_with_avx2();
  expect_near(narrow.of_own_model, wide.of_own_model, 1e-4F);
  expect_near(narrow.of_own_model, narrow.of_shared_model, 1e-4F);
  expect_near(wide.of_own_model, wide.of_shared_model, 1e-4F);
  expect_near(narrow.rounded, wide.rounded, 1e-2F);
}

TEST(InstructionSets, KeysOfStateAreTheSame) {
  EXPECT_EQ(losses_without_options().device, losses_with_avx2().device) << "a checkpoint is restored on any processor";
}

}  // namespace
}  // namespace two_instruction_sets
