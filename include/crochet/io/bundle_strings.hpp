// SPDX-License-Identifier: Apache-2.0
// How a TensorBundle holds a tensor of strings: the lengths, a checksum of the lengths, and the texts one after the
// other.
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

/// A number of `bytes` bytes, the least significant first.
std::string little_endian(std::uint64_t value, unsigned bytes);

/// A length counts with 4 bytes in the checksum, or with 8 if it does not fit; in the file it is a varint.
std::uint32_t crc_of_length(std::uint64_t length, std::uint32_t before);

/// The bytes in the file, and the checksum for the index (not masked).
std::pair<std::string, std::uint32_t> pack_strings(std::span<const std::string> strings);

/// One length; nothing if it does not end within the bytes.
std::optional<std::uint64_t> take_length(std::string_view& bytes);

/// The strings, `count` many, unless the bytes are not these or the checksum (masked, as in the index; none: it is not
/// compared) is wrong. `count` is at most the number of bytes.
std::optional<std::vector<std::string>> unpack_strings(std::string_view bytes, std::size_t count,
                                                       std::optional<std::uint32_t> expected = std::nullopt);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/bundle_strings.ipp>
#endif
