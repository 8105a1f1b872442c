// SPDX-License-Identifier: Apache-2.0
// The data file of a TensorBundle and a matching index, checksums included: tensors, parts of tensors and strings at
// any offset and of any size.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/proto/checkpoint.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/io/bundle_strings.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/ordered_code.hpp>
#include <crochet/io/sorted_table.hpp>
#include <crochet/io/tensor_bundle.hpp>

#include "file_reader.hpp"

using namespace crochet;
using io::detail::SliceExtent;

namespace {

/// The checksum of these bytes for the index. For strings the lengths are included in another form. Their own checksum,
/// after the lengths, is repaired.
std::uint32_t checksum(std::string& data, std::size_t offset, std::size_t size, std::size_t strings) {
  std::string_view bytes = std::string_view{data}.substr(offset, size);
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < strings; ++i) {
    const std::optional<std::uint64_t> length = io::detail::take_length(bytes);
    if (!length) break;
    crc = io::detail::crc_of_length(*length, crc);
  }
  if (strings > 0 && bytes.size() >= 4) {
    const std::size_t at = offset + size - bytes.size();
    data.replace(at, 4, io::detail::little_endian_bytes(io::masked_crc(crc), 4));
    bytes = std::string_view{data}.substr(at, bytes.size());
  }
  return io::masked_crc(io::crc32c(bytes, crc));
}

proto::BundleEntryProto entry(Input& in, std::string& data) {
  proto::BundleEntryProto entry;
  const int type = in.byte() % 32;
  entry.set_dtype(static_cast<proto::DataType>(type));
  std::int64_t elements = 1;
  entry.mutable_shape();
  for (int rank = in.byte() % 4; rank > 0; --rank) {
    const std::int64_t size = in.number();
    entry.mutable_shape()->add_dim()->set_size(size);
    elements = size >= 0 && size < 256 ? elements * size : 0;
  }
  entry.set_offset(in.number());
  const std::int64_t width = static_cast<std::int64_t>(io::size_of(static_cast<io::DataType>(type)));
  entry.set_size(in.byte() % 4 != 0 && width != 0 ? elements * width : in.number());
  if (in.byte() % 16 == 0) entry.set_shard_id(static_cast<std::int32_t>(in.number()));
  const auto offset = static_cast<std::uint64_t>(entry.offset()), size = static_cast<std::uint64_t>(entry.size());
  if (offset <= data.size() && size <= data.size() - offset) {
    const std::size_t strings = type == 7 ? static_cast<std::size_t>(elements) : 0;
    entry.set_crc32c(checksum(data, static_cast<std::size_t>(offset), static_cast<std::size_t>(size), strings));
  }
  return entry;
}

/// Parts of a tensor along its first dimension. Adds their entries to the table.
void add_parts(Input& in, const std::string& name, proto::BundleEntryProto& whole, std::string& data,
               std::vector<io::KeyValue>& table) {
  for (int parts = in.byte() % 4; parts > 0; --parts) {
    auto* slice = whole.add_slices();
    std::vector<SliceExtent> key;
    for (int d = 0; d < whole.shape().dim_size(); ++d) {
      const SliceExtent extent{in.number(), in.byte() % 2 == 0 ? -1 : in.number()};
      auto* to = slice->add_extent();
      to->set_start(extent.start);
      if (extent.length >= 0) to->set_length(extent.length);
      key.push_back(extent.length >= 0 ? extent : SliceExtent{});
    }
    table.emplace_back(io::detail::slice_key(name, key), entry(in, data).SerializeAsString());
  }
}

std::string index_of(Input& in, std::string& data) {
  proto::BundleHeaderProto header;
  header.set_num_shards(1);
  header.mutable_version()->set_producer(1);
  std::vector<io::KeyValue> table{{"", header.SerializeAsString()}};
  for (char name = 'a'; name <= 'a' + in.byte() % 4; ++name) {
    proto::BundleEntryProto tensor = entry(in, data);
    if (in.byte() % 4 == 0) add_parts(in, std::string(1, name), tensor, data, table);
    table.emplace_back(std::string(1, name), tensor.SerializeAsString());
  }
  std::sort(table.begin(), table.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  table.erase(std::unique(table.begin(), table.end(), same), table.end());
  return io::write_sorted_table(table);
}

}  // namespace

void fuzz(std::string_view bytes) {
  Input in{bytes};
  std::string data{in.take(in.byte())};
  const std::string index = index_of(in, data);
  test::MemoryFiles files;
  files["a.index"] = index;
  files["a.data-00000-of-00001"] = data;
  const test::Budget budget{test::data_budget.per_byte,
                            test::data_budget.constant + test::index_budget.of(index.size())};
  require_within(budget, data.size(), [&] {
    const io::TensorBundleReader reader{"a", files};
    reader.verify();
    for (const io::TensorEntry& tensor : reader.tensors()) {
      if (tensor.type == io::DataType::string) {
        require(reader.read_strings(tensor).size() == tensor.elements);
      } else if (io::size_of(tensor.type) != 0) {
        require(tensor.byte_size <= data.size());
        std::vector<std::byte> to(tensor.byte_size);
        reader.read(tensor, to);
      }
    }
  });
}
