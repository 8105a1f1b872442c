// SPDX-License-Identifier: Apache-2.0
// safetensors files as checkpoints.
#pragma once

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/io/safetensors_layout.hpp>
#include <crochet/io/safetensors_reader.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>
#include <crochet/storage/tensor_record.hpp>
#include <crochet/storage/whole_file.hpp>

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

  static std::filesystem::path index_file(const std::filesystem::path& prefix) {
    return prefix.string() + ".safetensors";
  }
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

namespace detail {

inline void require_different_names(std::span<const TensorRecord> tensors) {
  std::vector<std::string_view> names;
  for (const TensorRecord& tensor : tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw LogicError("crochet: there are two tensors \"" + std::string(*twice) + "\" to save");
}

}  // namespace detail

inline std::vector<std::filesystem::path> Safetensors::files(const std::filesystem::path& prefix) {
  std::vector<std::filesystem::path> found;
  for (const char* ending : {".safetensors", ".safetensors.tmp"}) {
    std::error_code error;
    const std::filesystem::path file = prefix.string() + ending;
    if (std::filesystem::exists(file, error)) found.push_back(file);
  }
  return found;
}

inline void Safetensors::write(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors,
                               FileSystem& files) {
  write(prefix, tensors, SafetensorsMetadata{}, files);
}

inline void Safetensors::write(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors,
                               const SafetensorsMetadata& metadata, FileSystem& files) {
  for (const TensorRecord& tensor : tensors) check_record(tensor);
  detail::require_different_names(tensors);
  std::vector<std::string> packed;
  const std::vector<detail::SafetensorsItem> items = detail::in_file_order(tensors, packed);
  const std::string begin = detail::write_safetensors_header(items, metadata);
  TemporaryFile file{index_file(prefix), files};
  file.write(std::as_bytes(std::span{begin}));
  for (const detail::SafetensorsItem& item : items) file.write(item.bytes);
  file.start_sync();
  Reader{InputFile{file.path(), files}}.verify();  // while the disk is busy
  file.close();
  file.rename();
  sync_folder_of(prefix, files);
}

static_assert(CheckpointFormat<Safetensors>);

}  // namespace crochet::io
