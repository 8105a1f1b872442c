// SPDX-License-Identifier: Apache-2.0
// Failing disks, short reads and missing memory, for every reader: no crash, and the documented error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/testing/counting_new.hpp>

#include "faulty_files.hpp"
#include "readers.hpp"
#include "temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
namespace io = crochet::io;
using crochet::test::all_readers;
using crochet::test::ReaderOfFiles;
using crochet::test::TemporaryFolder;

/// Files on disk. Counts the calls for reading; one of them fails.
class FaultyReads : public crochet::test::LocalFilesWithoutSync {
 public:
  std::size_t calls = 0;                // openings and reads so far
  std::size_t fails = ~std::size_t{0};  // the call that fails
  std::error_code error = std::make_error_code(std::errc::io_error);
  std::size_t most = ~std::size_t{0};  // maximal bytes per read

  std::unique_ptr<io::RandomAccessFile> open(const fs::path& path, std::error_code& why) override {
    if (calls++ == fails) return why = error, nullptr;
    std::unique_ptr<io::RandomAccessFile> file = io::FileSystem::open(path, why);
    return file ? std::make_unique<File>(*this, std::move(file)) : nullptr;
  }

 private:
  class File final : public io::RandomAccessFile {
   public:
    File(FaultyReads& files, std::unique_ptr<io::RandomAccessFile> file) : files_(&files), file_(std::move(file)) {}
    std::uint64_t size() const override { return file_->size(); }
    std::size_t read(std::uint64_t offset, std::span<std::byte> to, std::error_code& why) override {
      if (files_->calls++ == files_->fails) return why = files_->error, 0;
      return file_->read(offset, to.first(std::min(to.size(), files_->most)), why);
    }

   private:
    FaultyReads* files_;
    std::unique_ptr<io::RandomAccessFile> file_;
  };
};

/// Calls `act(reader, folder)` for each reader, with its files in a folder.
template <class F>
void for_each_reader(F act) {
  for (const ReaderOfFiles& reader : all_readers()) {
    SCOPED_TRACE(reader.name);
    const TemporaryFolder folder;
    reader.write(folder.path());
    act(reader, folder.path());
  }
}

std::size_t calls_of(const ReaderOfFiles& reader, const fs::path& folder) {
  FaultyReads files;
  reader.read(folder, files);
  return files.calls;
}

TEST(ReadFaults, ShortReadsAreCompleted) {
  for_each_reader([](const ReaderOfFiles& reader, const fs::path& folder) {
    for (const std::size_t most : {1U, 3U}) {
      FaultyReads files;
      files.most = most;
      EXPECT_NO_THROW(reader.read(folder, files));
      EXPECT_GT(files.calls, calls_of(reader, folder));
    }
  });
}

TEST(ReadFaults, ReadsThatASignalInterruptsAreRepeated) {
  for_each_reader([](const ReaderOfFiles& reader, const fs::path& folder) {
    const std::size_t calls = calls_of(reader, folder);
    for (std::size_t i = 0; i < calls; ++i) {
      FaultyReads files;
      files.fails = i;
      files.error = std::make_error_code(std::errc::interrupted);
      try {
        reader.read(folder, files);
        EXPECT_EQ(files.calls, calls + 1);
      } catch (const crochet::IoError& error) {  // an interrupted open is not repeated
        EXPECT_NE(std::string(error.what()).find("Interrupted system call"), std::string::npos) << error.what();
      }
    }
  });
}

TEST(ReadFaults, AnErrorOfTheDiskIsAnIoErrorThatNamesTheFileAndNoDamage) {
  for_each_reader([](const ReaderOfFiles& reader, const fs::path& folder) {
    for (std::size_t i = 0; i < calls_of(reader, folder); ++i) {
      FaultyReads files;
      files.fails = i;
      try {
        reader.read(folder, files);
        ADD_FAILURE() << "call " << i << " failed, and nothing was said";
      } catch (const crochet::DataLossError& error) {
        ADD_FAILURE() << error.what();
      } catch (const crochet::IoError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("Input/output error"), std::string::npos) << text;
        EXPECT_TRUE(std::any_of(reader.files.begin(), reader.files.end(), [&](std::string_view name) {
          return text.find((folder / name).string()) != std::string::npos;
        })) << text;
      }
    }
  });
}

TEST(ReadFaults, AFolderAndAMissingFileAreIoErrors) {
  for_each_reader([](const ReaderOfFiles& reader, const fs::path& folder) {
    for (const std::string_view name : reader.files) {
      fs::rename(folder / name, folder / "elsewhere");
      fs::create_directory(folder / name);
      FaultyReads files;
      try {
        reader.read(folder, files);
        ADD_FAILURE() << name;
      } catch (const crochet::DataLossError& error) {
        ADD_FAILURE() << error.what();
      } catch (const crochet::IoError&) {
      }
      fs::remove(folder / name);
      fs::rename(folder / "elsewhere", folder / name);
    }
  });
}

/// Reads while allocation number i fails, or that one and all later ones. Returns whether a read allocates so often.
bool read_without_memory(const ReaderOfFiles& reader, const fs::path& folder, std::size_t i, bool and_all_after,
                         int& named, int& bare) {
  FaultyReads files;
  const std::size_t before = crochet::testing::allocations();
  const crochet::testing::IgnoredLeaks of_protobuf;
  try {
    const crochet::testing::FailingAllocations fail(i, and_all_after ? ~std::size_t{0} : i);
    reader.read(folder, files);
  } catch (const crochet::ResourceExhaustedError&) {
    ++named;
  } catch (const std::bad_alloc&) {
    ++bare;
  }
  return crochet::testing::allocations() - before > i;
}

TEST(ReadFaults, MemoryThatIsNotThereIsAnErrorThatSaysSo) {
  for_each_reader([](const ReaderOfFiles& reader, const fs::path& folder) {
    int named = 0, bare = 0;
    for (std::size_t i = 0; read_without_memory(reader, folder, i, false, named, bare); ++i) ASSERT_LT(i, 100'000u);
    EXPECT_GT(named, 0);
    EXPECT_LE(bare, reader.own_allocations) << "allocations outside of the reader";
    // Without memory for the message the error is std::bad_alloc.
    for (std::size_t i = 0; read_without_memory(reader, folder, i, true, named, bare); ++i) ASSERT_LT(i, 100'000u);
  });
}

TEST(DamagedFiles, AreADataLossErrorThatNamesTheFileWhateverTheFormat) {
  for_each_reader([](const ReaderOfFiles& reader, const fs::path& folder) {
    for (const std::string_view name : reader.files) {
      const std::string good = io::read_whole_file(folder / name);
      for (const std::string& bad : {good.substr(0, good.size() / 2 + 1), good.substr(0, 3),
                                     std::string(good.size(), '\xff'), std::string(1000, '\x01')}) {
        crochet::test::write_file(folder / name, bad);
        try {
          reader.read(folder, io::local_files());
          ADD_FAILURE() << name << ": " << bad.size() << " bytes of damage were not noticed";
        } catch (const crochet::DataLossError& error) {
          const std::string text = error.what();
          EXPECT_NE(text.find((folder / name).string()), std::string::npos) << text;
          EXPECT_EQ(text.find(" is damaged"), text.rfind(" is damaged")) << text;
        }
      }
      crochet::test::write_file(folder / name, good);
    }
  });
}

}  // namespace
