// SPDX-License-Identifier: Apache-2.0
// Reads and checks one tensor's entry in the index of a TensorBundle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/proto/checkpoint.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/io/bundle_index.hpp>
#include <crochet/io/ordered_code.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io::detail {

[[noreturn]] CROCHET_COLD CROCHET_INLINE void index_is_wrong(std::string_view name, const std::string& why) {
  throw DataLossError("what it says of tensor \"" + std::string(name) + "\" cannot be: " + why);
}

CROCHET_INLINE std::vector<std::int64_t> shape_of(const proto::TensorShapeProto& shape) {
  std::vector<std::int64_t> sizes;
  for (const auto& dim : shape.dim()) sizes.push_back(dim.size());
  return sizes;
}

/// Type and shape of a tensor. Throws DataLossError if one of them is invalid.
CROCHET_INLINE TensorEntry check_entry(std::string_view name, const proto::BundleEntryProto& proto) {
  TensorEntry entry{.name = std::string(name), .type = static_cast<DataType>(proto.dtype()), .shape = {}};
  if (!is_known(entry.type)) index_is_wrong(name, "type " + std::to_string(proto.dtype()));
  if (proto.shape().unknown_rank() || proto.shape().dim_size() > 254) index_is_wrong(name, "its rank");
  entry.shape = shape_of(proto.shape());
  const std::optional<std::size_t> elements = element_count(entry.shape);
  const std::optional<std::size_t> bytes = elements ? byte_count(entry.type, *elements) : std::nullopt;
  if (!bytes) index_is_wrong(name, "a negative dimension, or too many elements to count");
  entry.elements = *elements;
  entry.byte_size = *bytes;
  return entry;
}

/// Position of the tensor's bytes. Throws DataLossError if their number does not match type and shape. The size of the
/// data file is checked later, when the file is open.
CROCHET_INLINE BundleBytes check_bytes(const TensorEntry& entry, const proto::BundleEntryProto& proto,
                                       std::int32_t shards) {
  if (proto.offset() < 0 || proto.size() < 0) index_is_wrong(entry.name, "a negative offset or size");
  if (proto.shard_id() < 0 || proto.shard_id() >= shards) index_is_wrong(entry.name, "a data file that does not exist");
  const BundleBytes bytes{proto.shard_id(), static_cast<std::uint64_t>(proto.offset()),
                          static_cast<std::uint64_t>(proto.size()), proto.crc32c()};
  if (size_of(entry.type) != 0 && bytes.size != entry.byte_size) {
    index_is_wrong(entry.name, std::to_string(bytes.size) + " bytes, where its shape and type ask for " +
                                   std::to_string(entry.byte_size));
  }
  if (entry.type == DataType::string && bytes.size < entry.elements) index_is_wrong(entry.name, "too few bytes");
  return bytes;
}

/// The entry of a key that begins with a zero byte: the bytes of a part.
struct StoredPart {
  std::string key{};
  TensorEntry entry{};
  BundleBytes bytes{};
  bool used = false;  // a tensor refers to it
};

/// The extents of one part, with the full length for extents without one, and the key of its bytes.
CROCHET_INLINE std::pair<BundlePart, std::string> check_slice(const TensorEntry& whole,
                                                              const proto::TensorSliceProto& slice) {
  if (static_cast<std::size_t>(slice.extent_size()) != whole.shape.size()) index_is_wrong(whole.name, "a part's rank");
  BundlePart part;
  std::vector<SliceExtent> key;
  for (int d = 0; d < slice.extent_size(); ++d) {
    const auto& extent = slice.extent(d);
    const std::int64_t size = whole.shape[static_cast<std::size_t>(d)];
    const bool all = extent.has_length_case() == proto::TensorSliceProto::Extent::HAS_LENGTH_NOT_SET;
    const std::int64_t length = all ? size : extent.length();
    if (extent.start() < 0 || length < 0 || extent.start() > size || length > size - extent.start()) {
      index_is_wrong(whole.name, "a part that lies outside");
    }
    part.start.push_back(extent.start());
    part.length.push_back(length);
    key.push_back(all ? SliceExtent{} : SliceExtent{extent.start(), length});
  }
  return {std::move(part), slice_key(whole.name, key)};
}

/// The stored part with that key. Each belongs to one tensor and to one place in it. `stored` is sorted by key.
CROCHET_INLINE const StoredPart& take_part(const TensorEntry& whole, std::string_view key,
                                           std::span<StoredPart> stored) {
  const auto before = [](const StoredPart& part, std::string_view wanted) { return part.key < wanted; };
  const auto at = std::lower_bound(stored.begin(), stored.end(), key, before);
  if (at == stored.end() || at->key != key) index_is_wrong(whole.name, "a part is missing");
  if (std::exchange(at->used, true)) index_is_wrong(whole.name, "a part is named twice");
  return *at;
}

/// The parts of a tensor. Throws DataLossError unless each exists once and their sizes add up to that of the tensor.
CROCHET_INLINE std::vector<BundlePart> check_parts(const TensorEntry& whole, const proto::BundleEntryProto& proto,
                                                   std::span<StoredPart> stored) {
  if (size_of(whole.type) == 0) index_is_wrong(whole.name, "parts of a tensor of this type");
  std::vector<BundlePart> found;
  std::uint64_t bytes = 0;
  for (const auto& slice : proto.slices()) {
    auto [part, key] = check_slice(whole, slice);
    const StoredPart& there = take_part(whole, key, stored);
    if (there.entry.type != whole.type || there.entry.shape != part.length) {
      index_is_wrong(whole.name, "a part's type or shape");
    }
    part.bytes = there.bytes;
    if (part.bytes.size > whole.byte_size - bytes) index_is_wrong(whole.name, "parts that overlap");
    bytes += part.bytes.size;
    found.push_back(std::move(part));
  }
  if (bytes != whole.byte_size) index_is_wrong(whole.name, "a part is missing");
  return found;
}

}  // namespace crochet::io::detail
