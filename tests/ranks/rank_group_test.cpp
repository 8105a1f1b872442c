// SPDX-License-Identifier: Apache-2.0
// What a rank that fails does, in order: the others may wait for what its GPU has queued until they come to the roll
// call.
#include <crochet/ranks/rank_group.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>

namespace ranks_rank_group_test {

namespace cr = crochet;

/// One rank, which writes its calls down.
struct Recorded : cr::Solo {
  std::vector<std::string>* calls;

  explicit Recorded(std::vector<std::string>& to) : calls(&to) {}
  void all_gather(std::span<const std::byte> from, std::span<std::byte> to) const {
    calls->push_back("gathers");
    cr::Solo::all_gather(from, to);
  }
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) const { calls->push_back("broadcasts"); }
  void sum_on_device(const void*, void*, std::int64_t, cr::DType, double, void*) const { calls->push_back("sums"); }
  void give_up() const { calls->push_back("gives up"); }
  static void require() {}
};
static_assert(cr::DeviceCommunicator<Recorded>);

TEST(RankGroups, ARankThatFailsGivesUpItsGpusSumsBehindTheRollCall) {
  std::vector<std::string> calls;
  cr::RankGroup<Recorded> group{Recorded(calls)};
  group.fail("out of paper");
  EXPECT_EQ(calls, (std::vector<std::string>{"gathers", "broadcasts", "gives up"}));
  group.fail("out of ink");
  EXPECT_EQ(calls.size(), 3U) << "once";
  EXPECT_TRUE(group.over());
}

/// A network that is gone.
struct Unreachable : cr::Solo {
  static void all_gather(std::span<const std::byte>, std::span<std::byte>) { throw std::runtime_error("no route"); }
};

TEST(RankGroups, AFailureThatCannotBeReportedIsADiagnostic) {
  static std::string said;
  const cr::DiagnosticSink before = cr::set_diagnostic_sink([](std::string_view line) { said = line; });
  cr::RankGroup<Unreachable> group{Unreachable{}};
  group.fail("out of paper");
  cr::set_diagnostic_sink(before);
  EXPECT_TRUE(group.over());
  EXPECT_EQ(said, "crochet: rank 0 has failed and could not report it to the others: no route");
}

TEST(RankGroups, ALossBehindAFailureCallsNobody) {
  std::vector<std::string> calls;
  cr::RankGroup<Recorded> group{Recorded(calls)};
  group.fail("out of paper");
  calls.clear();
  EXPECT_THROW(group.lose(), cr::LogicError);
  EXPECT_EQ(calls, std::vector<std::string>());
}

}  // namespace ranks_rank_group_test
