// SPDX-License-Identifier: Apache-2.0
// The state of hooks as bytes for other ranks.
#include <crochet/ranks/chain_state_bytes.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace chain_state_bytes_test {

namespace cr = crochet;
using cr::ChainState;
using cr::StateField;
using cr::StateType;
using cr::detail::StateBytesReader;
using cr::detail::StateBytesWriter;

std::vector<std::byte> bytes_of(const StateField& field) {
  ChainState state;
  state.sections.push_back({"Hook", {field}});
  return StateBytesWriter::of(state);
}
std::string refusal(std::span<const std::byte> bytes) {
  try {
    (void)StateBytesReader::from(bytes);
  } catch (const cr::DataLossError& error) {
    return error.what();
  }
  return "";
}
std::string refusal(const StateField& field) { return refusal(bytes_of(field)); }

const StateField number{"best", StateType::float64, false, 1, std::vector<std::byte>(8), {}};
const StateField list{"steps", StateType::int64, true, 2, std::vector<std::byte>(16), {}};
const StateField texts{"names", StateType::text, true, 2, {}, {"a", ""}};

TEST(ChainStateBytes, AreReadBack) {
  for (const StateField& field : {number, list, texts}) {
    const ChainState read = StateBytesReader::from(bytes_of(field));
    ASSERT_EQ(read.sections.size(), 1U);
    ASSERT_EQ(read.sections[0].fields.size(), 1U);
    const StateField& there = read.sections[0].fields[0];
    EXPECT_EQ(there.schema(), field.schema());
    EXPECT_EQ(there.count, field.count);
    EXPECT_EQ(there.bytes, field.bytes);
    EXPECT_EQ(there.texts, field.texts);
  }
}

TEST(ChainStateBytes, AreCheckedWhereverTheyEnd) {
  std::vector<std::byte> bytes = bytes_of(texts);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(refusal(std::span<const std::byte>(bytes).first(size)), "") << size;
  }
  bytes.push_back({});
  EXPECT_EQ(refusal(bytes),
            "crochet: the chief's hook state has further bytes behind its end; run the same program on all ranks");
}

/// A hook reads as many elements as the field says.
TEST(ChainStateBytes, OfAnotherSizeThanTheirFieldSaysAreRefused) {
  StateField field = number;
  field.count = 2;
  EXPECT_NE(refusal(field), "");
  field = number;
  field.bytes.resize(7);
  EXPECT_NE(refusal(field), "");
  field = list;
  field.count = std::size_t{1} << 61;  // times 8 is 0
  EXPECT_NE(refusal(field), "");
  field = list;
  field.bytes.clear();
  EXPECT_NE(refusal(field), "");
  field = texts;
  field.count = 3;
  EXPECT_NE(refusal(field), "");
  field = texts;
  field.bytes.resize(1);
  EXPECT_NE(refusal(field), "");
  field = number;
  field.texts = {"a"};
  EXPECT_NE(refusal(field), "");
}

TEST(ChainStateBytes, OfAnUnknownTypeAreRefused) {
  std::vector<std::byte> bytes = bytes_of(number);
  const std::size_t type_at = 8 + (8 + 4) + 8 + (8 + 4);  // behind sections, "Hook", fields, "best"
  ASSERT_EQ(bytes[type_at], static_cast<std::byte>(StateType::float64));
  bytes[type_at] = static_cast<std::byte>(12);
  EXPECT_EQ(refusal(bytes),
            "crochet: the chief's hook state has a value of an unknown type; run the same program on all ranks");
  bytes[type_at] = static_cast<std::byte>(StateType::float64);
  bytes[type_at + 1] = std::byte{1};  // the number has more than one byte
  EXPECT_NE(refusal(bytes), "");
}

}  // namespace chain_state_bytes_test
