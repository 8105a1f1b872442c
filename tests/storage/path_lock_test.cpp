// SPDX-License-Identifier: Apache-2.0
// PathLock: one process at a time, also after a crash of the owner.
#include <crochet/storage/path_lock.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "../io/current_folder.hpp"
#include "../io/process.hpp"
#include "../io/temporary_folder.hpp"

namespace path_lock_test {

namespace fs = std::filesystem;
using crochet::FailedPreconditionError;
using crochet::IoError;
using crochet::io::PathLock;
using crochet::test::CurrentFolder;
using crochet::test::Process;
using crochet::test::TemporaryFolder;

/// Why another process cannot lock the folder; empty if it can.
std::string refusal(const fs::path& folder) {
  return Process{[&] {
           PathLock::of_folder(folder);
           return std::string{};
         }}
      .report();
}
/// Locks the folder for the rest of the process.
std::string keep(const fs::path& folder) {
  static std::vector<PathLock>& kept = *new std::vector<PathLock>;
  kept.push_back(PathLock::of_folder(folder));
  return "taken";
}

TEST(PathLock, RefusesAnotherProcessAndNamesTheOwner) {
  const TemporaryFolder folder;
  const PathLock lock = PathLock::of_folder(folder.path());
  EXPECT_TRUE(lock.holds());
  EXPECT_TRUE(lock.enforced());
  EXPECT_EQ(refusal(folder.path()), "crochet: " + folder.path().string() + " is in use by process " +
                                        std::to_string(::getpid()) +
                                        "; end that program, or give this one another path");
}

TEST(PathLock, RefusesAnotherProcessWhateverItWroteIntoTheFile) {
  const TemporaryFolder folder;
  const fs::path file = folder / ".crochet-lock";
  for (const char* line : {"12 \n", "12  ", "12\n", "12", " 12", "\n", "", "12 a b\n"}) {
    std::ofstream(file, std::ios::binary) << line;
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::flock(descriptor, LOCK_EX), 0);
    EXPECT_THROW(PathLock::of_folder(folder.path()), FailedPreconditionError) << '"' << line << '"';
    ::close(descriptor);
  }
}

TEST(PathLock, IsOneForAllSpellingsOfAPathInOneProcess) {
  const TemporaryFolder folder;
  const fs::path run = folder / "run";
  fs::create_directory(run);
  fs::create_directory_symlink(run, folder / "link");
  {
    std::vector<PathLock> locks{PathLock::of_folder(run), PathLock::of_folder(folder / "link"),
                                PathLock::of_folder(folder.path() / "link" / ".." / "run")};
    {
      const CurrentFolder here{folder.path()};
      locks.push_back(PathLock::of_folder("run"));
      locks.push_back(locks.back());
    }
    while (!locks.empty()) {
      EXPECT_TRUE(locks.back().holds());
      EXPECT_NE(refusal(folder / "link"), "") << locks.size();
      locks.pop_back();
    }
  }
  EXPECT_EQ(refusal(run), "");
  EXPECT_TRUE(fs::is_empty(run)) << "the last one removes the file";
}

TEST(PathLock, OfAKilledProcessIsTakenOver) {
  const TemporaryFolder folder;
  Process owner{[&] { return keep(folder.path()); }};
  ASSERT_EQ(owner.report(), "taken");
  try {
    PathLock::of_folder(folder.path());
    ADD_FAILURE() << "two processes have it";
  } catch (const FailedPreconditionError& error) {
    EXPECT_NE(std::string(error.what()).find(owner.name() + ";"), std::string::npos) << error.what();
  }
  owner.kill();
  EXPECT_TRUE(fs::exists(folder / ".crochet-lock")) << "the test is about what a killed process leaves";
  const PathLock lock = PathLock::of_folder(folder.path());
  EXPECT_TRUE(lock.holds());
  EXPECT_NE(refusal(folder.path()).find("process " + std::to_string(::getpid()) + ";"), std::string::npos);
}

