// SPDX-License-Identifier: Apache-2.0
// Saves interrupted by a power cut: every state of the folder that POSIX permits contains a complete checkpoint.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"
#include "machine.hpp"

namespace crochet {
namespace crash_states_test {

/// An operation on the disk. `file` is the index of the file, in the order of creation.
struct Operation {
  enum Kind { create, write, sync, rename, remove, sync_folder } kind;
  std::string name{}, to{};
  std::size_t file = 0;
  std::string bytes{};
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// Files on disk that record each operation.
class RecordedFiles final : public io::FileSystem {
 public:
  std::vector<Operation> done;

  std::unique_ptr<io::OutputFile> create(const std::filesystem::path& path, std::error_code& error) override {
    std::unique_ptr<io::OutputFile> file = quick_.create(path, error);
    if (!file) return nullptr;
    done.push_back({Operation::create, name(path), {}, count_});
    return std::make_unique<File>(*this, count_++, std::move(file));
  }
  std::error_code rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    done.push_back({Operation::rename, name(from), name(to)});
    return quick_.rename(from, to);
  }
  std::error_code remove(const std::filesystem::path& path) override {
    done.push_back({Operation::remove, name(path)});
    return quick_.remove(path);
  }
  std::error_code sync_folder(const std::filesystem::path&) override {
    done.push_back({Operation::sync_folder});
    return {};
  }

 private:
  class File final : public io::OutputFile {
   public:
    File(RecordedFiles& files, std::size_t number, std::unique_ptr<io::OutputFile> file)
        : files_(&files), number_(number), file_(std::move(file)) {}
    std::error_code write(std::span<const std::byte> bytes) override {
      const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (!text.empty()) files_->done.push_back({Operation::write, {}, {}, number_, text});
      return file_->write(bytes);
    }
    std::error_code start_sync() override { return file_->start_sync(); }
    std::error_code sync() override {
      files_->done.push_back({Operation::sync, {}, {}, number_});
      return file_->sync();
    }
    std::error_code close() override { return file_->close(); }

   private:
    RecordedFiles* files_;
    std::size_t number_;
    std::unique_ptr<io::OutputFile> file_;
  };
  static std::string name(const std::filesystem::path& path) { return path.filename().string(); }

  test::LocalFilesWithoutSync quick_;
  std::size_t count_ = 0;
};

/// The content of a folder: names and bytes.
using Folder = std::map<std::string, std::string>;

/// The possible states of the disk when the machine stops. Synced data exists. Of the names that changed since the last
/// sync of the folder, any subset exists, in any order. Of the bytes that were written to a file since its last sync,
/// none, half, all, or zeros in their place exist.
class Disk {
 public:
  void apply(const Operation& op) {
    switch (op.kind) {
      case Operation::create:
        contents_[op.file] = {};
        names_[op.name] = op.file;
        pending_.push_back({op.name, op.file, {}});
        break;
      case Operation::write:
        contents_[op.file].written += op.bytes;
        break;
      case Operation::sync:
        contents_[op.file].synced = contents_[op.file].written;
        break;
      case Operation::rename:
        pending_.push_back({op.to, names_.at(op.name), op.name});
        names_[op.to] = names_.at(op.name);
        names_.erase(op.name);
        break;
      case Operation::remove:
        if (names_.erase(op.name) > 0) pending_.push_back({op.name, std::nullopt, {}});
        break;
      case Operation::sync_folder:
        pending_.clear();
        durable_ = names_;
        break;
    }
  }
  /// Calls visit(folder) for each possible state.
  template <class Visit>
  void each_state(const Visit& visit) const {
    ASSERT_LT(pending_.size(), 12U) << "too many to try all";
    for (std::size_t subset = 0; subset < std::size_t{1} << pending_.size(); ++subset) {
      std::map<std::string, std::size_t> names = durable_;
      for (std::size_t i = 0; i < pending_.size(); ++i) {
        if (((subset >> i) & 1) != 0) pending_[i].apply(names);
      }
      fill(names, names.begin(), {}, visit);
    }
  }

