// SPDX-License-Identifier: Apache-2.0
// Repairs the checksums of an event file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/little_endian.hpp>
#include <crochet/io/tfrecord.hpp>

namespace crochet::test {

/// The file with the right checksums, up to the first record that exceeds it.
inline std::string repair_records(std::string file) {
  for (std::size_t at = 0; file.size() - at >= 16;) {
    const auto length = little_endian<std::uint64_t>(std::string_view{file}.substr(at));
    const auto repair = [&](std::size_t begin, std::size_t size) {
      std::string crc;
      append_little_endian(crc, io::detail::masked_crc_of(std::string_view{file}.substr(begin, size)));
      file.replace(begin + size, 4, crc);
    };
    repair(at, 8);
    if (length > file.size() - at - 16) break;
    repair(at + 12, static_cast<std::size_t>(length));
    at += 16 + static_cast<std::size_t>(length);
  }
  return file;
}

}  // namespace crochet::test
