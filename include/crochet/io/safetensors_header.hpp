// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file: a length, a JSON object with the position of each tensor, and spaces.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/io/safetensors_metadata.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io::detail {

/// Position of a tensor's bytes relative to the end of the header, and their CRC if this library wrote the file.
struct SafetensorsPlace {
  std::uint64_t begin = 0, size = 0;
  std::optional<std::uint32_t> crc{};
};
using SafetensorsTensor = std::pair<TensorEntry, SafetensorsPlace>;

/// The decoded header.
struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors{};  // sorted by offset
  SafetensorsMetadata metadata{};            // without this library's own entries
};

/// Reads and checks a header. `begin`: the length and the header. Throws DataLossError, without the file's name.
/// Memory: see docs/file-formats.md.
SafetensorsHeader read_safetensors_header(std::string_view begin, std::uint64_t file_size);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/safetensors_header.ipp>
#endif
