// SPDX-License-Identifier: Apache-2.0
#include <crochet/data/gzip.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "../io/idx_files.hpp"
#include "../io/system_limit.hpp"

namespace gzip_test {

using crochet::DataLossError;
using crochet::IoError;
using crochet::io::GzipFile;
using namespace crochet::test;

Bytes read_all(const std::filesystem::path& path, std::uint64_t limit = 1 << 24, std::size_t piece = 7) {
  GzipFile file(path, limit);
  Bytes all;
  Bytes buffer(piece);
  while (const std::size_t got = file.read(buffer))
    all.insert(all.end(), buffer.begin(), buffer.begin() + std::ptrdiff_t(got));
  return all;
}

template <class Exception>
std::string read_error(const std::filesystem::path& path, std::uint64_t limit = 1 << 24) {
  return message_of<Exception>([&] { read_all(path, limit); });
}

TEST(GzipFile, GivesTheSameBytesGzippedOrNot) {
  const TemporaryFolder folder;
  const Bytes bytes = counting(200'000);  // more than one input buffer, also when compressed in pieces
  for (const std::size_t piece : {std::size_t{1000}, bytes.size(), 2 * bytes.size()}) {
    EXPECT_EQ(read_all(folder.write("plain", bytes), 1 << 24, piece), bytes);
    EXPECT_EQ(read_all(folder.write("packed.gz", gzipped(bytes)), 1 << 24, piece), bytes);
  }
}

TEST(GzipFile, ReadsIncompressibleDataOfManyBuffers) {
  const TemporaryFolder folder;
  Bytes bytes(300'000);
  std::uint32_t state = 1;
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  const Bytes packed = gzipped(bytes);
  ASSERT_GT(packed.size(), 4U << 16);
  EXPECT_EQ(read_all(folder.write("packed.gz", packed), 1 << 24, 4096), bytes);
}

TEST(GzipFile, ReadsTheMembersOfAFileOneAfterTheOther) {
  const TemporaryFolder folder;
  const auto path = folder.write("members.gz", joined({gzipped({1, 2, 3}), gzipped({}), gzipped({4})}));
  EXPECT_EQ(read_all(path), (Bytes{1, 2, 3, 4}));
}

TEST(GzipFile, AnEmptyFileHasNoBytes) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_all(folder.write("empty", {})), Bytes{});
  EXPECT_EQ(read_all(folder.write("empty.gz", gzipped({}))), Bytes{});
}

TEST(GzipFile, AFileThatIsMissing) {
  const TemporaryFolder folder;
  expect_says(read_error<IoError>(folder.path() / "none.gz"), {"none.gz", "no such file", "check the path"});
}

TEST(GzipFile, AFolder) {
  const TemporaryFolder folder;
  expect_says(read_error<IoError>(folder.path()), {folder.path().c_str(), "not a regular file"});
}

TEST(GzipFile, APathThatTheSystemRefuses) {
  expect_says(read_error<IoError>(std::string(5000, 'x')), {"xxx: cannot be opened: ", "check its permissions"});
}

TEST(GzipFile, AFileThatTheSystemDoesNotOpen) {
  const TemporaryFolder folder;
  const auto path = folder.write("file", {1});
  std::string message = read_error<IoError>(folder.path() / "missing");  // once with descriptors, for sanitizers
  try {
    const SystemLimit no_descriptors(RLIMIT_NOFILE, 0);
    const GzipFile file(path, 1 << 24);
  } catch (const IoError& error) {
    message = error.what();
  }
  expect_says(message, {path.c_str(), "cannot be opened: Too many open files"});
}

TEST(GzipFile, AFileThatOpensButCannotBeRead) {
  const std::string unreadable = "/proc/self/mem";  // no page is mapped at its start
  if (!std::filesystem::exists(unreadable))
    GTEST_SKIP() << "only Linux has " << unreadable << ", a file that opens and cannot be read";
  expect_says(read_error<IoError>(unreadable), {"/proc/self/mem: cannot be read: ", "check the disk"});
}

TEST(GzipFile, TruncatedAtAnyByte) {
  const TemporaryFolder folder;
  const Bytes packed = gzipped(counting(600));
  for (std::size_t size = 2; size < packed.size(); ++size) {  // a shorter file is not recognized as gzip
    const std::string message = read_error<DataLossError>(folder.write("cut.gz", first(size, packed)));
    expect_says(message, {"cut.gz: the gzip data is truncated", "copy or download the file again"});
  }
}

TEST(GzipFile, TruncatedInItsSecondMember) {
  const TemporaryFolder folder;
  const Bytes one = gzipped(counting(20));
  for (std::size_t size = 1; size < one.size(); ++size)
    expect_says(read_error<DataLossError>(folder.write("cut.gz", joined({one, first(size, one)}))), {"truncated"});
}

TEST(GzipFile, AWrongChecksumOrLength) {
  const TemporaryFolder folder;
  const Bytes packed = gzipped(counting(600));
  for (std::size_t i = 1; i <= 8; ++i) {
    Bytes changed = packed;
    changed[packed.size() - i] ^= 1;
    const std::string message = read_error<DataLossError>(folder.write("changed.gz", changed));
    expect_says(message,
                {"changed.gz: the gzip data is corrupt", i > 4 ? "incorrect data check" : "incorrect length check"});
  }
}

// Some bits do not affect the content: time, system and kind in the header, the padding of the last byte.
TEST(GzipFile, AnyChangedBitIsNoticedOrHarmless) {
  const TemporaryFolder folder;
  const Bytes bytes = counting(300);
  const Bytes packed = gzipped(bytes);
  constexpr std::size_t magic = 16, meaningless = 7 * 8 + 7;
  std::size_t unnoticed = 0;
  for (std::size_t bit = magic; bit < packed.size() * 8; ++bit) {
    Bytes changed = packed;
    changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ 1 << bit % 8);
    const auto path = folder.write("changed.gz", changed);
    if (!read_error<DataLossError>(path).empty()) continue;
    EXPECT_EQ(read_all(path), bytes) << "bit " << bit;
    ++unnoticed;
  }
  EXPECT_LE(unnoticed, meaningless);
}

