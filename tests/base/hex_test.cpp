// SPDX-License-Identifier: Apache-2.0
#include <crochet/base/hex.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace hex_test {

using crochet::detail::append_hex;
using crochet::detail::hex;

TEST(Hex, ANumberHasTwoDigitsForEachByteOfItsType) {
  EXPECT_EQ(hex(std::uint8_t{0x0a}), "0a");
  EXPECT_EQ(hex(std::uint32_t{0}), "00000000");
  EXPECT_EQ(hex(std::uint32_t{0xdeadbeef}), "deadbeef");
  EXPECT_EQ(hex(std::uint64_t{0x0123456789abcdef}), "0123456789abcdef");
  EXPECT_EQ(hex(~std::uint64_t{0}), "ffffffffffffffff");
}

TEST(Hex, ABytesDigitsAreAppended) {
  std::string text = "\\x";
  append_hex(text, 0xf0);
  append_hex(text, 0x00);
  EXPECT_EQ(text, "\\xf000");
}

}  // namespace hex_test
