// SPDX-License-Identifier: Apache-2.0
// WaitJudge: when a rank's wait is too long.
#include <gtest/gtest.h>

#include <crochet/ranks/mpi/wait_judge.hpp>

namespace wait_judge_test {

using crochet::detail::CurrentCall;
using crochet::detail::WaitJudge;
using Verdict = WaitJudge::Verdict;

TEST(WaitJudge, WarnsOnceForACall) {
  WaitJudge judge({.warn_after_secs = 60});
  EXPECT_EQ(judge.judge(1, 100), Verdict::nothing);
  EXPECT_EQ(judge.judge(1, 159), Verdict::nothing);
  EXPECT_EQ(judge.judge(1, 160), Verdict::warn);
  EXPECT_EQ(judge.judge(1, 300), Verdict::nothing);
  EXPECT_EQ(judge.judge(3, 301), Verdict::nothing);
  EXPECT_EQ(judge.judge(3, 361), Verdict::warn);
}
TEST(WaitJudge, OutsideOfCallsNothingIsTooLong) {
  WaitJudge judge({.warn_after_secs = 1, .abort_after_secs = 1});
  EXPECT_EQ(judge.judge(2, 0), Verdict::nothing);
  EXPECT_EQ(judge.judge(2, 1000), Verdict::nothing);
}
TEST(WaitJudge, AbortsWhereItIsAllowed) {
  WaitJudge judge({.warn_after_secs = 0, .abort_after_secs = 10});
  EXPECT_EQ(judge.judge(1, 0), Verdict::nothing);
  EXPECT_EQ(judge.judge(1, 9.9), Verdict::nothing);
  EXPECT_EQ(judge.judge(1, 10), Verdict::abort);
}
TEST(WaitJudge, LooksOftenEnoughForItsLimits) {
  EXPECT_EQ(WaitJudge({}).period(), 1);
  EXPECT_EQ(WaitJudge({.warn_after_secs = 60, .abort_after_secs = 2}).period(), 0.5);
  EXPECT_EQ(WaitJudge({.warn_after_secs = 1e-9}).period(), 0.01);
}
TEST(CurrentCall, HasAnOddNumberInsideOfACall) {
  CurrentCall call;
  EXPECT_EQ(call.number() % 2, 0U);
  call.begin("MPI_Bcast");
  EXPECT_EQ(call.number() % 2, 1U);
  EXPECT_STREQ(call.name(), "MPI_Bcast");
  call.end();
  EXPECT_EQ(call.number() % 2, 0U);
}

}  // namespace wait_judge_test
