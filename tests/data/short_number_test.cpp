// SPDX-License-Identifier: Apache-2.0
// Short numbers against std::from_chars: the same characters, the same bits.
#include <crochet/data/short_number.hpp>
#include <crochet/data/shuffle.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>

namespace short_number_test {

namespace cr = crochet;

/// The number of characters read from a text of 8, and the value; what is behind them is no digit.
std::size_t read(const std::string& text, double& value) { return cr::detail::short_number(text.data(), value); }

void expect_same(const std::string& number, const std::string& behind) {
  const std::string text = (number + behind).substr(0, 8) + std::string(8, ',');
  double value = 42, expected = 0;
  std::from_chars(number.data(), number.data() + number.size(), expected);
  EXPECT_EQ(read(text, value), number.size()) << text;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(expected)) << text;
}

TEST(ShortNumber, HasTheBitsOfTheNearestDouble) {
  cr::SplitMix64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    std::string number = random.below(2) == 0 ? "" : "-";
    const std::size_t most = 7 - number.size(), whole = 1 + random.below(static_cast<std::uint32_t>(most));
    for (std::size_t k = 0; k < whole; ++k) number += static_cast<char>('0' + random.below(10));
    if (whole + 1 < most) {
      number += '.';
      const std::size_t fraction = 1 + random.below(static_cast<std::uint32_t>(most - whole - 1));
      for (std::size_t k = 0; k < fraction; ++k) number += static_cast<char>('0' + random.below(10));
    }
    const std::string behind[] = {",1.5,2", "\n-1", "\r\n", ";abcdef", "  ", ","};
    expect_same(number, behind[random.below(6)]);
  }
  for (const char* number : {"0", "-0", "0.0", "-0.0", "000.000", "9999999", "1", "-999999", "0.00001"})
    expect_same(number, ",");
}

TEST(ShortNumber, RefusesWhatIsLongOrNoNumber) {
  for (const char* text : {"12345678", "1234567.", "123.4567", "-1234567", ".5,,,,,,", "5.,,,,,,", "-,,,,,,,",
                           "-.5,,,,,", ",,,,,,,,", "abc,,,,,", "+1,,,,,,", "--1,,,,,", "\xff,,,,,,,", "\n1,,,,,,"}) {
    double value = 42;
    EXPECT_EQ(read(text, value), 0U) << text;
    EXPECT_EQ(value, 42) << text;
  }
}

TEST(ShortNumber, LeavesTheCharacterBehindToItsCaller) {
  double value = 0;
  EXPECT_EQ(read("1.2.3,,,", value), 3U);
  EXPECT_EQ(read("1e3,,,,,", value), 1U);
  EXPECT_EQ(read("7x,,,,,,", value), 1U);
  EXPECT_EQ(value, 7);
}

}  // namespace short_number_test
