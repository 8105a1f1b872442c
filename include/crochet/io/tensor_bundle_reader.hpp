// SPDX-License-Identifier: Apache-2.0
// Reads TensorBundles of TensorFlow and of this library.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/io/bundle_index.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io {

namespace detail {

static_assert(std::endian::native == std::endian::little, "crochet::io: the formats' readers copy little-endian bytes");

inline constexpr std::size_t read_piece = std::size_t{1} << 18;  // stays in the cache between reading and CRC

/// ".data-00000-of-00001"
std::string shard_suffix(std::int32_t shard, std::int32_t shards);

}  // namespace detail

/// Reads a TensorBundle with one or several data files, also tensors in parts; see CheckpointReader.
/// - Compares every size and offset with the others and with the files before using it.
/// - Ignores bytes between tensors; this library and TensorFlow leave none.
/// - Refuses big-endian bundles, and the elements of resources and variants, which only TensorFlow can interpret.
class TensorBundleReader {
 public:
  explicit TensorBundleReader(const std::filesystem::path& prefix, FileSystem& files = local_files())
      : TensorBundleReader(prefix.string() + ".index", prefix.string(), "", files) {}

  /// Reads the given index file, and data files named `data` + the usual suffix + `ending`.
  TensorBundleReader(const std::filesystem::path& index, const std::string& data, const std::string& ending,
                     FileSystem& files = local_files());

  std::span<const TensorEntry> tensors() const { return index_.entries; }

  const TensorEntry* find(std::string_view name) const;

  void read(const TensorEntry& entry, std::span<std::byte> to) const;

  std::vector<std::string> read_strings(const TensorEntry& entry) const;

  void verify() const;

 private:
  void verify_all() const;

  /// Opens the data file of these bytes if necessary. Throws DataLossError if the file is missing or too short.
  void open(const detail::BundleBytes& piece, const std::string& data, const std::string& ending, FileSystem& files);

  const detail::BundleTensor& place_of(const TensorEntry& entry) const;
  const InputFile& file_of(const detail::BundleBytes& bytes) const { return shards_.at(bytes.shard); }

  [[noreturn]] void fail(const detail::BundleBytes& bytes, const std::string& name) const;

  void read_bytes(const std::string& name, const detail::BundleBytes& bytes, std::span<std::byte> to) const;

  void verify_bytes(const std::string& name, const detail::BundleBytes& bytes, std::span<std::byte> buffer) const;

  void read_parts(const TensorEntry& entry, const detail::BundleTensor& tensor, std::span<std::byte> to) const;

  std::filesystem::path path_;  // path of the index, for messages
  detail::BundleIndex index_{};
  std::map<std::int32_t, InputFile> shards_{};  // the data files with tensors
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/tensor_bundle_reader.ipp>
#endif
