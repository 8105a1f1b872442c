// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), which checkpoints and event files carry, and the masked form in which those hold it.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <isa-l/crc.h>

namespace crochet::io {

/// The CRC-32C of the bytes. `before` is the CRC of what comes before them: crc32c(b, crc32c(a)) is that of a and b in
/// one piece. Cost: ISA-L's code for the processor at hand, several bytes a cycle.
inline std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  constexpr std::size_t piece = std::size_t{1} << 30;  // ISA-L counts in int
  std::uint32_t crc = ~before;
  while (!bytes.empty()) {
    const std::size_t n = std::min(bytes.size(), piece);
    // It only reads, though its parameter does not say so.
    auto* begin = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    crc = crc32_iscsi(begin, static_cast<int>(n), crc);
    bytes = bytes.subspan(n);
  }
  return ~crc;
}

inline std::uint32_t crc32c(std::string_view text, std::uint32_t before = 0) {
  return crc32c(std::as_bytes(std::span{text}), before);
}

/// The form in which a CRC is stored beside the data it is of, because the CRC of data that contain their own CRC says
/// little: turned by 15 bits, and a constant added (the LevelDB table format, TFRecord).
constexpr std::uint32_t masked_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u; }

/// What masked_crc() was given.
constexpr std::uint32_t unmasked_crc(std::uint32_t masked) {
  const std::uint32_t turned = masked - 0xA282EAD8u;
  return (turned >> 17) | (turned << 15);
}

}  // namespace crochet::io
