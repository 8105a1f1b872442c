// SPDX-License-Identifier: Apache-2.0
// The numbers of texts: by occurrence while a file is read, in alphabetical order at its end.
#include <crochet/data/text_index.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace text_index_test {

using crochet::TableColumn;
using crochet::detail::TextIndex;

TEST(TextIndex, NumbersByOccurrenceThenByTheAlphabet) {
  TextIndex numbers({"", "NA"});
  TableColumn column{.name = "c", .numeric = false};
  for (const char* text : {"red", "blue", "NA", "red", "", "green"}) column.indices.push_back(numbers(text));
  EXPECT_EQ(column.indices, (std::vector<std::int32_t>{0, 1, -1, 0, -1, 2}));
  std::move(numbers).finish(column);
  EXPECT_EQ(column.texts, (std::vector<std::string>{"blue", "green", "red"}));
  EXPECT_EQ(column.indices, (std::vector<std::int32_t>{2, 0, -1, 2, -1, 1}));
}

// As std::sort of string_view: bytes above 0x7f are the last.
TEST(TextIndex, BytesAreOrderedAsUnsigned) {
  TextIndex numbers({});
  TableColumn column{.name = "c", .numeric = false};
  for (const char* text : {"\xc3\xa4", "z", "a"}) column.indices.push_back(numbers(text));
  std::move(numbers).finish(column);
  EXPECT_EQ(column.texts, (std::vector<std::string>{"a", "z", "\xc3\xa4"}));
}

}  // namespace text_index_test
