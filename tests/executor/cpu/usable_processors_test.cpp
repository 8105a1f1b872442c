// SPDX-License-Identifier: Apache-2.0
// The processors of a process: quotas of control groups of both versions, from files of a root of its own, and the
// affinity mask.
#include <crochet/executor/cpu/usable_processors.hpp>

#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "../../io/temporary_folder.hpp"

namespace crochet::cpu {
namespace usable_processors_test {

class Quota : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path at(folder.path().string() + path);
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text;
  }
  int processors() const { return processors_of_quota(folder.path().string()); }
  /// The processors of a cpu.max file of version 2.
  int of_max(const std::string& text) {
    write("/proc/self/cgroup", "0::/\n");
    write("/sys/fs/cgroup/cpu.max", text);
    return processors();
  }

  test::TemporaryFolder folder;
};

TEST_F(Quota, OfVersion2IsRoundedDownAndAtLeastOne) {
  EXPECT_EQ(of_max("200000 100000\n"), 2);
  EXPECT_EQ(of_max("150000 100000\n"), 1);
  EXPECT_EQ(of_max("399999 100000\n"), 3);
  EXPECT_EQ(of_max("20000 100000\n"), 1);
  EXPECT_EQ(of_max("50000 10000"), 5) << "without an end of line";
}

TEST_F(Quota, OfVersion2ThatIsAbsentOrMalformedIsNone) {
  EXPECT_EQ(processors(), 0) << "no files";
  for (const char* text : {"max 100000\n", "max\n", "", "\n", "200000\n", "200000 0\n", "-1 100000\n", "0 100000\n",
                           "200000 100000 7\n", "2e5 100000\n", "two 100000\n", "99999999999999999999 100000\n"}) {
    EXPECT_EQ(of_max(text), 0) << text;
  }
}

TEST_F(Quota, OfTheGroupsAroundCountsToo) {
  write("/proc/self/cgroup", "0::/a/b\n");
  write("/sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
  EXPECT_EQ(processors(), 8);
  write("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  EXPECT_EQ(processors(), 3);
  write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(processors(), 3);
}

TEST_F(Quota, OfAContainerWhosePathIsTheHosts) {
  write("/proc/self/cgroup", "0::/docker/0123456789abcdef\n");
  write("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(processors(), 4);
}

TEST_F(Quota, OfVersion1HasTwoFiles) {
  for (const std::string controller : {"cpu,cpuacct", "cpu"}) {
    write("/proc/self/cgroup", "11:memory:/x\n4:" + controller + ":/x\n1:name=systemd:/x\n");
    const std::string at = "/sys/fs/cgroup/" + controller + "/x/cpu.cfs_";
    write(at + "quota_us", "250000\n");
    EXPECT_EQ(processors(), 0) << "no period";
    write(at + "period_us", "100000\n");
    EXPECT_EQ(processors(), 2);
    write(at + "quota_us", "-1\n");
    EXPECT_EQ(processors(), 0) << "-1: no quota";
  }
}

TEST_F(Quota, LimitsTheAffinityAndNotTheReverse) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(processors_of_affinity(), CPU_COUNT(&before));
  of_max("100000 100000\n");
  EXPECT_EQ(usable_processors(folder.path().string()), 1);
  of_max("409600000 100000\n");
  EXPECT_EQ(usable_processors(folder.path().string()), CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++c) {
    if (CPU_ISSET(c, &before)) CPU_SET(c, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_processors(folder.path().string()), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace usable_processors_test
}  // namespace crochet::cpu
