// SPDX-License-Identifier: Apache-2.0
// Compiled with -funsafe-math-optimizations, for which clang defines no macro. Every other test of the CPU executor is
// compiled without it.
#include <gtest/gtest.h>

#include <crochet/executor/cpu/sums_keep_their_order.hpp>

namespace {

TEST(SumsKeepTheirOrder, NotWithUnsafeMathOptimizations) {
  try {
    crochet::cpu::sums_keep_their_order<struct OfThisFile>();
    FAIL() << "nothing is thrown";
  } catch (const crochet::LogicError& e) {
    EXPECT_NE(std::string(e.what()).find("-fno-fast-math"), std::string::npos) << e.what();
  }
}

}  // namespace
