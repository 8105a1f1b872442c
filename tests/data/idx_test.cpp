// SPDX-License-Identifier: Apache-2.0
#include <crochet/data/idx.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../io/idx_files.hpp"

namespace idx_test {

using crochet::DataLossError;
using crochet::IoError;
using crochet::io::IdxLimits;
using crochet::io::read_idx;
using namespace crochet::test;

template <class T = std::uint8_t, std::size_t Rank = 3>
std::string read_error(const std::filesystem::path& path, IdxLimits limits = {}) {
  return message_of<DataLossError>([&] { read_idx<T, Rank>(path, limits); });
}

TEST(Idx, ReadsPlainAndGzippedFiles) {
  const TemporaryFolder folder;
  const Bytes file = idx_bytes({2, 3, 4}, counting(24));
  for (const auto& path : {folder.write("a", file), folder.write("a.gz", gzipped(file))}) {
    const auto array = read_idx<std::uint8_t, 3>(path);
    EXPECT_EQ(array.shape, (std::array<std::int64_t, 3>{2, 3, 4}));
    EXPECT_EQ(array.data, counting(24));
    EXPECT_EQ(array.view()(1, 2, 3), 23);
    EXPECT_EQ(array.view().data(), array.data.data());
  }
}

TEST(Idx, TheNameOfAFileSaysNothingAboutItsContent) {
  const TemporaryFolder folder;
  const Bytes file = idx_bytes({2}, {7, 8});
  EXPECT_EQ((read_idx<std::uint8_t, 1>(folder.write("plain.gz", file)).data), (Bytes{7, 8}));
  EXPECT_EQ((read_idx<std::uint8_t, 1>(folder.write("packed", gzipped(file))).data), (Bytes{7, 8}));
}

TEST(Idx, ReadsBigEndianElementsOfEveryType) {
  const TemporaryFolder folder;
  const auto read = [&]<class T>(T, std::uint8_t code, const Bytes& data) {
    return read_idx<T, 1>(folder.write("t", joined({idx_header(code, {2}), data}))).data;
  };
  EXPECT_EQ(read(std::int8_t{}, 0x09, {0xff, 2}), (std::vector<std::int8_t>{-1, 2}));
  EXPECT_EQ(read(std::int16_t{}, 0x0b, {0xff, 0xfe, 1, 2}), (std::vector<std::int16_t>{-2, 258}));
  EXPECT_EQ(read(std::int32_t{}, 0x0c, {0xff, 0xff, 0xff, 0xfd, 1, 2, 3, 4}),
            (std::vector<std::int32_t>{-3, 0x01020304}));
  EXPECT_EQ(read(float{}, 0x0d, {0x3f, 0x80, 0, 0, 0xc0, 0x49, 0x0f, 0xdb}), (std::vector<float>{1.0f, -3.14159274f}));
  EXPECT_EQ(read(double{}, 0x0e, {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0x09, 0x21, 0xfb, 0x54, 0x44, 0x2d, 0x18}),
            (std::vector<double>{1.0, -3.141592653589793}));
}

TEST(Idx, AnArrayMayBeEmpty) {
  const TemporaryFolder folder;
  const auto array = read_idx<std::uint8_t, 3>(folder.write("a", idx_bytes({0, 28, 28}, {})));
  EXPECT_EQ(array.shape, (std::array<std::int64_t, 3>{0, 28, 28}));
  EXPECT_TRUE(array.data.empty());
  // A zero extent makes the array empty, even if the product of the other extents overflows.
  EXPECT_TRUE((read_idx<std::uint8_t, 3>(folder.write("b", idx_bytes({~0U, ~0U, 0}, {}))).data.empty()));
}

TEST(Idx, AMissingFileIsAnIoError) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "none";
  EXPECT_THROW((read_idx<std::uint8_t, 3>(path)), IoError);
}

TEST(Idx, AForeignFile) {
  const TemporaryFolder folder;
  for (const Bytes& file : {Bytes{'<', 'h', 't', 'm', 'l', '>'}, Bytes{0, 1, 8, 3}, Bytes{0x50, 0x4b, 3, 4}}) {
    expect_says(read_error(folder.write("page", file)),
                {"page: not an idx file", "two zero bytes", "name an idx file"});
    expect_says(read_error(folder.write("page", gzipped(file))), {"page: not an idx file"});
  }
  expect_says(read_error(folder.write("page", {'<', 'h', 't', 'm'})), {"starts with 0x3c 0x68"});
}

TEST(Idx, AnotherElementType) {
  const TemporaryFolder folder;
  const auto path = folder.write("f", joined({idx_header(0x0d, {1, 1, 1}), Bytes(4)}));
  expect_says(read_error(path), {"/f: its element type is 0x0d, expected 0x08", "name the right idx file"});
}

TEST(Idx, AnotherRank) {
  const TemporaryFolder folder;
  const auto labels = folder.write("labels", idx_bytes({2}, {1, 2}));
  expect_says(read_error(labels), {"labels: it has 1 dimensions, expected 3", "images have 3"});
  expect_says((read_error<std::uint8_t, 1>(folder.write("images", idx_bytes({1, 1, 1}, {1})))),
              {"it has 3 dimensions, expected 1"});
}

