// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), the checksum of checkpoints and event files, and its masked form.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace crochet::io {

/// The CRC-32C of the bytes. `before` is the CRC of the preceding bytes: crc32c(b, crc32c(a)) is that of a followed by
/// b. Cost: ISA-L's code for the current processor, several bytes a cycle.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

std::uint32_t crc32c(std::string_view text, std::uint32_t before = 0);

/// The form in which a CRC is stored next to its data: rotated right by 15 bits, plus a constant (the LevelDB table
/// format, TFRecord). Reason: a CRC over data that contain their own CRC detects little.
constexpr std::uint32_t masked_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u; }

/// The inverse of masked_crc().
constexpr std::uint32_t unmasked_crc(std::uint32_t masked) {
  const std::uint32_t turned = masked - 0xA282EAD8u;
  return (turned >> 17) | (turned << 15);
}

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/crc32c.ipp>
#endif
