// SPDX-License-Identifier: Apache-2.0
// The compiled half of tfrecord.hpp.
#pragma once

#include <crochet/io/tfrecord.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/base/little_endian.hpp>
#include <crochet/io/crc32c.hpp>

namespace crochet::io::detail {

CROCHET_INLINE std::uint32_t masked_crc_of(std::string_view bytes) {
  return masked_crc(crc32c(std::as_bytes(std::span(bytes))));
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE void append_tfrecord(std::string& file, std::string_view payload) {
  const std::size_t begin = file.size(), size = detail::record_head + payload.size() + detail::record_foot;
  // So that without memory nothing is appended. At least doubled: records are appended one after the other.
  if (file.capacity() - begin < size) file.reserve(std::max(begin + size, 2 * file.capacity()));
  append_little_endian(file, static_cast<std::uint64_t>(payload.size()));
  append_little_endian(file, detail::masked_crc_of(std::string_view(file).substr(begin)));
  file += payload;
  append_little_endian(file, detail::masked_crc_of(payload));
}

CROCHET_INLINE std::optional<std::string_view> next_tfrecord(std::string_view& rest) {
  constexpr std::size_t around = detail::record_head + detail::record_foot;
  if (rest.size() < around) return {};
  const auto length = little_endian<std::uint64_t>(rest);
  if (little_endian<std::uint32_t>(rest.substr(8)) != detail::masked_crc_of(rest.substr(0, 8))) {
    throw DataLossError("crochet: a record's length is damaged: its checksum is another one");
  }
  if (length > rest.size() - around) return {};
  const std::string_view payload = rest.substr(detail::record_head, static_cast<std::size_t>(length));
  if (little_endian<std::uint32_t>(rest.substr(detail::record_head + payload.size())) !=
      detail::masked_crc_of(payload)) {
    throw DataLossError("crochet: a record is damaged: its checksum is another one");
  }
  rest.remove_prefix(around + payload.size());
  return payload;
}

}  // namespace crochet::io
