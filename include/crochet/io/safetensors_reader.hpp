// SPDX-License-Identifier: Apache-2.0
// Reads safetensors files of any writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/io/safetensors_header.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io {

/// Reads `<prefix>.safetensors` of any writer; see CheckpointReader.
/// - Stricter than the reference reader: no duplicate names, only spaces after the header, a header of at most
///   100,000,000 bytes.
/// - Compares all checksums in a file of this library. In other files it can only check the header.
/// - Throws DataLossError for types that TensorFlow does not have (F4, F6, F8_E8M0).
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::filesystem::path& prefix, FileSystem& files = local_files())
      : SafetensorsReader(InputFile{prefix.string() + ".safetensors", files}) {}

  explicit SafetensorsReader(InputFile file);

  /// The texts under `__metadata__`, without those of this library.
  const SafetensorsMetadata& metadata() const { return metadata_; }

  std::span<const TensorEntry> tensors() const { return entries_; }

  const TensorEntry* find(std::string_view name) const;

  void read(const TensorEntry& entry, std::span<std::byte> to) const;

  std::vector<std::string> read_strings(const TensorEntry& entry) const;

  void verify() const;

 private:
  /// Reads the length and the header. Checks the length against the file's size first.
  std::string read_begin() const;
  void open(detail::SafetensorsHeader header);
  const detail::SafetensorsPlace& place_of(const TensorEntry& entry) const;
  [[noreturn]] void fail(const std::string& name) const;

  InputFile file_;
  std::uint64_t data_ = 0;  // end of the header
  std::vector<TensorEntry> entries_{};
  std::vector<detail::SafetensorsPlace> places_{};
  SafetensorsMetadata metadata_{};
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/safetensors_reader.ipp>
#endif
