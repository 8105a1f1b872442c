// SPDX-License-Identifier: Apache-2.0
// Malicious files: every checksum is correct, and the content is not. A reader rejects them or reads what exists. Its
// memory is bounded by the size of the file, and it never reads out of bounds (see the preset asan).
#include <crochet/proto/tensor.pb.h>
#include <crochet/base/hex.hpp>
#include <crochet/io/bundle_strings.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/ordered_code.hpp>
#include <crochet/io/safetensors_types.hpp>
#include <crochet/io/sorted_table.hpp>
#include <crochet/io/sorted_table_reader.hpp>
#include <crochet/io/table_block.hpp>
#include <crochet/storage/whole_file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/proto/checkpoint.pb.h>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>

#include "faulty_files.hpp"
#include "table_files.hpp"
#include "temporary_folder.hpp"

namespace hostile_test {

using namespace crochet::io;
using crochet::proto::BundleEntryProto;
using crochet::proto::BundleHeaderProto;
using crochet::test::TemporaryFolder;
using crochet::test::varint;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  crochet::test::LocalFilesWithoutSync files;
  write_whole_file(path, {std::as_bytes(std::span{bytes})}, files);
}

BundleHeaderProto header(int shards = 1) {
  BundleHeaderProto proto;
  proto.set_num_shards(shards);
  proto.mutable_version()->set_producer(1);
  return proto;
}

/// 8 bytes of two floats at the beginning of the data file, which contains 1, 2, 3, 4.
BundleEntryProto entry(std::int64_t offset = 0, std::vector<std::int64_t> shape = {2}) {
  BundleEntryProto proto;
  proto.set_dtype(crochet::proto::DT_FLOAT);
  proto.mutable_shape();
  std::int64_t size = 4;
  for (const std::int64_t dim : shape) {
    proto.mutable_shape()->add_dim()->set_size(dim);
    size *= dim;
  }
  proto.set_offset(offset);
  proto.set_size(size);
  const std::array<float, 4> data{1, 2, 3, 4};
  const auto bytes = std::as_bytes(std::span{data});
  if (offset >= 0 && size >= 0 && offset + size <= 16) {
    proto.set_crc32c(
        masked_crc(crc32c(bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size)))));
  }
  return proto;
}

struct Bundle {
  Bundle() {
    const std::array<float, 4> data{1, 2, 3, 4};
    std::string bytes(16, '\0');
    std::copy_n(reinterpret_cast<const char*>(data.data()), 16, bytes.data());
    write_bytes(folder / "a.data-00000-of-00001", bytes);
  }
  void write(std::vector<KeyValue> table) const { write_bytes(folder / "a.index", write_sorted_table(table)); }
  void write(const BundleEntryProto& proto) const {
    write({{"", header().SerializeAsString()}, {"x", proto.SerializeAsString()}});
  }
  void read() const {
    const TensorBundleReader reader{folder / "a"};
    reader.verify();
    for (const TensorEntry& tensor : reader.tensors()) {
      if (tensor.type == DataType::string) {
        (void)reader.read_strings(tensor);
      } else if (size_of(tensor.type) != 0) {
        std::vector<std::byte> to(tensor.byte_size);
        reader.read(tensor, to);
      }
    }
  }
  TemporaryFolder folder{};
};

TEST(HostileBundle, WhatIsRightIsRead) {
  const Bundle bundle;
  bundle.write(entry());
  EXPECT_NO_THROW(bundle.read());
  bundle.write(entry(8));
  EXPECT_NO_THROW(bundle.read());
}

TEST(HostileBundle, PlacesBeyondFourGigabytesAreRead) {
  const Bundle bundle;
  const std::filesystem::path data = bundle.folder / "a.data-00000-of-00001";
  constexpr std::int64_t far = std::int64_t{5} << 30;
  const std::string bytes = read_whole_file(data);
  std::error_code error;
  std::filesystem::resize_file(data, static_cast<std::uintmax_t>(far), error);  // sparse: uses no space on the disk
  if (error) GTEST_SKIP() << "no file here can be that large: " << error.message();
  std::ofstream{data, std::ios::binary | std::ios::app} << bytes;
  BundleEntryProto proto = entry(0);
  proto.set_offset(far);
  bundle.write(proto);
  EXPECT_NO_THROW(bundle.read());
  proto.set_offset(far + 9);
  bundle.write(proto);
  EXPECT_THROW(bundle.read(), crochet::DataLossError);
}

