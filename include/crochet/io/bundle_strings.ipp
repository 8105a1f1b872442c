// SPDX-License-Identifier: Apache-2.0
// The compiled half of bundle_strings.hpp.
#pragma once

#include <crochet/io/bundle_strings.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/io/crc32c.hpp>

namespace crochet::io::detail {

CROCHET_INLINE std::string little_endian_bytes(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

/// 4 bytes in the checksum, or 8 if the length does not fit into 4.
CROCHET_INLINE std::uint32_t crc_of_length(std::uint64_t length, std::uint32_t before) {
  return crc32c(little_endian_bytes(length, length > std::numeric_limits<std::uint32_t>::max() ? 8 : 4), before);
}

CROCHET_INLINE std::pair<std::string, std::uint32_t> pack_strings(std::span<const std::string> strings) {
  std::string bytes;
  std::uint32_t crc = 0;
  for (const std::string& text : strings) {
    crc = crc_of_length(text.size(), crc);
    std::uint64_t rest = text.size();
    for (; rest >= 0x80; rest >>= 7) bytes += static_cast<char>((rest & 0x7f) | 0x80);
    bytes += static_cast<char>(rest);
  }
  const std::string stored = little_endian_bytes(masked_crc(crc), 4);
  crc = crc32c(stored, crc);
  bytes += stored;
  for (const std::string& text : strings) {
    crc = crc32c(text, crc);
    bytes += text;
  }
  return {std::move(bytes), crc};
}

/// Empty if the length does not end within the bytes.
CROCHET_INLINE std::optional<std::uint64_t> take_length(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

CROCHET_INLINE std::optional<std::vector<std::string>> unpack_strings(std::string_view bytes, std::size_t count,
                                                                      std::optional<std::uint32_t> expected) {
  std::string_view lengths = bytes;
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<std::uint64_t> length = take_length(bytes);
    if (!length) return std::nullopt;
    crc = crc_of_length(*length, crc);
  }
  const std::string stored = little_endian_bytes(masked_crc(crc), 4);
  if (!bytes.starts_with(stored)) return std::nullopt;
  if (expected && masked_crc(crc32c(bytes, crc)) != *expected) return std::nullopt;
  bytes.remove_prefix(stored.size());
  std::vector<std::string> strings;
  strings.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t length = *take_length(lengths);
    if (length > bytes.size()) return std::nullopt;
    strings.emplace_back(bytes.substr(0, static_cast<std::size_t>(length)));
    bytes.remove_prefix(static_cast<std::size_t>(length));
  }
  return bytes.empty() ? std::optional(std::move(strings)) : std::nullopt;
}

}  // namespace crochet::io::detail
