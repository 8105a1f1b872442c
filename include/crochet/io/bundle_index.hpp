// SPDX-License-Identifier: Apache-2.0
// The index of a TensorBundle: what it says of each tensor.
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

/// Where the bytes of a tensor, or of a part of one, are in the data files.
struct BundleBytes {
  std::int32_t shard = 0;
  std::uint64_t offset = 0, size = 0;
  std::uint32_t crc = 0;  // masked
};

/// A part of a partitioned tensor: where it begins, how far it goes, and its bytes.
struct BundlePart {
  std::vector<std::int64_t> start{}, length{};
  BundleBytes bytes{};
};

/// A tensor: its bytes, or else its parts.
struct BundleTensor {
  BundleBytes bytes{};
  std::vector<BundlePart> parts{};
};

struct BundleIndex {
  std::int32_t shards = 1;
  std::vector<TensorEntry> entries{};   // sorted by name
  std::vector<BundleTensor> tensors{};  // the same, in the same order
  std::vector<BundleBytes> pieces{};    // all that the data files hold, sorted by shard and offset
};

/// Reads and checks an index. Throws DataLossError, without the name of the file. Memory: see docs/file-formats.md.
BundleIndex read_bundle_index(std::string_view bytes);

/// The index of one data file out of `shards`, the first, with these tensors. Throws LogicError if two have one name.
std::string write_bundle_index(std::span<const TensorRecord> tensors, std::span<const BundleBytes> places,
                               std::int32_t shards);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/bundle_index.ipp>
#endif