TEST(HostileBundle, EntriesThatCannotBe) {
  const Bundle bundle;
  const auto changed = [](const std::function<void(BundleEntryProto&)>& change) {
    BundleEntryProto proto = entry();
    change(proto);
    return proto;
  };
  const std::vector<BundleEntryProto> entries{
      changed([](auto& e) { e.set_offset(-1); }),
      changed([](auto& e) { e.set_offset(9); }),
      changed([](auto& e) { e.set_offset(most); }),
      changed([](auto& e) { e.set_offset(most - 4); }),
      changed([](auto& e) { e.set_size(-8); }),
      changed([](auto& e) { e.set_size(most); }),
      changed([](auto& e) { e.set_size(7); }),
      changed([](auto& e) { e.set_shard_id(1); }),
      changed([](auto& e) { e.set_shard_id(-1); }),
      changed([](auto& e) { e.set_dtype(static_cast<crochet::proto::DataType>(0)); }),
      changed([](auto& e) { e.set_dtype(static_cast<crochet::proto::DataType>(31)); }),
      changed([](auto& e) { e.set_dtype(static_cast<crochet::proto::DataType>(101)); }),
      changed([](auto& e) { e.set_dtype(static_cast<crochet::proto::DataType>(-1)); }),
      changed([](auto& e) { e.set_dtype(crochet::proto::DT_STRING); }),
      changed([](auto& e) { e.mutable_shape()->mutable_dim(0)->set_size(-2); }),
      changed([](auto& e) { e.mutable_shape()->mutable_dim(0)->set_size(most); }),
      changed([](auto& e) { e.mutable_shape()->set_unknown_rank(true); }),
      changed([](auto& e) {  // 2^64 bytes, which overflow to 0
        e.mutable_shape()->mutable_dim(0)->set_size(std::int64_t{1} << 31);
        e.mutable_shape()->add_dim()->set_size(std::int64_t{1} << 31);
        e.set_size(0);
      }),
      changed([](auto& e) {
        for (int i = 0; i < 300; ++i) e.mutable_shape()->add_dim()->set_size(1);
      }),
      changed([](auto& e) {  // more strings than bytes
        e.set_dtype(crochet::proto::DT_STRING);
        e.mutable_shape()->mutable_dim(0)->set_size(std::int64_t{1} << 60);
        e.set_size(16);
      }),
  };
  for (const BundleEntryProto& proto : entries) {
    bundle.write(proto);
    EXPECT_THROW(bundle.read(), crochet::DataLossError) << proto.ShortDebugString();
  }
}

TEST(HostileBundle, HeadersThatCannotBe) {
  const Bundle bundle;
  const auto write = [&](const BundleHeaderProto& proto) {
    bundle.write({{"", proto.SerializeAsString()}, {"x", entry().SerializeAsString()}});
  };
  BundleHeaderProto big = header(), newer = header(), bad = header();
  big.set_endianness(BundleHeaderProto::BIG);
  newer.mutable_version()->set_min_consumer(2);
  bad.mutable_version()->add_bad_consumers(1);
  for (const BundleHeaderProto& proto : {header(0), header(-1), header(100000), big, newer, bad}) {
    write(proto);
    EXPECT_THROW(bundle.read(), crochet::DataLossError) << proto.ShortDebugString();
  }
  bundle.write({{"", "\xff"}, {"x", entry().SerializeAsString()}});
  EXPECT_THROW(bundle.read(), crochet::DataLossError);
  bundle.write({{"", header().SerializeAsString()}, {"x", "\xff"}});
  EXPECT_THROW(bundle.read(), crochet::DataLossError);
  bundle.write({{"x", entry().SerializeAsString()}});  // no header entry
  EXPECT_THROW(bundle.read(), crochet::DataLossError);
  bundle.write(std::vector<KeyValue>{});
  EXPECT_THROW(bundle.read(), crochet::DataLossError);
}

TEST(HostileBundle, OverlappingTensors) {
  const Bundle bundle;
  const auto two = [&](const BundleEntryProto& a, const BundleEntryProto& b) {
    bundle.write({{"", header().SerializeAsString()}, {"a", a.SerializeAsString()}, {"b", b.SerializeAsString()}});
  };
  two(entry(0), entry(8));
  EXPECT_NO_THROW(bundle.read());
  two(entry(8), entry(0));
  EXPECT_NO_THROW(bundle.read());
  two(entry(0), entry(4));
  EXPECT_THROW(bundle.read(), crochet::DataLossError);
  two(entry(0), entry(0));
  EXPECT_THROW(bundle.read(), crochet::DataLossError);
}

