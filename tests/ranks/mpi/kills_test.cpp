// SPDX-License-Identifier: Apache-2.0
// A training whose ranks are killed at random moments, and which goes on with another number of ranks, ends with the
// bits of one that nothing disturbed. CROCHET_KILLS is the number of kills (default 3). Arguments: the command that
// starts the training, in which the word RANKS is the number of ranks.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../checkpoint/directory.hpp"

namespace ranks_kills_test {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

std::vector<std::string>& command() {
  static std::vector<std::string> words;
  return words;
}

/// A running job. Its output goes to the file `log`.
class Job {
 public:
  Job(const std::filesystem::path& directory, int ranks) : directory_(directory), ranks_(ranks) {
    for (int r = 0; r < 4; ++r) std::filesystem::remove(directory / pid_file(r));
    std::vector<std::string> words = command();
    for (std::string& word : words) word = word == "RANKS" ? std::to_string(ranks) : word;
    words.push_back(directory.string());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string log = (directory / "log").string();
    process_ = ::fork();
    if (process_ == 0) {
      const int file = ::open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
      ::dup2(file, STDOUT_FILENO);
      ::dup2(file, STDERR_FILENO);
      ::execvp(arguments[0], arguments.data());
      ::_exit(127);
    }
  }

  /// Kills the rank if the job still runs. Waits until all ranks have started.
  void kill_rank(int rank, Seconds after) {
    const auto start = Clock::now();
    while (!all_started() && !ended() && Clock::now() - start < Seconds(30)) nap();
    const auto moment = Clock::now() + after;
    while (Clock::now() < moment && !ended()) nap();
    if (!ended()) ::kill(pid_of(rank), SIGKILL);
  }
  /// The exit status; -1 if the job hangs.
  int wait() {
    const auto start = Clock::now();
    while (!ended() && Clock::now() - start < Seconds(30)) nap();
    if (ended_) return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
    ::kill(process_, SIGKILL);
    ::waitpid(process_, &status_, 0);
    return -1;
  }

 private:
  static std::string pid_file(int rank) { return "pid." + std::to_string(rank); }
  static void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }
  [[nodiscard]] pid_t pid_of(int rank) const {
    pid_t pid = 0;
    std::ifstream(directory_ / pid_file(rank)) >> pid;
    return pid;
  }
  [[nodiscard]] bool all_started() const {
    for (int r = 0; r < ranks_; ++r) {
      if (pid_of(r) == 0) return false;
    }
    return true;
  }
  bool ended() {
    if (!ended_) ended_ = ::waitpid(process_, &status_, WNOHANG) == process_;
    return ended_;
  }

  std::filesystem::path directory_;
  int ranks_;
  pid_t process_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

std::string text_of(const std::filesystem::path& path) { return crochet::Directory::text_of(path); }

TEST(Kills, OfRanksChangeNothingWhateverTheNumberOfRanks) {
  const char* const setting = std::getenv("CROCHET_KILLS");
  const int wanted = setting != nullptr ? std::atoi(setting) : 3;
  const crochet::Directory undisturbed;
  std::filesystem::create_directories(undisturbed.path());
  const auto start = Clock::now();
  ASSERT_EQ(Job(undisturbed.path(), 2).wait(), 0) << text_of(undisturbed / "log");
  const Seconds length = Clock::now() - start;
  const std::string expected = text_of(undisturbed / "outcome");
  ASSERT_GT(expected.size(), 1000U);

  std::uint64_t state = static_cast<std::uint64_t>(start.time_since_epoch().count());
  const auto draw = [&](std::uint64_t below) {
    return ((state = state * 6364136223846793005U + 1442695040888963407U) >> 33U) % below;
  };
  int kills = 0, trainings = 0, jobs = 0;
  while (kills < wanted && !HasFailure()) {
    const crochet::Directory directory;
    std::filesystem::create_directories(directory.path());
    while (!std::filesystem::exists(directory / "outcome") && !HasFailure()) {
      const int ranks = std::vector{1, 2, 4}[draw(3)];
      Job job(directory.path(), ranks);
      // One job in four may end by itself, so that a training ends.
      job.kill_rank(static_cast<int>(draw(static_cast<std::uint64_t>(ranks))),
                    draw(4) == 0 ? Seconds(60) : length * static_cast<double>(draw(1000)) / 1000);
      const int status = job.wait();
      ++jobs;
      EXPECT_NE(status, -1) << "the job hangs: " << text_of(directory / "log");
      if (std::filesystem::exists(directory / "outcome")) continue;
      EXPECT_NE(status, 0);
      ++kills;
    }
    EXPECT_EQ(text_of(directory / "outcome") == expected, true) << "after " << kills << " kills";
    ++trainings;
  }
  EXPECT_GE(kills, wanted);
  std::printf("%d kills in %d trainings, %d jobs on 1, 2 or 4 ranks: each outcome is the undisturbed one\n", kills,
              trainings, jobs);
}

}  // namespace ranks_kills_test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ranks_kills_test::command().assign(argv + 1, argv + argc);
  return RUN_ALL_TESTS();
}
