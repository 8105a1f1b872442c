// SPDX-License-Identifier: Apache-2.0
// The compiled half of tensor_bundle.hpp.
#pragma once

#include <crochet/io/tensor_bundle.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/io/bundle_index.hpp>
#include <crochet/io/bundle_strings.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/tensor_bundle_reader.hpp>
#include <crochet/storage/checkpoint_format.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>
#include <crochet/storage/names_in.hpp>
#include <crochet/storage/tensor_record.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet::io::detail {

/// Whether `text` has the form `.data-ddddd-of-ddddd`.
CROCHET_INLINE bool is_shard_suffix(std::string_view text) {
  const auto is_number = [](std::string_view s) {
    return std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return text.size() == 20 && text.starts_with(".data-") && is_number(text.substr(6, 5)) &&
         text.substr(11, 4) == "-of-" && is_number(text.substr(15));
}

inline constexpr std::size_t write_piece = std::size_t{1} << 23;  // smaller writes cost the file system more

CROCHET_INLINE BundleBytes write_tensor(TemporaryFile& file, const TensorRecord& tensor, std::uint64_t offset) {
  if (tensor.type == DataType::string) {
    const auto [bytes, crc] = pack_strings(tensor.strings);
    file.write(std::as_bytes(std::span{bytes}));
    return {0, offset, bytes.size(), masked_crc(crc)};
  }
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < tensor.bytes.size(); at += write_piece) {
    const auto piece = tensor.bytes.subspan(at, std::min(write_piece, tensor.bytes.size() - at));
    crc = crc32c(piece, crc);
    file.write(piece);
  }
  return {0, offset, tensor.bytes.size(), masked_crc(crc)};
}

CROCHET_INLINE std::vector<BundleBytes> write_tensors(TemporaryFile& file, std::span<const TensorRecord> tensors) {
  std::vector<BundleBytes> places;
  std::uint64_t offset = 0;
  for (const TensorRecord& tensor : tensors) {
    places.push_back(write_tensor(file, tensor, offset));
    offset += places.back().size;
  }
  return places;
}

/// Number of data files of a new checkpoint with this prefix, 1 or 2, chosen so that it replaces no file of an older
/// one.
CROCHET_INLINE std::int32_t unused_shards(const std::filesystem::path& prefix, FileSystem& files) {
  std::error_code error;
  if (!std::filesystem::exists(TensorBundle::index_file(prefix), error)) return 1;
  try {
    return read_bundle_index(read_whole_file(TensorBundle::index_file(prefix), files)).shards == 1 ? 2 : 1;
  } catch (const DataLossError&) {
    return 1;  // the old index is unreadable anyway; an IoError passes, so that its checkpoint is not replaced
  }
}

/// Data files that have their final name but no index yet. The destructor removes them unless keep() was called.
class UnindexedFiles {
 public:
  explicit UnindexedFiles(FileSystem& files) : files_(&files) {}
  UnindexedFiles(const UnindexedFiles&) = delete;
  UnindexedFiles& operator=(const UnindexedFiles&) = delete;
  ~UnindexedFiles() {
    for (const std::filesystem::path& path : paths_) (void)files_->remove(path);
  }
  void add(std::filesystem::path path) { paths_.push_back(std::move(path)); }
  void keep() { paths_.clear(); }

 private:
  FileSystem* files_;
  std::vector<std::filesystem::path> paths_{};
};

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE std::vector<std::filesystem::path> TensorBundle::files(const std::filesystem::path& prefix) {
  const std::filesystem::path folder = prefix.parent_path().empty() ? "." : prefix.parent_path();
  const std::string base = prefix.filename().string();
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const std::string& file : names_in(folder, error)) {
    if (!file.starts_with(base)) continue;
    std::string_view rest = std::string_view{file}.substr(base.size());
    if (rest.ends_with(".tmp")) rest.remove_suffix(4);
    if (rest == ".index" || rest == ".meta" || detail::is_shard_suffix(rest)) {
      found.push_back(prefix.parent_path() / file);
    }
  }
  const auto is_index = [&](const std::filesystem::path& path) { return path == index_file(prefix); };
  std::sort(found.begin(), found.end());
  std::stable_partition(found.begin(), found.end(), is_index);
  return found;
}

CROCHET_INLINE void TensorBundle::write(const std::filesystem::path& prefix, std::span<const TensorRecord> tensors,
                                        FileSystem& files) {
  for (const TensorRecord& tensor : tensors) check_record(tensor);
  const std::int32_t shards = detail::unused_shards(prefix, files);
  const std::vector<std::filesystem::path> older = TensorBundle::files(prefix);
  const auto data_file = [&](std::int32_t shard) { return prefix.string() + detail::shard_suffix(shard, shards); };

  TemporaryFile data{data_file(0), files};
  const std::vector<detail::BundleBytes> places = detail::write_tensors(data, tensors);
  data.start_sync();
  TemporaryFile index{index_file(prefix), files};
  const std::string bytes = detail::write_bundle_index(tensors, places, shards);
  index.write(std::as_bytes(std::span{bytes}));
  index.start_sync();
  Reader{index.path(), prefix.string(), ".tmp", files}.verify();  // while the disk is busy
  data.close();
  index.close();

  detail::UnindexedFiles unindexed{files};
  data.rename();
  unindexed.add(data_file(0));
  if (shards == 2) {
    TemporaryFile empty{data_file(1), files};
    empty.close();
    empty.rename();
    unindexed.add(data_file(1));
  }
  if (!older.empty()) sync_folder_of(prefix, files);  // the data must be durable before the new index replaces the old
  index.rename();
  unindexed.keep();
  sync_folder_of(prefix, files);
  for (const std::filesystem::path& file : older) {
    const bool replaced = file == index_file(prefix) || file == data_file(0) || file == data_file(1);
    const bool is_data =
        file.filename().string().find(".data-", prefix.filename().string().size()) != std::string::npos;
    if (is_data && !replaced) (void)files.remove(file);
  }
}

}  // namespace crochet::io
