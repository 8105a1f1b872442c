// SPDX-License-Identifier: Apache-2.0
// Interrupted and failing saves, at every byte and call, and damage at every bit. The last good checkpoint is never
// lost, and damaged data is never accepted.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sched.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <crochet/io/checkpoint_state.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/storage/whole_file.hpp>

#include "faulty_files.hpp"
#include "temporary_folder.hpp"

namespace durability_test {

using namespace crochet::io;
using namespace crochet::test;
namespace fs = std::filesystem;

/// A checkpoint of a step: floats, the step, and strings.
struct Saved {
  explicit Saved(std::int64_t at) : step(at), weights(5, static_cast<float>(at)), texts{"ab", "", std::to_string(at)} {}
  std::vector<TensorRecord> records() const {
    return {tensor_record<float>("w", weights, five),
            tensor_record<std::int64_t>("global_step", {&step, 1}, {}),
            {"texts", DataType::string, three, {}, texts}};
  }
  std::int64_t step;
  std::vector<float> weights;
  std::array<std::string, 3> texts;
  std::array<std::int64_t, 1> five{5}, three{3};
};

/// The step of a checkpoint. Checks that all of its values are of this step.
template <class Format>
std::int64_t step_of(const fs::path& prefix) {
  const typename Format::Reader reader{prefix};
  std::int64_t step = 0;
  std::vector<float> weights(5);
  reader.read(*reader.find("global_step"), std::as_writable_bytes(std::span{&step, 1}));
  reader.read(*reader.find("w"), std::as_writable_bytes(std::span{weights}));
  const Saved expected{step};
  EXPECT_EQ(weights, expected.weights);
  EXPECT_EQ(reader.read_strings(*reader.find("texts")),
            (std::vector<std::string>(expected.texts.begin(), expected.texts.end())));
  return step;
}

void write_text(const fs::path& path, std::string_view text) {
  LocalFilesWithoutSync files;
  write_whole_file(path, {std::as_bytes(std::span{text})}, files);
}

template <class Format>
class Durability : public testing::Test {};
using Formats = testing::Types<TensorBundle, Safetensors>;
struct FormatNames {
  template <class F>
  static std::string GetName(int) {
    return std::string(F::name);
  }
};
TYPED_TEST_SUITE(Durability, Formats, FormatNames);

TYPED_TEST(Durability, EveryFlippedBitIsNoticed) {
  const TemporaryFolder folder;
  TypeParam::write(folder / "a", Saved{7}.records());
  std::size_t flips = 0;
  for (const fs::path& file : TypeParam::files(folder / "a")) {
    const std::string good = read_whole_file(file);
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit, ++flips) {
      std::string bad = good;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
      write_text(file, bad);
      EXPECT_THROW(typename TypeParam::Reader{folder / "a"}.verify(), crochet::DataLossError)
          << file << ": bit " << bit % 8 << " of byte " << bit / 8;
    }
    write_text(file, good);
  }
  EXPECT_GT(flips, 1500u);
  EXPECT_EQ(step_of<TypeParam>(folder / "a"), 7);
}

TYPED_TEST(Durability, EveryTruncationIsNoticed) {
  const TemporaryFolder folder;
  TypeParam::write(folder / "a", Saved{7}.records());
  for (const fs::path& file : TypeParam::files(folder / "a")) {
    const std::string good = read_whole_file(file);
    for (std::size_t size = 0; size < good.size(); ++size) {
      write_text(file, std::string_view{good}.substr(0, size));
      try {
        typename TypeParam::Reader{folder / "a"}.verify();
        ADD_FAILURE() << file << " of " << size << " bytes";
      } catch (const crochet::DataLossError& error) {
        EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos) << error.what();
      }
    }
    fs::remove(file);
    EXPECT_THROW(typename TypeParam::Reader{folder / "a"}, crochet::IoError) << file;
    write_text(file, good);
  }
}

// Stops the machine at every written byte and every call. Until the new checkpoint is complete, the checkpoint of an
// earlier step and the one with the same prefix both exist.
TYPED_TEST(Durability, AStopAtAnyByteKeepsTheLastCheckpoint) {
  const TemporaryFolder folder;
  for (int round = 0; round < 2; ++round) {  // data files alternate between two names
    bool finished = false;
    std::size_t stops = 0, old = 0;
    for (std::size_t budget = 0; !finished; ++budget) {
      LocalFilesWithoutSync files;
      for (const fs::path& file : fs::directory_iterator(folder.path())) fs::remove(file);
      TypeParam::write(folder / "m-1", Saved{1}.records(), files);
      for (int i = 0; i <= round; ++i) TypeParam::write(folder / "m-2", Saved{2}.records(), files);
      FaultyFiles faulty{budget};
      try {
        TypeParam::write(folder / "m-2", Saved{3}.records(), faulty);
        finished = true;
      } catch (const MachineStopped&) {
        ++stops;
      }
      EXPECT_EQ(step_of<TypeParam>(folder / "m-1"), 1) << budget;
      const std::int64_t step = step_of<TypeParam>(folder / "m-2");
      EXPECT_TRUE(step == 2 || step == 3) << budget;
      EXPECT_TRUE(step == 3 || !finished);
      if (step == 2) ++old;
      // The files that the stop left do not disturb the next save.
      if (budget % 8 == 0) {
        TypeParam::write(folder / "m-2", Saved{4}.records(), files);
        EXPECT_EQ(step_of<TypeParam>(folder / "m-2"), 4);
      }
      remove_checkpoint<TypeParam>(folder / "m-2");
      EXPECT_EQ(TypeParam::files(folder / "m-2").size(), 0u);
    }
    EXPECT_GT(stops, 150u);
    EXPECT_GT(old, 150u);
  }
}

