// SPDX-License-Identifier: Apache-2.0
// Sorted tables with correct checksums and wrong contents.
#include <crochet/io/snappy.hpp>
#include <crochet/io/sorted_table.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "table_files.hpp"

namespace sorted_table_test {

using namespace crochet::io;
using namespace crochet::test;

std::string lengths(std::uint64_t shared, std::uint64_t own, std::uint64_t value) {
  return varint(shared) + varint(own) + varint(value) + std::string(64, 'a');
}

TEST(SortedTable, WhatIsRightIsRead) {
  const std::string entries = table_entry(0, "", "h") + table_entry(0, "ab", "1") + table_entry(1, "c", "");
  EXPECT_EQ(read_sorted_table(table_of_block(block_of(entries))),
            (std::vector<KeyValue>{{"", "h"}, {"ab", "1"}, {"ac", ""}}));
  EXPECT_EQ(read_sorted_table(TableFile{}.finish(block_of(""))), std::vector<KeyValue>{});
}

TEST(SortedTable, OfEqualKeysIsAnErrorThatNamesThem) {
  const std::vector<KeyValue> entries{{"a", "1"}, {"b", "2"}, {"b", "3"}};
  try {
    (void)crochet::io::write_sorted_table(entries);
    FAIL() << "it was written";
  } catch (const crochet::LogicError& error) {
    EXPECT_NE(std::string_view(error.what()).find("\"b\" is repeated"), std::string_view::npos) << error.what();
  }
}

TEST(SortedTable, AnIndexWhoseLengthsWrapIsDamaged) {
  const std::string table = index_with_wrapping_lengths();
  EXPECT_EQ(table.size(), 173u);
  EXPECT_THROW((void)read_sorted_table(table), crochet::DataLossError);
}

TEST(SortedTable, EntriesThatAreLongerThanTheirBlock) {
  const std::string first = table_entry(0, "k", "v");
  const std::uint64_t wide = std::uint64_t{1} << 32, widest = ~std::uint64_t{0};
  for (const std::string& entry :
       {lengths(0, 65, 0), lengths(0, 0, 65), lengths(0, 64, 1), lengths(2, 1, 1), lengths(0, wide - 1, 5),
        lengths(0, 5, wide - 1), lengths(wide - 1, 1, 1), lengths(0, widest, 1), lengths(0, 2, widest),
        lengths(0, widest - 3, 8), lengths(widest, 1, 1), std::string(1, '\0'), std::string(2, '\x80'),
        std::string(12, '\x80')}) {
    EXPECT_THROW((void)read_sorted_table(table_of_block(block_of(first + entry))), crochet::DataLossError);
    TableFile in_the_index;
    (void)in_the_index.add(block_of(first));
    EXPECT_THROW((void)read_sorted_table(in_the_index.finish(block_of(entry))), crochet::DataLossError);
  }
}

TEST(SortedTable, RestartsThatCannotBe) {
  const std::string entry = table_entry(0, "k", "v");
  for (const std::string& restarts :
       {std::string{}, number32(1), number32(0), number32(0) + number32(0), number32(0) + number32(100),
        number32(0) + number32(0x3fffffff), number32(0) + number32(0x40000000), number32(0) + number32(0xffffffff)}) {
    EXPECT_THROW((void)read_sorted_table(table_of_block(entry + restarts)), crochet::DataLossError);
  }
}

TEST(SortedTable, KeysOutOfOrder) {
  const std::string a = table_entry(0, "a", ""), b = table_entry(0, "b", "");
  const auto tables = [](const std::string& first, const std::string& second) {
    TableFile two;
    const std::string one = table_entry(0, "x", two.add(block_of(first)));
    return std::vector{table_of_block(block_of(first + second)),
                       two.finish(block_of(one + table_entry(0, "y", two.add(block_of(second)))))};
  };
  for (const std::string& right : tables(a, b)) EXPECT_EQ(read_sorted_table(right).size(), 2u);
  for (const std::string& wrong : tables(b, a)) EXPECT_THROW((void)read_sorted_table(wrong), crochet::DataLossError);
  for (const std::string& twice : tables(a, a)) EXPECT_THROW((void)read_sorted_table(twice), crochet::DataLossError);
}

TEST(SortedTable, BlocksThatAreNamedTwiceLeftOutOrOverlap) {
  TableFile file;
  const std::string one = file.add(block_of(table_entry(0, "a", ""))),
                    two = file.add(block_of(table_entry(0, "b", "")));
  const auto read = [&](std::initializer_list<std::string_view> places) {
    std::string index;
    for (const std::string_view place : places) index += table_entry(0, "k" + std::to_string(index.size()), place);
    return read_sorted_table(TableFile{file}.finish(block_of(index))).size();
  };
  EXPECT_EQ(read({one, two}), 2u);
  EXPECT_THROW(read({one, one, two}), crochet::DataLossError);
  EXPECT_THROW(read({one, two, two}), crochet::DataLossError);
  EXPECT_THROW(read({one}), crochet::DataLossError);
  EXPECT_THROW(read({two}), crochet::DataLossError);
  EXPECT_THROW(read({two, one}), crochet::DataLossError);
  EXPECT_THROW(read({one, ""}), crochet::DataLossError);
}

// Every 16th key must be stored in full: then a stored byte gives at most 16 bytes of keys.
TEST(SortedTable, KeysThatShareALongPrefix) {
  std::string entries = table_entry(0, std::string(20'000, 'p'), "");
  for (int i = 0; i < 16; ++i) entries += table_entry(20'000, std::string(1, static_cast<char>('a' + i)), "");
  EXPECT_THROW((void)read_sorted_table(table_of_block(block_of(entries))), crochet::DataLossError);
  std::string sixteen = table_entry(0, std::string(20'000, 'p'), "");
  for (int i = 0; i < 15; ++i) sixteen += table_entry(20'000, std::string(1, static_cast<char>('a' + i)), "");
  EXPECT_EQ(read_sorted_table(table_of_block(block_of(sixteen))).size(), 16u);
}

TEST(Snappy, UnpacksItsKindsOfElements) {
  const auto unpack_snappy = [](const std::string& from) { return detail::unpack_snappy(from, 100); };
  const auto bytes = [](std::initializer_list<int> values) { return std::string(values.begin(), values.end()); };
  EXPECT_EQ(unpack_snappy(bytes({0})), "");
  EXPECT_EQ(unpack_snappy(bytes({3, 2 << 2}) + "abc"), "abc");
  EXPECT_EQ(unpack_snappy(bytes({100, 60 << 2, 99}) + std::string(100, 'x')), std::string(100, 'x'));
  EXPECT_EQ(unpack_snappy(bytes({3, 61 << 2, 2, 0}) + "abc"), "abc");
  EXPECT_EQ(unpack_snappy(bytes({7, 0, 'a', 1 | 2 << 2, 1})), "aaaaaaa");                   // copy, 1 byte of offset
  EXPECT_EQ(unpack_snappy(bytes({6, 2 << 2, 'a', 'b', 'c', 2 | 2 << 2, 3, 0})), "abcabc");  // 2 bytes
  EXPECT_EQ(unpack_snappy(bytes({6, 2 << 2, 'a', 'b', 'c', 3 | 2 << 2, 3, 0, 0, 0})), "abcabc");  // 4 bytes
}

TEST(Snappy, UnpacksNoMoreThanPermitted) {
  const std::string packed = std::string("\x64\xf0\x63", 3) + std::string(100, 'x');
  EXPECT_EQ(detail::unpack_snappy(packed, 100).size(), 100u);
  EXPECT_THROW((void)detail::unpack_snappy(packed, 99), crochet::DataLossError);
}

TEST(Snappy, DamagedDataAreRefused) {
  const auto bytes = [](std::initializer_list<int> values) { return std::string(values.begin(), values.end()); };
  for (const std::string& bad : {bytes({}), bytes({1}),                             // no size; no data
                                 bytes({0, 0, 'a'}),                                // more data than the size
                                 bytes({3, 2 << 2, 'a', 'b'}),                      // a truncated literal
                                 bytes({3, 60 << 2}),                               // a missing length
                                 bytes({3, 63 << 2, 0xff, 0xff, 0xff, 0xff}),       // 4 GiB
                                 bytes({4, 1, 1}),                                  // a copy from before the beginning
                                 bytes({5, 0, 'a', 1, 0}),                          // a copy with offset 0
                                 bytes({5, 0, 'a', 1, 2}),                          // a copy from before the beginning
                                 bytes({4, 0, 'a', 1, 1}),                          // longer than the size
                                 bytes({6, 0, 'a', 1, 1}),                          // shorter than the size
                                 bytes({5, 0, 'a', 2, 1}),                          // a missing offset
                                 bytes({0xff, 0xff, 0xff, 0xff, 0x0f, 0, 'a'})}) {  // a size of 4 GiB
    EXPECT_THROW((void)detail::unpack_snappy(bad, 1 << 20), crochet::DataLossError) << ::testing::PrintToString(bad);
  }
}

}  // namespace sorted_table_test
