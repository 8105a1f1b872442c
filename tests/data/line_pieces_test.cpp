// SPDX-License-Identifier: Apache-2.0
// Pieces of whole lines: nothing of a file is lost between them, wherever its lines end.
#include <crochet/data/line_pieces.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../io/idx_files.hpp"

namespace line_pieces_test {

using crochet::detail::LinePieces;
using namespace crochet::test;
constexpr std::size_t piece = LinePieces::piece_bytes;

/// The pieces of a file, joined; and that each but the last ends with a line.
std::optional<std::string> joined(const std::string& text, bool packed = false) {
  const TemporaryFolder folder;
  const Bytes bytes(text.begin(), text.end());
  LinePieces pieces(folder.write("t", packed ? gzipped(bytes) : bytes), std::uint64_t{1} << 30,
                    crochet::io::local_files());
  std::string all;
  for (bool ended = false;;) {
    const auto next = pieces.next();
    if (!next) return std::nullopt;
    if (next->empty()) return all;
    EXPECT_FALSE(ended);
    ended = next->back() != '\n';
    all += *next;
  }
}

std::string lines(std::size_t bytes, std::size_t width) {
  std::string text;
  for (char c = 'a'; text.size() < bytes; c = c == 'z' ? 'a' : static_cast<char>(c + 1))
    text += std::string(width, c) + '\n';
  return text;
}

TEST(LinePieces, AreTheWholeFile) {
  for (const std::size_t width : {0U, 1U, 31U, 32U, 1000U, 131'070U, 131'071U})
    for (const std::size_t bytes : {0U, 1U, 131'071U, 131'072U, 131'073U, 500'000U}) {
      const std::string text = lines(bytes, width);
      EXPECT_TRUE(joined(text) == text) << width << ", " << bytes;
      EXPECT_TRUE(joined(text + "end") == text + "end") << width << ", " << bytes;
    }
  const std::string text = lines(500'000, 77);
  EXPECT_TRUE(joined(text, true) == text);
}

TEST(LinePieces, NoneForALineThatIsLonger) {
  EXPECT_EQ(joined(lines(1, piece)), std::nullopt);
  EXPECT_EQ(joined("short\n" + lines(1, 2 * piece)), std::nullopt);
  EXPECT_EQ(joined(std::string(piece - 1, 'x')), std::string(piece - 1, 'x'));  // the end is seen
}

}  // namespace line_pieces_test
