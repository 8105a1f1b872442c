// SPDX-License-Identifier: Apache-2.0
// safetensors files as checkpoints.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/io/safetensors_metadata.hpp>
#include <crochet/io/safetensors_reader.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io {

/// One file, `<prefix>.safetensors`, which the readers of that format for Python, Rust and others read. The format has
/// no checksums of its own; this library keeps a CRC-32C of the header and of each tensor in the file's metadata
/// ("crochet.header_crc32c", "crochet.tensor_crc32c"), which other readers pass over. It has no strings either: they
/// become bytes (U8) for others, and strings again here ("crochet.strings"). Nor complex128, quantized types and int4:
/// those are refused with LogicError, and so are names that are not UTF-8 and "__metadata__".
///
/// Cost of write: the bytes twice through CRC-32C, once to the disk, and once read back (docs/benchmarks.md).
struct Safetensors {
  static constexpr std::string_view name = "safetensors";
  using Reader = SafetensorsReader;

  static std::filesystem::path index_file(const std::filesystem::path& prefix);
  static std::vector<std::filesystem::path> files(const std::filesystem::path& prefix);
  /// See CheckpointFormat.
  static void write(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors,
                    FileSystem& files = local_files());
  /// The same, with texts of the program's own under `__metadata__`, which every reader of the format gives back (here:
  /// SafetensorsReader::metadata()). Throws LogicError for texts that are not UTF-8 and for keys that begin with
  /// "crochet.".
  static void write(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors,
                    const SafetensorsMetadata& metadata, FileSystem& files = local_files());
};

static_assert(CheckpointFormat<Safetensors>);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/safetensors.ipp>
#endif