TYPED_TEST(Durability, AFirstCheckpointIsWholeOrNotThere) {
  const TemporaryFolder folder;
  bool finished = false;
  for (std::size_t budget = 0; !finished; ++budget) {
    FaultyFiles faulty{budget};
    try {
      TypeParam::write(folder / "m-1", Saved{1}.records(), faulty);
      finished = true;
    } catch (const MachineStopped&) {
    }
    if (checkpoint_exists<TypeParam>(folder / "m-1")) {
      EXPECT_EQ(step_of<TypeParam>(folder / "m-1"), 1) << budget;
    } else {
      EXPECT_FALSE(finished);
    }
    remove_checkpoint<TypeParam>(folder / "m-1");
  }
}

/// Notes the folders with a rename that is not on the disk yet.
class NotesRenames final : public LocalFilesWithoutSync {
 public:
  std::error_code rename(const fs::path& from, const fs::path& to) override {
    unsynced.insert(to.parent_path());
    return LocalFilesWithoutSync::rename(from, to);
  }
  std::error_code sync_folder(const fs::path& folder) override {
    unsynced.erase(folder);
    return {};
  }
  std::set<fs::path> unsynced;
};

TYPED_TEST(Durability, ItsNamesAreOnTheDiskWhenWriteReturns) {
  const TemporaryFolder folder;
  NotesRenames files;
  TypeParam::write(folder / "a", Saved{1}.records(), files);
  EXPECT_TRUE(files.unsynced.empty());
}

TEST(WholeFile, ItsNameIsOnTheDiskWhenWriteReturns) {
  const TemporaryFolder folder;
  NotesRenames files;
  write_whole_file(folder / "a", {}, files);
  EXPECT_TRUE(files.unsynced.empty());
}

// Every byte and every call fails, with each error that a disk can have. The error names the file and the reason, no
// temporary file stays, and the previous checkpoint still exists.
TYPED_TEST(Durability, AFailureAtAnyByteNamesFileAndCause) {
  const TemporaryFolder folder;
  LocalFilesWithoutSync files;
  TypeParam::write(folder / "m-2", Saved{2}.records(), files);
  const std::size_t before = TypeParam::files(folder / "m-2").size();
  for (const std::errc cause : {std::errc::no_space_on_device, std::errc::permission_denied,
                                std::errc::read_only_file_system, std::errc::io_error}) {
    bool finished = false;
    for (std::size_t budget = 0; !finished; ++budget) {
      FaultyFiles faulty{budget, std::make_error_code(cause)};
      try {
        TypeParam::write(folder / "m-2", Saved{3}.records(), faulty);
        finished = true;
      } catch (const crochet::IoError& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find(std::make_error_code(cause).message()), std::string::npos) << what;
        EXPECT_NE(what.find(folder.path().string()), std::string::npos) << what;
      }
      const std::int64_t step = step_of<TypeParam>(folder / "m-2");
      EXPECT_TRUE(step == 2 || step == 3) << budget;
      if (step == 3 && !finished) {  // failed at the sync of the folder or the removal of the old data
        TypeParam::write(folder / "m-2", Saved{2}.records(), files);
      } else if (!finished) {
        EXPECT_LE(TypeParam::files(folder / "m-2").size(), before + 1) << budget;
        for (const fs::path& file : TypeParam::files(folder / "m-2")) EXPECT_NE(file.extension(), ".tmp") << budget;
      }
    }
    remove_checkpoint<TypeParam>(folder / "m-2");
    TypeParam::write(folder / "m-2", Saved{2}.records(), files);
  }
}

TEST(CheckpointStateDurability, AStopAtAnyByteKeepsTheState) {
  const TemporaryFolder folder;
  const auto state = [&](const std::string& name) {
    return CheckpointState{.newest = folder / name, .all = {folder / name}, .timestamps = {}, .last_preserved = 0};
  };
  bool finished = false;
  for (std::size_t budget = 0; !finished; ++budget) {
    LocalFilesWithoutSync files;
    write_checkpoint_state(folder.path(), state("m-1"), "checkpoint", files);
    FaultyFiles faulty{budget};
    try {
      write_checkpoint_state(folder.path(), state("m-2"), "checkpoint", faulty);
      finished = true;
    } catch (const MachineStopped&) {
    }
    const fs::path newest = read_checkpoint_state(folder.path())->newest;
    EXPECT_TRUE(newest == folder / "m-2" || (newest == folder / "m-1" && !finished)) << budget;
  }
}

