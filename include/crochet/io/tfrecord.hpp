// SPDX-License-Identifier: Apache-2.0
// TFRecord: a file of records, each with its length and checksums. Event files are such files.
//
//   u64 length | u32 masked CRC-32C of the length | payload | u32 masked CRC-32C of the payload      (little-endian)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/base/little_endian.hpp>
#include <crochet/io/crc32c.hpp>

namespace crochet::io {

namespace detail {
inline constexpr std::size_t record_head = 12, record_foot = 4;

inline std::uint32_t masked_crc_of(std::string_view bytes) {
  return masked_crc(crc32c(std::as_bytes(std::span(bytes))));
}
}  // namespace detail

/// Adds one record to the bytes of a file.
inline void append_tfrecord(std::string& file, std::string_view payload) {
  const std::size_t begin = file.size();
  detail::append_little_endian(file, static_cast<std::uint64_t>(payload.size()));
  detail::append_little_endian(file, detail::masked_crc_of(std::string_view(file).substr(begin)));
  file += payload;
  detail::append_little_endian(file, detail::masked_crc_of(payload));
}

/// Takes the next record from the front of a file's bytes and returns its payload. Nothing where the bytes end before
/// the record does, as while it is being written: `rest` is then left as it is, and empty at a clean end. Throws
/// DataLossError if a checksum is wrong.
inline std::optional<std::string_view> next_tfrecord(std::string_view& rest) {
  constexpr std::size_t around = detail::record_head + detail::record_foot;
  if (rest.size() < around) return {};
  const auto length = detail::little_endian<std::uint64_t>(rest);
  if (detail::little_endian<std::uint32_t>(rest.substr(8)) != detail::masked_crc_of(rest.substr(0, 8))) {
    throw DataLossError("crochet: a record's length is damaged: its checksum is another one");
  }
  if (length > rest.size() - around) return {};
  const std::string_view payload = rest.substr(detail::record_head, static_cast<std::size_t>(length));
  if (detail::little_endian<std::uint32_t>(rest.substr(detail::record_head + payload.size())) !=
      detail::masked_crc_of(payload)) {
    throw DataLossError("crochet: a record is damaged: its checksum is another one");
  }
  rest.remove_prefix(around + payload.size());
  return payload;
}

}  // namespace crochet::io
