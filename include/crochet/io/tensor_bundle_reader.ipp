// SPDX-License-Identifier: Apache-2.0
// The compiled half of tensor_bundle_reader.hpp.
#pragma once

#include <crochet/io/tensor_bundle_reader.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/io/bundle_index.hpp>
#include <crochet/io/bundle_strings.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io::detail {

CROCHET_INLINE std::string shard_suffix(std::int32_t shard, std::int32_t shards) {
  const auto five = [](std::int32_t n) {
    const std::string digits = std::to_string(n);
    return std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits;
  };
  return ".data-" + five(shard) + "-of-" + five(shards);
}

/// Copies a part's bytes into the whole tensor, row by row, and marks the elements. False if an element is already
/// marked.
CROCHET_INLINE bool place_part(const TensorEntry& whole, const BundlePart& part, std::span<const std::byte> bytes,
                               std::span<std::byte> to, std::vector<bool>& filled) {
  if (bytes.empty()) return true;
  const std::size_t element = size_of(whole.type);
  const std::size_t rank = whole.shape.size();
  const std::size_t row = rank == 0 ? 1 : static_cast<std::size_t>(part.length.back());
  std::vector<std::int64_t> at(rank, 0);  // indices of the row within the part
  for (std::size_t from = 0; from < bytes.size(); from += row * element) {
    std::size_t place = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      place = place * static_cast<std::size_t>(whole.shape[d]) + static_cast<std::size_t>(part.start[d] + at[d]);
    }
    std::memcpy(to.data() + place * element, bytes.data() + from, row * element);
    for (std::size_t i = place; i < place + row; ++i) {
      if (filled[i]) return false;
      filled[i] = true;
    }
    for (std::size_t d = rank < 2 ? 0 : rank - 1; d-- > 0;) {  // the next row
      if (++at[d] < part.length[d]) break;
      at[d] = 0;
    }
  }
  return true;
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE TensorBundleReader::TensorBundleReader(const std::filesystem::path& index, const std::string& data,
                                                      const std::string& ending, FileSystem& files)
    : path_(index) {
  detail::reading(path_, [&] {
    const std::string bytes = read_whole_file(index, files);
    try {
      index_ = detail::read_bundle_index(bytes);
    } catch (const DataLossError& error) {
      throw DataLossError("crochet: " + index.string() + " is damaged: " + error.what());
    }
    for (const detail::BundleBytes& piece : index_.pieces) open(piece, data, ending, files);
  });
}

CROCHET_INLINE const TensorEntry* TensorBundleReader::find(std::string_view name) const {
  const auto before = [](const TensorEntry& entry, std::string_view wanted) { return entry.name < wanted; };
  const auto at = std::lower_bound(index_.entries.begin(), index_.entries.end(), name, before);
  return at != index_.entries.end() && at->name == name ? &*at : nullptr;
}

CROCHET_INLINE void TensorBundleReader::read(const TensorEntry& entry, std::span<std::byte> to) const {
  if (size_of(entry.type) == 0 || to.size() != entry.byte_size) {
    throw LogicError("crochet: tensor \"" + entry.name + "\" of the checkpoint has " + std::to_string(entry.byte_size) +
                     " bytes of type " + std::string(name_of(entry.type)) + ", and not " + std::to_string(to.size()));
  }
  const detail::BundleTensor& tensor = place_of(entry);
  if (tensor.parts.empty()) {
    read_bytes(entry.name, tensor.bytes, to);
  } else {
    detail::reading(path_, [&] { read_parts(entry, tensor, to); });
  }
}

CROCHET_INLINE std::vector<std::string> TensorBundleReader::read_strings(const TensorEntry& entry) const {
  if (entry.type != DataType::string) {
    throw LogicError("crochet: tensor \"" + entry.name + "\" of the checkpoint holds no strings");
  }
  const detail::BundleBytes& place = place_of(entry).bytes;
  return detail::reading(file_of(place).path(), [&] {
    std::string bytes(static_cast<std::size_t>(place.size), '\0');
    file_of(place).read_at(place.offset, std::as_writable_bytes(std::span{bytes}));
    std::optional<std::vector<std::string>> strings = detail::unpack_strings(bytes, entry.elements, place.crc);
    if (!strings) fail(place, entry.name);
    return *std::move(strings);
  });
}

