// SPDX-License-Identifier: Apache-2.0
// Training n + m steps gives the same bits as training n, being killed, and resuming for m. The environment variable
// CROCHET_KILLS is the number of kills of a child process (default 50; the preset `kill`: 1000).
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "directory.hpp"
#include "training.hpp"

namespace crochet {
namespace resume_test {

Saver<> saver_in(const std::filesystem::path& path, int max_to_keep = 3) {
  return Saver{path, {.max_to_keep = max_to_keep, .say = [](std::string_view) {}}};
}
Outcome train(const std::filesystem::path& path, const TrainingOptions& options) {
  const Saver<> saver = saver_in(path);
  return train_small(saver, options);
}

TEST(Resume, IsExactAtEveryStep) {
  const Directory undisturbed;
  const Outcome whole = train(undisturbed.path(), {.last_step = 12});
  EXPECT_EQ(whole.step, 12);
  EXPECT_GT(whole.bytes.size(), 3U * 4 * 12 * 33);
  for (std::int64_t n = 1; n < 12; ++n) {
    const Directory dir;
    const Outcome first = train(dir.path(), {.last_step = n, .save_steps = 5, .in_the_background = n % 2 == 0});
    EXPECT_NE(first.bytes, whole.bytes);
    const Outcome second = train(dir.path(), {.last_step = 12, .save_steps = 5, .seed = 99});
    EXPECT_TRUE(second == whole) << "resumed at step " << n;
  }
}

TEST(Resume, FromADamagedCheckpointTakesTheOneBefore) {
  const Directory undisturbed, dir;
  const Outcome whole = train(undisturbed.path(), {.last_step = 12});
  train(dir.path(), {.last_step = 9});
  const std::string data = (dir / "model.ckpt-9.data-00000-of-00001").string();
  std::filesystem::resize_file(data, std::filesystem::file_size(data) - 1);
  EXPECT_TRUE(train(dir.path(), {.last_step = 12}) == whole);
  EXPECT_TRUE(std::filesystem::exists(data + ".damaged"));
}

/// Trains in a child process, which writes the outcome into the directory. Kills the child after this many seconds if
/// it still runs. Returns whether it was killed.
bool train_and_kill(const Directory& dir, double seconds, bool in_the_background) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const Outcome outcome = train(dir.path(), {.in_the_background = in_the_background});
      io::write_whole_file(dir / "outcome", {std::as_bytes(std::span{outcome.bytes})});
      ::_exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "the child failed: %s\n", error.what());
      ::_exit(1);
    }
  }
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_until(start + std::chrono::duration<double>(seconds));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  return WIFSIGNALED(status);
}

TEST(Resume, SurvivesBeingKilledAtRandomMoments) {
  const char* const setting = std::getenv("CROCHET_KILLS");
  const int wanted = setting != nullptr ? std::atoi(setting) : 50;
  const Directory undisturbed;
  const auto start = std::chrono::steady_clock::now();
  const Outcome whole = train(undisturbed.path(), {});
  const double length = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  SplitMix64 random(static_cast<std::uint64_t>(start.time_since_epoch().count()));
  int kills = 0, trainings = 0, damaged = 0;
  while (kills < wanted && !::testing::Test::HasFailure()) {
    const Directory dir;
    // Half of the kills come early, so that a training is killed several times.
    const auto moment = [&] {
      return length * (random() % 2 == 0 ? 0.25 : 1.1) * static_cast<double>(random() >> 11) * 0x1p-53;
    };
    while (!std::filesystem::exists(dir / "outcome"))
      kills += train_and_kill(dir, moment(), trainings % 2 == 1) ? 1 : 0;
    EXPECT_EQ(Directory::text_of(dir / "outcome"), whole.bytes) << "after " << kills << " kills";
    for (const std::string& name : dir.names()) damaged += name.ends_with(".damaged") ? 1 : 0;
    ++trainings;
  }
  EXPECT_GE(kills, wanted);
  EXPECT_EQ(damaged, 0) << "a kill leaves no half checkpoint that looks whole";
  std::printf(
      "killed %d times in %d trainings of 30 steps, every other with saves in the background: every outcome is the "
      "undisturbed one\n",
      kills, trainings);
}

}  // namespace resume_test
}  // namespace crochet
