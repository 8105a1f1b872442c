// SPDX-License-Identifier: Apache-2.0
// The hash in the names of dumped graphs: MurmurHash64A with TensorFlow's seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crochet::debug {

/// 64-bit hash of a serialized GraphDef, equal to TensorFlow's `Hash64`. Source: Austin Appleby's MurmurHash64A (public
/// domain), seed 0xDECAFCAFFE. Readers do not verify it.
constexpr std::uint64_t graph_hash(std::string_view bytes) {
  constexpr std::uint64_t seed = 0xDECAFCAFFE, m = 0xC6A4A7935BD1E995;
  constexpr int shift = 47;
  const auto little_endian = [&](std::size_t begin, std::size_t count) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < count; ++i) {
      word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[begin + i])) << (8 * i);
    }
    return word;
  };
  std::uint64_t hash = seed ^ (bytes.size() * m);
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = little_endian(at, 8) * m;
    word ^= word >> shift;
    hash = (hash ^ (word * m)) * m;
  }
  if (at < bytes.size()) hash = (hash ^ little_endian(at, bytes.size() - at)) * m;
  hash = (hash ^ (hash >> shift)) * m;
  return hash ^ (hash >> shift);
}

}  // namespace crochet::debug
