// SPDX-License-Identifier: Apache-2.0
// Reads TensorBundles, TensorFlow's and this library's.
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

/// Reads a TensorBundle of one data file or several, tensors in parts included; see CheckpointReader. Every size and
/// offset is compared with the others and with the files before it is used. Bytes that lie between tensors are not
/// looked at; this library and TensorFlow leave none. Big-endian bundles are refused, and so are the elements of
/// resources and variants, which nobody but TensorFlow can make something of.
class TensorBundleReader {
 public:
  explicit TensorBundleReader(const std::filesystem::path& prefix, FileSystem& files = local_files())
      : TensorBundleReader(prefix.string() + ".index", prefix.string(), "", files) {}

  /// From an index file, and data files whose names are `data`, the usual suffix, and `ending`.
  TensorBundleReader(const std::filesystem::path& index, const std::string& data, const std::string& ending,
                     FileSystem& files = local_files());

  std::span<const TensorEntry> tensors() const { return index_.entries; }

  const TensorEntry* find(std::string_view name) const;

  void read(const TensorEntry& entry, std::span<std::byte> to) const;

  std::vector<std::string> read_strings(const TensorEntry& entry) const;

  void verify() const;

 private:
  void verify_all() const;

  /// The file in which these bytes are, if it is long enough.
  void open(const detail::BundleBytes& piece, const std::string& data, const std::string& ending, FileSystem& files);

  const detail::BundleTensor& place_of(const TensorEntry& entry) const;
  const InputFile& file_of(const detail::BundleBytes& bytes) const { return shards_.at(bytes.shard); }

  [[noreturn]] void fail(const detail::BundleBytes& bytes, const std::string& name) const;

  void read_bytes(const std::string& name, const detail::BundleBytes& bytes, std::span<std::byte> to) const;

  void verify_bytes(const std::string& name, const detail::BundleBytes& bytes, std::span<std::byte> buffer) const;

  void read_parts(const TensorEntry& entry, const detail::BundleTensor& tensor, std::span<std::byte> to) const;

  std::filesystem::path path_;  // of the index, for messages
  detail::BundleIndex index_{};
  std::map<std::int32_t, InputFile> shards_{};  // those that hold something
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/tensor_bundle_reader.ipp>
#endif
