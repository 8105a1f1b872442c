// SPDX-License-Identifier: Apache-2.0
// The compiled half of bundle_index.hpp: the header and one entry for each tensor, as messages in a sorted table.
#pragma once

#include <crochet/io/bundle_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <crochet/proto/checkpoint.pb.h>
#include <crochet/base/error.hpp>
#include <crochet/io/bundle_entry.ipp>
#include <crochet/io/sorted_table.hpp>
#include <crochet/io/sorted_table_reader.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io::detail {

template <class Message>
Message parse_message(std::string_view bytes, std::string_view what) {
  Message message;
  const bool fits = bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (!fits || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw DataLossError("the message for " + std::string(what) + " is damaged");
  return message;
}

/// The number of shards. Throws DataLossError if this program cannot read the index.
CROCHET_INLINE std::int32_t check_header(std::string_view bytes) {
  const auto header = parse_message<proto::BundleHeaderProto>(bytes, "its header");
  const auto& bad = header.version().bad_consumers();
  if (header.endianness() != proto::BundleHeaderProto::LITTLE) {
    throw DataLossError("its tensors are big-endian, which this reader does not take");
  }
  if (header.version().producer() < 0 || header.version().min_consumer() > 1 ||
      std::find(bad.begin(), bad.end(), 1) != bad.end()) {
    throw DataLossError("it is of a version of the format that this reader does not know");
  }
  if (header.num_shards() < 1 || header.num_shards() > 99999) throw DataLossError("its number of data files is wrong");
  return header.num_shards();
}

/// Sorts the pieces and throws DataLossError if two overlap.
CROCHET_INLINE void check_overlap(std::vector<BundleBytes>& pieces) {
  const auto place = [](const BundleBytes& piece) { return std::tie(piece.shard, piece.offset, piece.size); };
  std::sort(pieces.begin(), pieces.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const BundleBytes& before = pieces[i - 1];
    if (before.shard == pieces[i].shard && before.size > pieces[i].offset - before.offset) {
      throw DataLossError("two of its tensors overlap");
    }
  }
}

/// Processes the entries of an index in their order: the header, the parts of partitioned tensors, the tensors.
class BundleIndexReader {
 public:
  void entry(std::string_view key, std::string_view value) {
    if (key.empty()) {
      index_.shards = check_header(value);
      has_header_ = true;
      return;
    }
    if (!has_header_) throw DataLossError("its header is missing");
    if (key.front() == '\0') {
      const auto proto = parse_message<proto::BundleEntryProto>(value, "a part");
      const TensorEntry part = check_entry("", proto);
      parts_.push_back({std::string(key), part, check_bytes(part, proto, index_.shards)});
    } else {
      tensor(key, parse_message<proto::BundleEntryProto>(value, "tensor \"" + std::string(key) + "\""));
    }
  }
  BundleIndex finish() {
    if (!has_header_) throw DataLossError("its header is missing");
    check_overlap(index_.pieces);
    return std::move(index_);
  }

 private:
  void tensor(std::string_view name, const proto::BundleEntryProto& proto) {
    const TensorEntry& entry = index_.entries.emplace_back(check_entry(name, proto));
    BundleTensor& tensor = index_.tensors.emplace_back();
    if (proto.slices_size() > 0) {
      tensor.parts = check_parts(entry, proto, parts_);
      for (const BundlePart& part : tensor.parts) index_.pieces.push_back(part.bytes);
    } else {
      tensor.bytes = check_bytes(entry, proto, index_.shards);
      index_.pieces.push_back(tensor.bytes);
    }
  }

  BundleIndex index_{};
  std::vector<StoredPart> parts_{};  // sorted by key, like the table
  bool has_header_ = false;
};

CROCHET_INLINE BundleIndex read_bundle_index(std::string_view bytes) {
  BundleIndexReader reader;
  for_each_table_entry(bytes, [&](std::string_view key, std::string_view value) { reader.entry(key, value); });
  return reader.finish();
}

CROCHET_INLINE std::string write_bundle_index(std::span<const TensorRecord> tensors,
                                              std::span<const BundleBytes> places, std::int32_t shards) {
  std::vector<KeyValue> table;
  proto::BundleHeaderProto header;
  header.set_num_shards(shards);
  header.mutable_version()->set_producer(1);
  table.emplace_back("", header.SerializeAsString());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    proto::BundleEntryProto entry;
    entry.set_dtype(static_cast<proto::DataType>(tensors[i].type));
    entry.mutable_shape();  // also present for a scalar
    for (const std::int64_t size : tensors[i].shape) entry.mutable_shape()->add_dim()->set_size(size);
    entry.set_offset(static_cast<std::int64_t>(places[i].offset));
    entry.set_size(static_cast<std::int64_t>(places[i].size));
    entry.set_crc32c(places[i].crc);
    table.emplace_back(tensors[i].name, entry.SerializeAsString());
  }
  std::sort(table.begin(), table.end());
  return write_sorted_table(table);
}

}  // namespace crochet::io::detail