 private:
  struct Contents {
    std::string written, synced;
  };
  /// A name is assigned a file, or removed. A rename removes the old name at the same time.
  struct Change {
    std::string name;
    std::optional<std::size_t> file;
    std::string from;
    void apply(std::map<std::string, std::size_t>& names) const {
      if (const auto old = names.find(from); old != names.end() && old->second == file) names.erase(old);
      if (file) {
        names[name] = *file;
      } else {
        names.erase(name);
      }
    }
  };
  using Names = std::map<std::string, std::size_t>;

  template <class Visit>
  void fill(const Names& names, Names::const_iterator at, Folder folder, const Visit& visit) const {
    if (at == names.end()) return visit(folder);
    const Contents& contents = contents_.at(at->second);
    const std::size_t fresh = contents.written.size() - contents.synced.size();
    const std::set<std::string> versions{contents.synced,
                                         contents.synced + contents.written.substr(contents.synced.size(), fresh / 2),
                                         contents.written, contents.synced + std::string(fresh, '\0')};
    for (const std::string& version : versions) {
      folder[at->first] = version;
      fill(names, std::next(at), folder, visit);
    }
  }

  Names names_, durable_;
  std::map<std::size_t, Contents> contents_;
  std::vector<Change> pending_;
};

/// Recorded operations of saves, and where each step's save ended.
struct Recording {
  std::vector<Operation> operations;
  std::vector<std::pair<std::size_t, int>> saved;  // after this many operations the step is safe
};

template <class Format>
SaverOptions crash_options(io::FileSystem& files, std::vector<std::string>& said) {
  SaverOptions options;
  options.max_to_keep = 2;
  options.clock = [] { return 1.7e9; };
  options.say = [&said](std::string_view line) { said.emplace_back(line); };
  options.files = &files;
  return options;
}

/// Saves the steps; a step may occur twice. Step n is the n-th run.
template <class Format, bool InTheBackground>
Recording record(const std::vector<int>& steps) {
  const Directory dir;
  std::filesystem::create_directories(dir.path());
  RecordedFiles files;
  std::vector<std::string> said;
  Saver<Format> saver{dir.path(), crash_options<Format>(files, said)};
  AsyncSaver background{saver};
  Recording recording;
  for (const int step : steps) {
    Program<Count> program;
    for (int run = 0; run < step; ++run) program.session.run();
    if constexpr (InTheBackground) {
      background.save(program.session.raw_session(), step);
      (void)background.result();
    } else {
      saver.save(program.session.raw_session(), step);
    }
    recording.saved.emplace_back(files.done.size(), step);
  }
  recording.operations = files.done;
  return recording;
}

/// Restores from a folder with these files. `oldest` is the step that is safe; 0 if there is none.
template <class Format>
void expect_whole(const Folder& folder, int safe, int being_saved, bool save_again) {
  const Directory dir;
  std::filesystem::create_directories(dir.path());
  for (const auto& [name, bytes] : folder) Directory::write(dir / name, bytes);
  std::vector<std::string> said;
  test::LocalFilesWithoutSync quick;
  Saver<Format> saver{dir.path(), crash_options<Format>(quick, said)};
  Program<Count> program;
  const auto restored = saver.restore_latest(program.session.raw_session());
  if (!restored) {
    EXPECT_EQ(safe, 0) << "a checkpoint that was saved is lost";
    EXPECT_EQ(program.machine.n, 0);
  } else {
    EXPECT_TRUE(restored->step == safe || restored->step == being_saved) << restored->step;
    EXPECT_EQ(program.machine.n, 3 * restored->step) << "not the values of one step";
    EXPECT_EQ(program.chain.template get<Count>().runs, restored->step);
  }
  if (!save_again) return;
  program.session.run();
  saver.save(program.session.raw_session(), 50);
  Program<Count> again;
  const auto next =
      Saver<Format>(dir.path(), crash_options<Format>(quick, said)).restore_latest(again.session.raw_session());
  ASSERT_TRUE(next);
  EXPECT_EQ(next->prefix, saver.prefix_of(50));
  EXPECT_EQ(again.machine.w, program.machine.w);
}

/// Stops the machine after each operation. Returns the number of distinct states that were tested.
template <class Format>
std::size_t crash_everywhere(const Recording& recording) {
  Disk disk;
  std::size_t states = 0, saves = 0;
  int safe = 0;
  std::set<Folder> seen;
  for (std::size_t done = 0; done <= recording.operations.size(); ++done) {
    for (; saves < recording.saved.size() && recording.saved[saves].first == done; ++saves) {
      safe = recording.saved[saves].second;
      seen.clear();  // from here on the same files must satisfy more
    }
    const int next = saves < recording.saved.size() ? recording.saved[saves].second : safe;
    disk.each_state([&](const Folder& folder) {
      if (!seen.insert(folder).second || ::testing::Test::HasFailure()) return;
      SCOPED_TRACE("behind operation " + std::to_string(done) + ", state " + std::to_string(states) + ", step " +
                   std::to_string(safe) + " is safe, " + std::to_string(next) + " is being saved");
      expect_whole<Format>(folder, safe, next, states++ % 5 == 0);
    });
    if (done < recording.operations.size()) disk.apply(recording.operations[done]);
  }
  EXPECT_EQ(saves, recording.saved.size());
  ::testing::Test::RecordProperty("states", static_cast<int>(states));
  return states;
}

template <class Format>
class CrashStates : public ::testing::Test {};
using Formats = ::testing::Types<io::TensorBundle, io::Safetensors>;
struct FormatNames {
  template <class F>
  static std::string GetName(int) {
    return std::string(F::name);
  }
};
TYPED_TEST_SUITE(CrashStates, Formats, FormatNames);

TYPED_TEST(CrashStates, HaveAWholeCheckpointAfterTheFirstSave) {
  EXPECT_GT(crash_everywhere<TypeParam>(record<TypeParam, false>({1})), 20U);
}
TYPED_TEST(CrashStates, HaveAWholeCheckpointWhileOlderOnesAreRemoved) {
  EXPECT_GT(crash_everywhere<TypeParam>(record<TypeParam, false>({1, 2, 3, 4})), 100U);
}
TYPED_TEST(CrashStates, HaveAWholeCheckpointWhenAStepIsSavedAgain) {
  EXPECT_GT(crash_everywhere<TypeParam>(record<TypeParam, false>({2, 2, 1, 2})), 50U);
}
TYPED_TEST(CrashStates, AreTheSameInTheBackground) {
  EXPECT_EQ((record<TypeParam, true>({1, 2, 3}).operations), (record<TypeParam, false>({1, 2, 3}).operations));
}

/// Without the barriers the test fails: it detects their absence.
TYPED_TEST(CrashStates, AreTooManyWithoutTheBarriers) {
  Recording recording = record<TypeParam, false>({1, 2});
  Disk disk;
  bool lost = false;
  for (const Operation& op : recording.operations) {
    if (op.kind == Operation::sync) continue;
    disk.apply(op);
  }
  disk.each_state([&](const Folder& folder) {
    if (lost) return;
    const Directory dir;
    std::filesystem::create_directories(dir.path());
    for (const auto& [name, bytes] : folder) Directory::write(dir / name, bytes);
    std::vector<std::string> said;
    test::LocalFilesWithoutSync quick;
    Program<Count> program;
    Saver<TypeParam> saver{dir.path(), crash_options<TypeParam>(quick, said)};
    lost = !saver.restore_latest(program.session.raw_session());
  });
  EXPECT_TRUE(lost);
}

}  // namespace crash_states_test
}  // namespace crochet
