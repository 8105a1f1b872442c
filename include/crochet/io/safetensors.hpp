// SPDX-License-Identifier: Apache-2.0
// Checkpoints as safetensors files.
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

/// A checkpoint as one file, `<prefix>.safetensors`, which the safetensors readers for Python, Rust and other languages
/// read.
/// - Checksums: the format has none. This library stores a CRC-32C of the header and of each tensor in the file's
///   metadata ("crochet.header_crc32c", "crochet.tensor_crc32c"); other readers ignore them.
/// - Strings: the format has none. They are stored as bytes (U8), and "crochet.strings" marks them for this library.
/// - Throws LogicError for complex128, quantized types, int4, uint4 and float8_e4m3b11fnuz, for names that are not
///   UTF-8 or occur twice, for the name "__metadata__", and for a header above 100,000,000 bytes.
/// - Cost of write: the bytes twice through CRC-32C, once to the disk, and once read back (docs/benchmarks.md).
struct Safetensors {
  static constexpr std::string_view name = "safetensors";
  using Reader = SafetensorsReader;

  static std::filesystem::path index_file(const std::filesystem::path& prefix);
  static std::vector<std::filesystem::path> files(const std::filesystem::path& prefix);
  /// See CheckpointFormat.
  static void write(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors,
                    FileSystem& files = local_files());
  /// The same, with the program's own texts under `__metadata__`, which every reader of the format returns (here:
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
