// SPDX-License-Identifier: Apache-2.0
// The compiled half of safetensors.hpp.
#pragma once

#include <crochet/io/safetensors.hpp>

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

CROCHET_INLINE std::filesystem::path Safetensors::index_file(const std::filesystem::path& prefix) {
  return prefix.string() + ".safetensors";
}

}  // namespace crochet::io

namespace crochet::io::detail {

CROCHET_INLINE void require_different_names(std::span<const TensorRecord> tensors) {
  std::vector<std::string_view> names;
  for (const TensorRecord& tensor : tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw LogicError("crochet: there are two tensors \"" + std::string(*twice) + "\" to save");
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE std::vector<std::filesystem::path> Safetensors::files(const std::filesystem::path& prefix) {
  std::vector<std::filesystem::path> found;
  for (const char* ending : {".safetensors", ".safetensors.tmp"}) {
    std::error_code error;
    const std::filesystem::path file = prefix.string() + ending;
    if (std::filesystem::exists(file, error)) found.push_back(file);
  }
  return found;
}

CROCHET_INLINE void Safetensors::write(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors,
                                       FileSystem& files) {
  write(prefix, tensors, SafetensorsMetadata{}, files);
}

CROCHET_INLINE void Safetensors::write(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors,
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

}  // namespace crochet::io