TEST(HostileBundle, PartsThatDoNotFit) {
  const Bundle bundle;
  using Extent = detail::SliceExtent;
  const auto write = [&](std::vector<Extent> extents, std::vector<std::int64_t> shape = {4}) {
    BundleEntryProto whole;
    whole.set_dtype(crochet::proto::DT_FLOAT);
    for (const std::int64_t dim : shape) whole.mutable_shape()->add_dim()->set_size(dim);
    std::vector<KeyValue> table{{"", header().SerializeAsString()}};
    std::int64_t offset = 0;
    for (const Extent& extent : extents) {
      auto* slice = whole.add_slices()->add_extent();
      slice->set_start(extent.start);
      if (extent.length >= 0) slice->set_length(extent.length);
      const std::int64_t length = extent.length >= 0 ? extent.length : 4;
      table.emplace_back(detail::slice_key("p", std::array{extent}), entry(offset, {length}).SerializeAsString());
      offset += 4 * length;
    }
    table.emplace_back("p", whole.SerializeAsString());
    std::sort(table.begin(), table.end());
    table.erase(std::unique(table.begin(), table.end(), [](auto& a, auto& b) { return a.first == b.first; }),
                table.end());
    bundle.write(table);
  };
  for (const std::vector<Extent>& right :
       {std::vector<Extent>{{0, 2}, {2, 2}}, {{2, 2}, {0, 2}}, {{0, -1}}, {{0, 4}}}) {
    write(right);
    EXPECT_NO_THROW(bundle.read());
  }
  write({{2, 2}, {0, 2}});
  const TensorBundleReader reader{bundle.folder / "a"};
  std::array<float, 4> p{};
  reader.read(*reader.find("p"), std::as_writable_bytes(std::span{p}));
  EXPECT_EQ(p, (std::array<float, 4>{3, 4, 1, 2}));
  EXPECT_EQ(reader.tensors().size(), 1u);
  for (const std::vector<Extent>& wrong : {std::vector<Extent>{{0, 2}},
                                           {{0, 2}, {1, 2}},
                                           {{0, 2}, {0, 2}},
                                           {{0, 2}, {3, 2}},
                                           {{-1, 2}, {2, 2}},
                                           {{0, 5}},
                                           {{most, 2}, {0, 2}},
                                           {{0, 2}, {2, 1}}}) {
    write(wrong);
    EXPECT_THROW(bundle.read(), crochet::DataLossError);
  }
  write({{0, 2}, {2, 2}}, {std::int64_t{1} << 40});
  EXPECT_THROW(bundle.read(), crochet::DataLossError);
  write({{0, 2}, {2, 2}}, {2, 2});
  EXPECT_THROW(bundle.read(), crochet::DataLossError);
}

/// The blocks of a table whose checksums are recomputed: (offset, size) of each, without trailers.
using Blocks = std::vector<std::pair<std::size_t, std::size_t>>;
void seal(std::string& table, const Blocks& blocks) {
  for (const auto& [offset, size] : blocks) {
    const std::uint32_t crc = masked_crc(crc32c(std::string_view{table}.substr(offset, size + 1)));
    table.replace(offset + size + 1, 4, detail::little_endian_bytes(crc, 4));
  }
}

/// A table of one data block whose index entry has this offset and size; the correct ones if none are given.
std::string table_that_points_to(std::uint64_t offset, std::optional<std::uint64_t> size = std::nullopt) {
  const std::vector<KeyValue> entries{{"", header().SerializeAsString()}, {"x", entry().SerializeAsString()}};
  const std::string good = write_sorted_table(entries);
  const std::string one_restart = detail::little_endian_bytes(0, 4) + detail::little_endian_bytes(1, 4);
  std::string_view footer = std::string_view{good}.substr(good.size() - 48);
  const detail::BlockPlace filters = detail::take_block_place(footer);
  const std::size_t begin = filters.offset + filters.size + 5;
  const std::string place = varint(offset) + varint(size.value_or(filters.offset - 5));
  const std::string index = std::string("\0\x01", 2) + varint(place.size()) + "y" + place + one_restart;
  std::string table = good.substr(0, begin) + index + std::string(5, '\0');
  seal(table, {{begin, index.size()}});
  std::string end = varint(filters.offset) + varint(filters.size) + varint(begin) + varint(index.size());
  end.resize(40, '\0');
  return table + end + good.substr(good.size() - 8);
}