CROCHET_INLINE void TensorBundleReader::verify() const {
  detail::reading(path_, [this] { verify_all(); });
}

CROCHET_INLINE void TensorBundleReader::verify_all() const {
  std::vector<std::byte> buffer(detail::read_piece);
  for (const TensorEntry& entry : index_.entries) {
    const detail::BundleTensor& tensor = place_of(entry);
    if (entry.type == DataType::string) {
      read_strings(entry);
    } else if (!tensor.parts.empty()) {
      std::vector<std::byte> whole(entry.byte_size);
      read(entry, whole);
    } else if (size_of(entry.type) != 0) {
      verify_bytes(entry.name, tensor.bytes, buffer);
    }
  }
}

CROCHET_INLINE void TensorBundleReader::open(const detail::BundleBytes& piece, const std::string& data,
                                             const std::string& ending, FileSystem& files) {
  auto at = shards_.find(piece.shard);
  if (at == shards_.end()) {
    const std::filesystem::path path = data + detail::shard_suffix(piece.shard, index_.shards) + ending;
    std::optional<InputFile> file = InputFile::if_there(path, files);
    if (!file) throw DataLossError("crochet: " + path.string() + " is missing: the index names tensors in it");
    at = shards_.emplace(piece.shard, *std::move(file)).first;
  }
  const InputFile& file = at->second;
  if (piece.offset > file.size() || piece.size > file.size() - piece.offset) {
    throw DataLossError("crochet: " + file.path().string() + " is damaged: it ends at byte " +
                        std::to_string(file.size()) + ", before a tensor that the index names");
  }
}

CROCHET_INLINE const detail::BundleTensor& TensorBundleReader::place_of(const TensorEntry& entry) const {
  return index_.tensors[static_cast<std::size_t>(&entry - index_.entries.data())];
}

CROCHET_COLD CROCHET_INLINE void TensorBundleReader::fail(const detail::BundleBytes& bytes,
                                                          const std::string& name) const {
  throw DataLossError("crochet: " + file_of(bytes).path().string() + " is damaged: the bytes of tensor \"" + name +
                      "\" do not have the checksum that the index names");
}

CROCHET_INLINE void TensorBundleReader::read_bytes(const std::string& name, const detail::BundleBytes& bytes,
                                                   std::span<std::byte> to) const {
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < to.size(); at += detail::read_piece) {
    const auto piece = to.subspan(at, std::min(detail::read_piece, to.size() - at));
    file_of(bytes).read_at(bytes.offset + at, piece);
    crc = crc32c(piece, crc);
  }
  if (masked_crc(crc) != bytes.crc) fail(bytes, name);
}

CROCHET_INLINE void TensorBundleReader::verify_bytes(const std::string& name, const detail::BundleBytes& bytes,
                                                     std::span<std::byte> buffer) const {
  std::uint32_t crc = 0;
  for (std::uint64_t at = 0; at < bytes.size; at += buffer.size()) {
    const auto piece = buffer.first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), bytes.size - at)));
    file_of(bytes).read_at(bytes.offset + at, piece);
    crc = crc32c(piece, crc);
  }
  if (masked_crc(crc) != bytes.crc) fail(bytes, name);
}

CROCHET_INLINE void TensorBundleReader::read_parts(const TensorEntry& entry, const detail::BundleTensor& tensor,
                                                   std::span<std::byte> to) const {
  std::vector<bool> filled(entry.elements);
  std::vector<std::byte> bytes;
  for (const detail::BundlePart& part : tensor.parts) {
    bytes.resize(static_cast<std::size_t>(part.bytes.size));
    read_bytes(entry.name, part.bytes, bytes);
    if (!detail::place_part(entry, part, bytes, to, filled)) {
      throw DataLossError("crochet: " + file_of(part.bytes).path().string() +
                          " is damaged: the index has overlapping parts of tensor \"" + entry.name + "\"");
    }
  }
}

}  // namespace crochet::io
