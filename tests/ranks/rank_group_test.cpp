// SPDX-License-Identifier: Apache-2.0
// What a rank that fails does, in order: the others may wait for what its GPU has queued until they come to the roll
// call.
#include <crochet/ranks/rank_group.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace ranks_rank_group_test