TEST(PathLock, IsNotInheritedByAFork) {
  const TemporaryFolder folder;
  std::optional<PathLock> lock = PathLock::of_folder(folder.path());
  Process child{[&] {
    std::string report = lock->holds() ? "holds; " : "does not hold; ";
    lock.reset();  // no lock is released
    try {
      keep(folder.path());
    } catch (const FailedPreconditionError& error) {
      report += error.what();
    }
    return report;
  }};
  EXPECT_EQ(child.report(), "does not hold; crochet: " + folder.path().string() + " is in use by process " +
                                std::to_string(::getpid()) + "; end that program, or give this one another path");
  EXPECT_TRUE(lock->holds());
  lock.reset();
  EXPECT_EQ(refusal(folder.path()), "") << "the child, which is still there, keeps it";
}

TEST(PathLock, OfAKilledProcessIsFreeWhileItsChildrenLive) {
  const TemporaryFolder folder;
  std::FILE* out = nullptr;
  Process owner{[&] {
    keep(folder.path());
    static Process forked{[] { return std::string{}; }};
    out = ::popen("cat > /dev/null", "w");  // runs until its parent has ended
    return std::string("taken");
  }};
  ASSERT_EQ(owner.report(), "taken");
  EXPECT_NE(refusal(folder.path()), "");
  owner.kill();
  EXPECT_EQ(refusal(folder.path()), "");
}

TEST(PathLock, NoticesThatItsFileOrFolderIsGone) {
  const TemporaryFolder folder;
  const fs::path run = folder / "run";
  fs::create_directory(run);
  PathLock lock = PathLock::of_folder(run);
  fs::remove(run / ".crochet-lock");
  EXPECT_FALSE(lock.holds());
  lock = PathLock::of_folder(run);
  EXPECT_TRUE(lock.holds());
  EXPECT_NE(refusal(run), "");
  fs::remove_all(run);
  fs::create_directory(run);  // may get the same inode
  EXPECT_FALSE(lock.holds());
  lock = {};
  EXPECT_TRUE(fs::is_empty(run));
}

TEST(PathLock, OfAFileLeavesItsNeighboursFree) {
  const TemporaryFolder folder;
  const PathLock a = PathLock::of_file(folder / "a.csv");
  EXPECT_FALSE(fs::exists(folder / "a.csv"));
  const Process other{[&] {
    PathLock::of_file(folder / "b.csv");
    PathLock::of_folder(folder.path());
    PathLock::of_file(folder / "a.csv");
    return std::string("all three");
  }};
  EXPECT_EQ(other.report(), "crochet: " + (folder / "a.csv").string() + " is in use by process " +
                                std::to_string(::getpid()) + "; end that program, or give this one another path");
}

TEST(PathLock, SaysWhyAFolderCannotBeHad) {
  const TemporaryFolder folder;
  EXPECT_THROW(PathLock::of_folder(folder / "missing"), IoError);
  std::ofstream(folder / "file") << "precious";
  EXPECT_THROW(PathLock::of_folder(folder / "file"), IoError);
  fs::create_symlink(folder / "file", folder / ".crochet-lock");
  EXPECT_THROW(PathLock::of_folder(folder.path()), IoError) << "a link is not followed";
  std::ifstream file(folder / "file");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "precious");
}

TEST(PathLock, TellsNoProcessIdThatItDoesNotHave) {
  const TemporaryFolder folder;
  const PathLock lock = PathLock::of_folder(folder.path());
  std::ofstream(folder / ".crochet-lock", std::ios::trunc) << "";
  EXPECT_NE(refusal(folder.path()).find("in use by another process;"), std::string::npos) << refusal(folder.path());
  std::ofstream(folder / ".crochet-lock", std::ios::trunc) << "12 some-other-machine\n";
  EXPECT_NE(refusal(folder.path()).find("in use by process 12 on some-other-machine;"), std::string::npos);
  std::ofstream(folder / ".crochet-lock", std::ios::trunc) << std::string(5000, 'x');
  EXPECT_NE(refusal(folder.path()).find("in use by another process;"), std::string::npos);
}

}  // namespace path_lock_test
