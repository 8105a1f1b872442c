// SPDX-License-Identifier: Apache-2.0
// The index of a TensorBundle: the header and one entry for each tensor, as messages in a sorted table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <crochet/proto/checkpoint.pb.h>
#include <crochet/error.hpp>
#include <crochet/io/bundle_entry.hpp>
#include <crochet/io/sorted_table.hpp>
#include <crochet/io/tensor_record.hpp>

namespace crochet::io::detail {

struct BundleIndex {
  std::int32_t shards = 1;
  std::vector<TensorEntry> entries{};   // sorted by name
  std::vector<BundleTensor> tensors{};  // the same, in the same order
  std::vector<BundleBytes> pieces{};    // all that the data files hold, sorted by shard and offset
};

template <class Message>
Message parse_message(const std::string& bytes, std::string_view what) {
  Message message;
  if (!message.ParseFromString(bytes)) throw DataLossError("the message for " + std::string(what) + " is damaged");
  return message;
}

/// The number of shards, if this is an index that this program can read.
inline std::int32_t check_header(const std::string& bytes) {
  const auto header = parse_message<tensorflow::BundleHeaderProto>(bytes, "its header");
  const auto& bad = header.version().bad_consumers();
  if (header.endianness() != tensorflow::BundleHeaderProto::LITTLE) {
    throw DataLossError("its tensors are big-endian, which this reader does not take");
  }
  if (header.version().producer() < 0 || header.version().min_consumer() > 1 ||
      std::find(bad.begin(), bad.end(), 1) != bad.end()) {
    throw DataLossError("it is of a version of the format that this reader does not know");
  }
  if (header.num_shards() < 1 || header.num_shards() > 99999) throw DataLossError("its number of data files is wrong");
  return header.num_shards();
}

/// Nothing lies on top of something else in a data file.
inline void check_overlap(std::vector<BundleBytes>& pieces) {
  const auto place = [](const BundleBytes& piece) { return std::tie(piece.shard, piece.offset, piece.size); };
  std::sort(pieces.begin(), pieces.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const BundleBytes& before = pieces[i - 1];
    if (before.shard == pieces[i].shard && before.size > pieces[i].offset - before.offset) {
      throw DataLossError("two of its tensors overlap");
    }
  }
}

/// Reads and checks an index. Throws DataLossError, without the name of the file.
inline BundleIndex read_bundle_index(std::string_view bytes) {
  const std::vector<KeyValue> table = read_sorted_table(bytes);
  if (table.empty() || !table.front().first.empty()) throw DataLossError("its header is missing");
  BundleIndex index{.shards = check_header(table.front().second)};
  EntryMap parts;
  for (const auto& [key, value] : table) {
    if (!key.empty() && key.front() == '\0') parts[key] = parse_message<tensorflow::BundleEntryProto>(value, "a part");
  }
  for (const auto& [key, value] : table) {
    if (key.empty() || key.front() == '\0') continue;
    const auto proto = parse_message<tensorflow::BundleEntryProto>(value, "tensor \"" + key + "\"");
    index.entries.push_back(check_entry(key, proto));
    BundleTensor& tensor = index.tensors.emplace_back();
    if (proto.slices_size() > 0) {
      tensor.parts = check_parts(index.entries.back(), proto, parts, index.shards);
      for (const BundlePart& part : tensor.parts) index.pieces.push_back(part.bytes);
    } else {
      tensor.bytes = check_bytes(index.entries.back(), proto, index.shards);
      index.pieces.push_back(tensor.bytes);
    }
  }
  check_overlap(index.pieces);
  return index;
}

/// The index of one data file out of `shards`, the first, with these tensors. Throws LogicError if two have one name.
inline std::string write_bundle_index(std::span<const TensorRecord> tensors, std::span<const BundleBytes> places,
                                      std::int32_t shards) {
  std::vector<KeyValue> table;
  tensorflow::BundleHeaderProto header;
  header.set_num_shards(shards);
  header.mutable_version()->set_producer(1);
  table.emplace_back("", header.SerializeAsString());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensorflow::BundleEntryProto entry;
    entry.set_dtype(static_cast<tensorflow::DataType>(tensors[i].type));
    entry.mutable_shape();  // there for a scalar, too
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
