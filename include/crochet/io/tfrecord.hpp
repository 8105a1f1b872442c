// SPDX-License-Identifier: Apache-2.0
// TFRecord: a file of records, each with its length and checksums. The format of event files.
//
//   u64 length | u32 masked CRC-32C of the length | payload | u32 masked CRC-32C of the payload      (little-endian)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>

namespace crochet::io {

namespace detail {
inline constexpr std::size_t record_head = 12, record_foot = 4;

std::uint32_t masked_crc_of(std::string_view bytes);
}  // namespace detail

/// Appends one record to the bytes of a file.
void append_tfrecord(std::string& file, std::string_view payload);

/// Removes the next record from the front of a file's bytes and returns its payload. Empty if the bytes end before the
/// record does, for example while it is being written: `rest` is then unchanged, and empty at a regular end. Throws
/// DataLossError if a checksum is wrong.
std::optional<std::string_view> next_tfrecord(std::string_view& rest);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/tfrecord.ipp>
#endif
