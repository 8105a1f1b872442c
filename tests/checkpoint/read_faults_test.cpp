// SPDX-License-Identifier: Apache-2.0
// Transient read errors of the disk are reported as I/O errors, not as damage. No checkpoint is set aside or lost.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"
#include "machine.hpp"

namespace crochet {
namespace read_faults_test {

/// Files on disk. The read (or opening for reading) number `fails_at` fails, and the next one succeeds. A read returns
/// at most `most` bytes.
class FaultyReads final : public io::FileSystem {
 public:
  static constexpr std::size_t never = ~std::size_t{};
  explicit FaultyReads(std::size_t fails_at, std::size_t most = never) : fails_at_(fails_at), most_(most) {}

  std::size_t reads() const { return reads_; }

  std::unique_ptr<io::RandomAccessFile> open(const std::filesystem::path& path, std::error_code& error) override {
    if (fails(error)) return nullptr;
    std::unique_ptr<io::RandomAccessFile> file = FileSystem::open(path, error);
    return file ? std::make_unique<File>(*this, std::move(file)) : nullptr;
  }
  std::unique_ptr<io::OutputFile> create(const std::filesystem::path& path, std::error_code& error) override {
    return quick_.create(path, error);
  }
  std::error_code rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return quick_.rename(from, to);
  }
  std::error_code remove(const std::filesystem::path& path) override { return quick_.remove(path); }
  std::error_code sync_folder(const std::filesystem::path&) override { return {}; }

 private:
  class File final : public io::RandomAccessFile {
   public:
    File(FaultyReads& files, std::unique_ptr<io::RandomAccessFile> file) : files_(&files), file_(std::move(file)) {}
    std::uint64_t size() const override { return file_->size(); }
    std::size_t read(std::uint64_t offset, std::span<std::byte> to, std::error_code& error) override {
      if (files_->fails(error)) return 0;
      return file_->read(offset, to.first(std::min(to.size(), files_->most_)), error);
    }

   private:
    FaultyReads* files_;
    std::unique_ptr<io::RandomAccessFile> file_;
  };
  bool fails(std::error_code& error) {
    if (reads_++ != fails_at_) return false;
    error = std::make_error_code(std::errc::io_error);
    return true;
  }

  test::LocalFilesWithoutSync quick_;
  std::size_t fails_at_, most_;
  std::size_t reads_ = 0;
};

template <class Format>
class ReadFaults : public ::testing::Test {
 protected:
  ReadFaults() {
    test::LocalFilesWithoutSync quick;
    Saver<Format> saver{dir.path(), options(quick)};
    for (int step : {1, 2, 3}) {
      trained.session.run();
      saver.save(trained.session.raw_session(), step);
    }
    before = dir.names();
  }
  SaverOptions options(io::FileSystem& files) {
    return {.max_to_keep = 2, .say = [this](std::string_view line) { said.emplace_back(line); }, .files = &files};
  }
  /// Repeats `act` and fails its reads one after the other, until no read fails. Returns the number of failures.
  template <class Act>
  std::size_t fail_each_read(const Act& act) {
    for (std::size_t at = 0;; ++at) {
      FaultyReads files{at};
      said.clear();
      try {
        act(files);
        EXPECT_EQ(files.reads(), at) << "a read failed, and the result was used";
        return at;
      } catch (const DataLossError& error) {
        ADD_FAILURE() << "an I/O error is no damage: " << error.what();
      } catch (const IoError& error) {
        EXPECT_NE(std::string(error.what()).find("Input/output error"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find(dir.path().string()), std::string::npos) << error.what();
      }
      EXPECT_EQ(said, std::vector<std::string>{}) << "set aside, or passed over";
      EXPECT_EQ(dir.names(), before) << "read " << at;
      if (::testing::Test::HasFailure()) return at;
    }
  }

  Directory dir;
  std::vector<std::string> said;
  std::set<std::string> before;
  Program<Count> trained;
};
using Formats = ::testing::Types<io::TensorBundle, io::Safetensors>;
struct FormatNames {
  template <class F>
  static std::string GetName(int) {
    return std::string(F::name);
  }
};
TYPED_TEST_SUITE(ReadFaults, Formats, FormatNames);

TYPED_TEST(ReadFaults, OfARestoreAreErrorsAndTheNextTryHasTheNewest) {
  const auto restore = [&](FaultyReads& files) {
    Program<Count> again;
    EXPECT_EQ(
        Saver<TypeParam>(this->dir.path(), this->options(files)).restore_latest(again.session.raw_session())->step, 3);
    EXPECT_EQ(again.machine.w, this->trained.machine.w);
  };
  EXPECT_GT(this->fail_each_read(restore), 5U);
}

TYPED_TEST(ReadFaults, OfOneSaverAreForgotten) {
  FaultyReads files{4};
  Saver<TypeParam> saver{this->dir.path(), this->options(files)};
  Program<Count> again;
  EXPECT_THROW(saver.restore_latest(again.session.raw_session()), IoError);
  EXPECT_EQ(saver.restore_latest(again.session.raw_session())->step, 3);
  EXPECT_EQ(again.machine.w, this->trained.machine.w);
  EXPECT_EQ(again.chain.template get<Count>().runs, 3);
}

TYPED_TEST(ReadFaults, OfMustRestoreAreErrors) {
  const auto restore = [&](FaultyReads& files) {
    Program<Count> again;
    EXPECT_EQ(Saver<TypeParam>(this->dir.path(), this->options(files)).must_restore(again.session.raw_session()).step,
              3);
  };
  EXPECT_GT(this->fail_each_read(restore), 5U);
}

TYPED_TEST(ReadFaults, OfASaveLeaveTheOlderOnes) {
  const auto save = [&](FaultyReads& files) {
    Saver<TypeParam> saver{this->dir.path(), this->options(files)};
    EXPECT_EQ(saver.save(this->trained.session.raw_session(), 4), this->dir / "model.ckpt-4");
  };
  EXPECT_GT(this->fail_each_read(save), 3U);
  Program<Count> again;
  test::LocalFilesWithoutSync quick;
  EXPECT_EQ(
      Saver<TypeParam>(this->dir.path(), this->options(quick)).restore_latest(again.session.raw_session())->prefix,
      this->dir / "model.ckpt-4");
}

TYPED_TEST(ReadFaults, ThatAreShortReadsAreNone) {
  for (const std::size_t most : {1U, 2U, 7U}) {
    FaultyReads files{FaultyReads::never, most};
    Saver<TypeParam> saver{this->dir.path(), this->options(files)};
    saver.save(this->trained.session.raw_session(), 3);
    Program<Count> again;
    EXPECT_EQ(saver.restore_latest(again.session.raw_session())->step, 3);
    EXPECT_EQ(again.machine.w, this->trained.machine.w);
    EXPECT_GT(files.reads(), 100U);
  }
}

}  // namespace read_faults_test
}  // namespace crochet
