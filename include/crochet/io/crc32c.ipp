// SPDX-License-Identifier: Apache-2.0
// The compiled half of crc32c.hpp.
#pragma once

#include <crochet/io/crc32c.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <isa-l/crc.h>

namespace crochet::io {

#if defined(__x86_64__)
namespace detail {
__attribute__((target("avx"))) CROCHET_INLINE void clear_upper_halves() { __builtin_ia32_vzeroupper(); }
}  // namespace detail
#endif

CROCHET_INLINE std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  constexpr std::size_t piece = std::size_t{1} << 30;  // ISA-L counts in int
  std::uint32_t crc = ~before;
  while (!bytes.empty()) {
    const std::size_t n = std::min(bytes.size(), piece);
    // ISA-L only reads the bytes, but its parameter is not const.
    auto* begin = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    crc = crc32_iscsi(begin, static_cast<int>(n), crc);
    bytes = bytes.subspan(n);
  }
#if defined(__x86_64__)
  // With AVX-512 ISA-L leaves values in the upper parts of registers. A program without AVX then takes three times as
  // long for its arithmetic, until something clears them.
  if (__builtin_cpu_supports("avx") != 0) detail::clear_upper_halves();
#endif
  return ~crc;
}

CROCHET_INLINE std::uint32_t crc32c(std::string_view text, std::uint32_t before) {
  return crc32c(std::as_bytes(std::span{text}), before);
}

}  // namespace crochet::io