TEST(Idx, TruncatedAtAnyByte) {
  const TemporaryFolder folder;
  const Bytes file = idx_bytes({2, 3, 4}, counting(24));
  for (std::size_t size = 0; size < file.size(); ++size) {
    expect_says(read_error(folder.write("cut", first(size, file))),
                {"/cut: truncated: ", "copy or download the file again"});
    expect_says(read_error(folder.write("cut.gz", gzipped(first(size, file)))), {"/cut.gz: truncated: "});
  }
}

TEST(Idx, GzippedAndTruncatedAtAnyByte) {
  const TemporaryFolder folder;
  const Bytes packed = gzipped(idx_bytes({5, 10, 10}, counting(500)));
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_NE(read_error(folder.write("cut.gz", first(size, packed))), "")
        << size << " of " << packed.size() << " bytes";
}

TEST(Idx, AnyChangedBitOfAGzippedFileIsNoticedOrHarmless) {
  const TemporaryFolder folder;
  const Bytes packed = gzipped(idx_bytes({2, 3, 4}, counting(24)));
  for (std::size_t bit = 0; bit < packed.size() * 8; ++bit) {
    Bytes changed = packed;
    changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ 1 << bit % 8);
    const auto path = folder.write("changed.gz", changed);
    if (read_error(path).empty()) {
      EXPECT_EQ((read_idx<std::uint8_t, 3>(path).data), counting(24)) << "bit " << bit;
    }
  }
}

TEST(Idx, TrailingBytes) {
  const TemporaryFolder folder;
  const Bytes file = idx_bytes({2, 3, 4}, counting(25));
  expect_says(read_error(folder.write("more", file)), {"/more: there is trailing garbage after the 24 bytes"});
  expect_says(read_error(folder.write("more.gz", gzipped(file))),
              {"/more.gz: there is trailing garbage after the 24 bytes"});
  const Bytes exact = gzipped(idx_bytes({2, 3, 4}, counting(24)));
  expect_says(read_error(folder.write("more.gz", joined({exact, {0}}))), {"trailing garbage after the gzip data"});
}

TEST(Idx, ABadChecksumSpoilsDataThatIsComplete) {
  const TemporaryFolder folder;
  Bytes packed = gzipped(idx_bytes({2, 3, 4}, counting(24)));
  packed[packed.size() - 8] ^= 0x80;
  expect_says(read_error(folder.write("bad.gz", packed)), {"/bad.gz: the gzip data is corrupt (incorrect data check)"});
}

TEST(Idx, DimensionsThatOverflowAreOverTheLimit) {
  const TemporaryFolder folder;
  // Modulo 2^64 these products are 0, 24 and 100.
  for (const auto& header : {idx_header(8, {1U << 31, 1U << 31, 4}), idx_header(8, {1'539'092, 1'484'310, 48'448'661}),
                             idx_header(8, {213'980, 289'529, 2'977'518'503})}) {
    const auto path = folder.write("huge", joined({header, counting(100)}));
    expect_says(read_error(path), {"/huge: its dimensions promise more than the limit", "IdxLimits::max_bytes"});
    expect_says(read_error(path, IdxLimits{UINT64_MAX}), {"/huge: "});
  }
}

TEST(Idx, DimensionsOverTheLimit) {
  const TemporaryFolder folder;
  const auto path = folder.write("a", idx_bytes({2, 3, 4}, counting(24)));
  expect_says(read_error(path, IdxLimits{23}), {"its dimensions promise more than the limit of 23 bytes"});
  EXPECT_EQ(read_error(path, IdxLimits{24}), "");
  EXPECT_EQ(read_error(path, IdxLimits{UINT64_MAX}), "");
  const auto doubles = folder.write("d", joined({idx_header(0x0e, {3}), Bytes(24)}));
  expect_says((read_error<double, 1>(doubles, IdxLimits{23})), {"the limit of 23 bytes"});
  EXPECT_EQ((read_error<double, 1>(doubles, IdxLimits{24})), "");
  expect_says((read_error<double, 1>(doubles, IdxLimits{0})), {"the limit of 0 bytes"});
}

// A header within the limits can claim far more than a small file holds: this memory must not be allocated.
TEST(Idx, DimensionsThatTheFileCannotHold) {
  const TemporaryFolder folder;
  const Bytes file = joined({idx_header(8, {1U << 31, 1U << 31, 1}), counting(100)});
  const IdxLimits none{UINT64_MAX};
  expect_says(read_error(folder.write("lie", file), none),
              {"/lie: truncated: its dimensions promise 4611686018427387904 bytes"});
  expect_says(read_error(folder.write("lie.gz", gzipped(file)), none), {"more than the file can hold"});
}

TEST(Idx, RandomBytesAfterAGoodStartNeverPassForDataOfAnotherSize) {
  const TemporaryFolder folder;
  std::uint32_t state = 7;
  for (int round = 0; round < 2000; ++round) {
    Bytes file = idx_bytes({1, 2, 3}, counting(6));
    state = state * 1664525 + 1013904223;
    file[4 + (state >> 24) % (file.size() - 4)] = static_cast<std::uint8_t>(state >> 16);
    const auto path = folder.write("random", file);
    if (read_error(path).empty()) {
      EXPECT_EQ((read_idx<std::uint8_t, 3>(path).data.size()), 6U);
    }
  }
}

}  // namespace idx_test
