// SPDX-License-Identifier: Apache-2.0
// The format of a string tensor in a TensorBundle: the lengths, a checksum of the lengths, then the strings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace crochet::io::detail {

/// The lowest `bytes` bytes of `value`, least significant first.
std::string little_endian_bytes(std::uint64_t value, unsigned bytes);

/// Adds a length to a checksum, as 4 bytes, or as 8 if it does not fit into 4. In the file it is a varint.
std::uint32_t crc_of_length(std::uint64_t length, std::uint32_t before);

/// The bytes for the file, and the checksum for the index (not masked).
std::pair<std::string, std::uint32_t> pack_strings(std::span<const std::string> strings);

/// Removes one length from the front. Empty if it does not end within the bytes.
std::optional<std::uint64_t> take_length(std::string_view& bytes);

/// The `count` strings. Empty if the bytes are invalid or the checksum is wrong.
/// - `count`: at most the number of bytes.
/// - `expected`: the checksum, masked as in the index; std::nullopt skips the comparison.
std::optional<std::vector<std::string>> unpack_strings(std::string_view bytes, std::size_t count,
                                                       std::optional<std::uint32_t> expected = std::nullopt);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/bundle_strings.ipp>
#endif