TEST(HostileTable, PlacesOutsideTheFile) {
  EXPECT_EQ(read_sorted_table(table_that_points_to(0)).size(), 2u);
  for (const std::uint64_t far : {std::uint64_t{1} << 20, std::uint64_t{1} << 40, ~std::uint64_t{0},
                                  ~std::uint64_t{0} - 4, ~std::uint64_t{0} - 5, ~std::uint64_t{0} / 2}) {
    EXPECT_THROW(read_sorted_table(table_that_points_to(0, far)), crochet::DataLossError) << far;
    EXPECT_THROW(read_sorted_table(table_that_points_to(far)), crochet::DataLossError) << far;
    EXPECT_THROW(read_sorted_table(table_that_points_to(far, far)), crochet::DataLossError) << far;
  }
  for (std::uint64_t size = 0; size < 36; ++size) {
    EXPECT_THROW(read_sorted_table(table_that_points_to(0, size)), crochet::DataLossError) << size;
  }
}

// Random changes with corrected checksums: the reader throws an error of the library, or succeeds.
TEST(HostileTable, RandomChangesWithRightChecksums) {
  const Bundle bundle;
  std::vector<KeyValue> entries{{"", header().SerializeAsString()}};
  for (int i = 0; i < 4; ++i) entries.emplace_back("name/" + std::to_string(i), entry(4 * i, {1}).SerializeAsString());
  const std::string good = write_sorted_table(entries);
  std::string_view footer = std::string_view{good}.substr(good.size() - 48);
  const detail::BlockPlace filters = detail::take_block_place(footer), index = detail::take_block_place(footer);
  const Blocks blocks{{0, filters.offset - 5}, {filters.offset, filters.size}, {index.offset, index.size}};
  std::mt19937 random{1};
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>{0, n - 1}(random); };
  int read = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const auto [offset, size] = blocks[below(2) * 2];  // the data or the index block
      const std::array<char, 4> likely{'\0', '\x7f', '\x80', '\xff'};
      bad[offset + below(size + 1)] = below(2) == 0 ? likely[below(4)] : static_cast<char>(below(256));
    }
    seal(bad, blocks);
    write_bytes(bundle.folder / "a.index", bad);
    try {
      bundle.read();
      ++read;
    } catch (const crochet::IoError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1500);
  EXPECT_GT(read, 10);
}

// A million nested lists. A reader that recurses once per list would overflow the stack.
TEST(HostileSafetensors, DeepNesting) {
  const TemporaryFolder folder;
  const std::size_t depth = 1'000'000;
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  for (const std::string member : {"dtype", "shape", "data_offsets", "else"}) {
    std::string text = R"({"w":{)";
    for (const std::string name : {"dtype", "shape", "data_offsets"}) {
      const std::string right = name == "dtype" ? R"("F32")" : name == "shape" ? "[1]" : "[0,4]";
      text += "\"" + name + "\":" + (name == member ? deep : right) + ",";
    }
    text += "\"else\":" + (member == "else" ? deep : "0") + "}}";
    write_bytes(folder / "a.safetensors", detail::little_endian_bytes(text.size(), 8) + text + std::string(4, '\0'));
    if (member == "else") {
      EXPECT_NO_THROW(SafetensorsReader{folder / "a"}.verify());
    } else {
      EXPECT_THROW((SafetensorsReader{folder / "a"}), crochet::DataLossError) << member;
    }
  }
}

TEST(HostileSafetensors, RandomChangesWithRightChecksums) {
  const TemporaryFolder folder;
  const std::array<float, 4> w{1, 2, 3, 4};
  const std::array<std::int64_t, 1> four{4}, two{2};
  const std::array<std::string, 2> texts{"a", "bc"};
  Safetensors::write(folder / "a", std::vector<TensorRecord>{tensor_record<float>("w", w, four),
                                                             {"s", DataType::string, two, {}, texts}});
  const std::string good = read_whole_file(folder / "a.safetensors");
  const std::size_t data = good.size() - 16 - 9;  // four floats, and the packed strings
  const std::size_t crc_at = 8 + detail::own_beginning.size();
  std::mt19937 random{1};
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>{0, n - 1}(random); };
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      constexpr std::string_view likely = "0123456789-{}[],:\"\\ eE.\xff";
      bad[8 + below(data - 8)] = likely[below(likely.size())];
    }
    bad.replace(crc_at, 8, detail::no_crc);
    bad.replace(crc_at, 8, crochet::detail::hex(crc32c(std::string_view{bad}.substr(0, data))));
    write_bytes(folder / "b.safetensors", bad);
    try {
      const SafetensorsReader reader{folder / "b"};
      for (const TensorEntry& tensor : reader.tensors()) {
        if (tensor.type == DataType::string) (void)reader.read_strings(tensor);
      }
      reader.verify();
    } catch (const crochet::IoError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1500);
}

}  // namespace hostile_test