// ---- The same with failures of the kernel

/// The result of `body` in a child process; empty if the child could not be prepared.
std::optional<std::string> in_child(const std::function<std::optional<std::string>()>& body) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    const std::optional<std::string> result = body();
    const bool sent = result && write(ends[1], result->data(), result->size()) == static_cast<ssize_t>(result->size());
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  std::string result(4096, '\0');
  const ssize_t n = read(ends[0], result.data(), result.size());
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (n < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  result.resize(static_cast<std::size_t>(n));
  return result;
}

template <class Format>
std::string error_of_save(const fs::path& prefix, std::size_t floats = 5) {
  const std::vector<float> weights(floats, 3);
  const std::array<std::int64_t, 1> shape{static_cast<std::int64_t>(floats)};
  try {
    Format::write(prefix, std::vector{tensor_record<float>("w", weights, shape)});
    return "nothing was wrong";
  } catch (const crochet::IoError& error) {
    return error.what();
  }
}

void expect_both(const std::string& text, std::string_view file, std::string_view cause) {
  EXPECT_NE(text.find(file), std::string::npos) << text;
  EXPECT_NE(text.find(cause), std::string::npos) << text;
}

TYPED_TEST(Durability, AFileThatMayNotGrow) {
  const TemporaryFolder folder;
  TypeParam::write(folder / "m-2", Saved{2}.records());
  const std::optional<std::string> error = in_child([&]() -> std::optional<std::string> {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::nullopt;
    return error_of_save<TypeParam>(folder / "m-2", 100'000);
  });
  ASSERT_TRUE(error.has_value());
  expect_both(*error, (folder / "m-2").string(), "File too large");
  EXPECT_EQ(step_of<TypeParam>(folder / "m-2"), 2);
}

/// Runs `body` with the folder on a separate disk of one megabyte. Empty if this user may not mount one.
std::optional<std::string> on_small_disk(const fs::path& folder, const std::function<std::string()>& body) {
  return in_child([&]() -> std::optional<std::string> {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") != 0) {
      return std::nullopt;
    }
    return body();
  });
}

TYPED_TEST(Durability, AFullDisk) {
  const TemporaryFolder folder;
  const std::optional<std::string> error = on_small_disk(folder.path(), [&] {
    TypeParam::write(folder / "m-2", Saved{2}.records());
    std::string result = error_of_save<TypeParam>(folder / "m-3", 400'000);
    if (step_of<TypeParam>(folder / "m-2") != 2) result = "the last one is gone";
    if (!TypeParam::files(folder / "m-3").empty()) result = "something is left";
    if (error_of_save<TypeParam>(folder / "m-4") != "nothing was wrong") result = "nothing fits any more";
    return result;
  });
  if (!error) GTEST_SKIP() << "only root may mount a small disk";
  expect_both(*error, (folder / "m-3").string(), "No space left on device");
}

TYPED_TEST(Durability, AReadOnlyFileSystem) {
  const TemporaryFolder folder;
  const std::optional<std::string> error = on_small_disk(folder.path(), [&]() -> std::string {
    TypeParam::write(folder / "m-2", Saved{2}.records());
    if (mount(nullptr, folder.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return "cannot remount";
    const std::string result = error_of_save<TypeParam>(folder / "m-2");
    return step_of<TypeParam>(folder / "m-2") == 2 ? result : "the last one is gone";
  });
  if (!error) GTEST_SKIP() << "only root may mount a disk";
  expect_both(*error, (folder / "m-2").string(), "Read-only file system");
}

TYPED_TEST(Durability, NoPermission) {
  const TemporaryFolder folder;
  TypeParam::write(folder / "m-2", Saved{2}.records());
  fs::permissions(folder.path(),
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const std::optional<std::string> error = in_child([&]() -> std::optional<std::string> {
    if (geteuid() == 0 && setuid(65534) != 0) return std::nullopt;  // root ignores permissions
    return error_of_save<TypeParam>(folder / "m-2");
  });
  fs::permissions(folder.path(), fs::perms::owner_all);
  ASSERT_TRUE(error.has_value());
  expect_both(*error, (folder / "m-2").string(), "Permission denied");
  EXPECT_EQ(step_of<TypeParam>(folder / "m-2"), 2);
}

TYPED_TEST(Durability, AFolderThatIsNotThere) {
  const TemporaryFolder folder;
  expect_both(error_of_save<TypeParam>(folder / "no/m-1"), (folder / "no/m-1").string(), "No such file or directory");
  try {
    typename TypeParam::Reader{folder / "m-1"};
    ADD_FAILURE();
  } catch (const crochet::DataLossError&) {
    ADD_FAILURE() << "it is not damaged, it is not there";
  } catch (const crochet::IoError& error) {
    expect_both(error.what(), (folder / "m-1").string(), "No such file or directory");
  }
}

}  // namespace durability_test