TEST(GzipFile, TrailingGarbage) {
  const TemporaryFolder folder;
  const Bytes packed = gzipped({1, 2, 3});
  for (const Bytes& garbage : {Bytes{0}, Bytes{'x'}, counting(70'000)})
    expect_says(read_error<DataLossError>(folder.write("more.gz", joined({packed, garbage}))),
                {"more.gz: there is trailing garbage"});
  EXPECT_NE(read_error<DataLossError>(folder.write("more.gz", joined({packed, {0x1f, 0x8c, 8, 0}}))), "");
}

TEST(GzipFile, NeverHandsOutMoreThanTheLimit) {
  const TemporaryFolder folder;
  const auto packed = folder.write("bomb.gz", gzipped(Bytes(1'000'000)));
  const auto plain = folder.write("plain", Bytes(1000));
  expect_says(read_error<DataLossError>(packed, 999'999),
              {"bomb.gz: holds more data than the limit allows", "raise the limit"});
  expect_says(read_error<DataLossError>(plain, 999), {"plain: holds more data"});
  EXPECT_EQ(read_all(packed, 1'000'000).size(), 1'000'000U);
  EXPECT_EQ(read_all(plain, 1000).size(), 1000U);
}

TEST(GzipFile, KnowsAnUpperBoundOfItsSize) {
  const TemporaryFolder folder;
  const Bytes zeros(5'000'000);  // deflate's highest compression ratio
  const Bytes packed = gzipped(zeros);
  EXPECT_GE(GzipFile(folder.write("packed.gz", packed), 1).max_unpacked_bytes(), zeros.size());
  EXPECT_EQ(GzipFile(folder.write("packed.gz", packed), 1).max_unpacked_bytes(), packed.size() * 1032);
  EXPECT_EQ(GzipFile(folder.write("plain", Bytes(123)), 1).max_unpacked_bytes(), 123U);
}

}  // namespace gzip_test
