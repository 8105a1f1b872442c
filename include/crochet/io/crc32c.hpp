// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), which checkpoints and event files carry, and the masked form in which those hold it.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace crochet::io {

/// The CRC-32C of the bytes. `before` is the CRC of what comes before them: crc32c(b, crc32c(a)) is that of a and b in
/// one piece. Cost: ISA-L's code for the processor at hand, several bytes a cycle.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

std::uint32_t crc32c(std::string_view text, std::uint32_t before = 0);

/// The form in which a CRC is stored beside the data it is of, because the CRC of data that contain their own CRC says
/// little: turned by 15 bits, and a constant added (the LevelDB table format, TFRecord).
constexpr std::uint32_t masked_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u; }

/// What masked_crc() was given.
constexpr std::uint32_t unmasked_crc(std::uint32_t masked) {
  const std::uint32_t turned = masked - 0xA282EAD8u;
  return (turned >> 17) | (turned << 15);
}

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/crc32c.ipp>
#endif
