// SPDX-License-Identifier: Apache-2.0
// The index of a TensorBundle: name, type, shape and position of each tensor.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io::detail {

/// Position of the bytes of a tensor, or of a part of one, in the data files.
struct BundleBytes {
  std::int32_t shard = 0;
  std::uint64_t offset = 0, size = 0;
  std::uint32_t crc = 0;  // masked
};

/// A part of a partitioned tensor: start and length of each dimension, and its bytes.
struct BundlePart {
  std::vector<std::int64_t> start{}, length{};
  BundleBytes bytes{};
};

/// A tensor: its bytes, or its parts.
struct BundleTensor {
  BundleBytes bytes{};
  std::vector<BundlePart> parts{};
};

struct BundleIndex {
  std::int32_t shards = 1;
  std::vector<TensorEntry> entries{};   // sorted by name
  std::vector<BundleTensor> tensors{};  // parallel to `entries`
  std::vector<BundleBytes> pieces{};    // all byte ranges in the data files, sorted by shard and offset
};

/// Reads and checks an index. Throws DataLossError, without the file's name. Memory: see docs/file-formats.md.
BundleIndex read_bundle_index(std::string_view bytes);

/// The index for these tensors, all in the first of `shards` data files. Throws LogicError if two have the same name.
std::string write_bundle_index(std::span<const TensorRecord> tensors, std::span<const BundleBytes> places,
                               std::int32_t shards);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/bundle_index.ipp>
#endif
