// SPDX-License-Identifier: Apache-2.0
#include <crochet/proto/checkpoint.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <gtest/gtest.h>
#include <leveldb/env.h>
#include <leveldb/table_builder.h>
#include <crochet/base/error.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/ordered_code.hpp>
#include <crochet/io/sorted_table.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/storage/whole_file.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "temporary_folder.hpp"

namespace tensor_bundle_test {

using namespace crochet::io;
using crochet::test::TemporaryFolder;

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size();) {
    if (hex[i] == ' ' || hex[i] == '\n') {
      ++i;
      continue;
    }
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    i += 2;
  }
  return bytes;
}

template <class T>
std::vector<T> values(const TensorBundleReader& reader, std::string_view name) {
  const TensorEntry* entry = reader.find(name);
  if (entry == nullptr || entry->type != data_type_of<T>()) throw std::runtime_error("no such tensor");
  std::vector<T> to(entry->elements);
  reader.read(*entry, std::as_writable_bytes(std::span{to}));
  return to;
}

/// The tensors of the format's worked example. The bytes below are those of TensorFlow 2.15.1.
struct Example {
  std::array<float, 2> w{1, 2};
  std::int64_t step = 7;
  std::array<std::string, 2> s{"ab", ""};
  std::array<std::int64_t, 1> two{2};
  std::vector<TensorRecord> records() const {
    return {tensor_record<float>("w", w, two),
            tensor_record<std::int64_t>("global_step", {&step, 1}, {}),
            {"s", DataType::string, two, {}, s}};
  }
};

constexpr std::string_view example_data = "0000803f00000040 0700000000000000 0200 78270b34 6162";
constexpr std::string_view example_index = R"(
  00 00 06   08011a020801
  00 0b 0d   676c6f62616c5f73746570  0809 1200 2008 2808 35bbd79f11
  00 01 11   73  0807 1204 1202 0802 2010 2808 359188b04d
  00 01 0f   77  0801 1204 1202 0802 2808 35593ce535
  00000000 01000000   00 e08d6019
  00000000 01000000   00 c0f2a1b0
  00 01 02   78  0054
  00000000 01000000   00 8004e550
  5908 660e  000000000000000000000000000000000000000000000000000000000000000000000000
  57fb808b247547db)";

TEST(TensorBundle, WritesTheBytesThatTensorFlowWrites) {
  const TemporaryFolder folder;
  TensorBundle::write(folder / "model.ckpt-7", Example{}.records());
  EXPECT_EQ(read_whole_file(folder / "model.ckpt-7.data-00000-of-00001"), from_hex(example_data));
  EXPECT_EQ(read_whole_file(folder / "model.ckpt-7.index"), from_hex(example_index));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);  // no temporary file is left
}

TEST(TensorBundle, ANewCheckpointOfAPrefixRemovesTheOldFilesHoweverThePathIsWritten) {
  const TemporaryFolder folder;
  const std::string prefix = folder.path().string() + "//a";
  for (int i = 0; i < 3; ++i) TensorBundle::write(prefix, Example{}.records());
  TensorBundle::write(prefix, Example{}.records());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 3) << "an index and two data files";
}

TEST(TensorBundle, ReadsWhatItWrote) {
  const TemporaryFolder folder;
  TensorBundle::write(folder / "a", Example{}.records());
  const TensorBundleReader reader{folder / "a"};
  ASSERT_EQ(reader.tensors().size(), 3u);
  EXPECT_EQ(reader.tensors()[0].name, "global_step");
  EXPECT_EQ(reader.tensors()[1].name, "s");
  EXPECT_EQ(reader.tensors()[2].name, "w");
  EXPECT_EQ(reader.find("w")->shape, std::vector<std::int64_t>{2});
  EXPECT_TRUE(reader.find("global_step")->shape.empty());
  EXPECT_EQ(reader.find("v"), nullptr);
  EXPECT_EQ(values<float>(reader, "w"), (std::vector<float>{1, 2}));
  EXPECT_EQ(values<std::int64_t>(reader, "global_step"), std::vector<std::int64_t>{7});
  EXPECT_EQ(reader.read_strings(*reader.find("s")), (std::vector<std::string>{"ab", ""}));
  reader.verify();
  float too_small = 0;
  EXPECT_THROW(reader.read(*reader.find("w"), std::as_writable_bytes(std::span{&too_small, 1})), crochet::LogicError);
  EXPECT_THROW(reader.read_strings(*reader.find("w")), crochet::LogicError);
}

TEST(TensorBundle, HoldsManyTensorsOfEverySize) {
  const TemporaryFolder folder;
  std::vector<std::string> names;
  std::vector<std::vector<std::int32_t>> elements;
  std::vector<std::array<std::int64_t, 2>> shapes;
  for (int i = 0; i < 3000; ++i) {  // several index blocks, and names that are prefixes of others
    names.push_back(std::to_string(i) + "/" + std::string(static_cast<std::size_t>(i % 97) * 3, 'x'));
    elements.emplace_back(static_cast<std::size_t>(i % 7) * 3, i);
    shapes.push_back({i % 7, 3});
  }
  std::vector<TensorRecord> records;
  for (std::size_t i = 0; i < names.size(); ++i) {
    records.push_back(tensor_record<std::int32_t>(names[i], elements[i], shapes[i]));
  }
  TensorBundle::write(folder / "a", records);
  const TensorBundleReader reader{folder / "a"};
  EXPECT_EQ(reader.tensors().size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(values<std::int32_t>(reader, names[i]), elements[i]);
  EXPECT_GT(std::filesystem::file_size(folder / "a.index"), 262144u);
}

TEST(TensorBundle, HoldsNothing) {
  const TemporaryFolder folder;
  TensorBundle::write(folder / "a", {});
  EXPECT_TRUE(TensorBundleReader{folder / "a"}.tensors().empty());
  EXPECT_TRUE(checkpoint_exists<TensorBundle>(folder / "a"));
  remove_checkpoint<TensorBundle>(folder / "a");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TensorBundle, RefusesWhatCannotBeSaved) {
  const TemporaryFolder folder;
  const float x = 1;
  const std::array<std::int64_t, 1> two{2}, negative{-1};
  const auto record = [&](std::string_view name, std::span<const std::int64_t> shape) {
    return std::vector{tensor_record<float>(name, {&x, 1}, shape)};
  };
  EXPECT_THROW(TensorBundle::write(folder / "a", record("x", two)), crochet::LogicError);
  EXPECT_THROW(TensorBundle::write(folder / "a", record("x", negative)), crochet::LogicError);
  EXPECT_THROW(TensorBundle::write(folder / "a", record("", {})), crochet::LogicError);
  EXPECT_THROW(TensorBundle::write(folder / "a", record(std::string_view("\0x", 2), {})), crochet::LogicError);
  std::vector<TensorRecord> twice = record("x", {});
  twice.push_back(twice[0]);
  EXPECT_THROW(TensorBundle::write(folder / "a", twice), crochet::LogicError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TensorBundle, OnlyFilesWithTheNameOfAShardAreItsFiles) {
  const TemporaryFolder folder;
  const float x = 1;
  TensorBundle::write(folder / "a", std::vector{tensor_record<float>("x", {&x, 1}, {})});
  for (const char* name : {"a.data-0000x-of-00001", "a.data-00000-by-00001", "a.data-00000-of-0000x",
                           "a.data-00000-of-000011", "a.meta-00000-of-00001", "ab.data-00000-of-00001"}) {
    write_whole_file(folder / name, {});
  }
  EXPECT_EQ(TensorBundle::files(folder / "a"),
            (std::vector<std::filesystem::path>{folder / "a.index", folder / "a.data-00000-of-00001"}));
}

// The files of the older checkpoint stay complete until the index of the new one replaces its index.
TEST(TensorBundle, ReplacesACheckpointOfTheSamePrefix) {
  const TemporaryFolder folder;
  for (float value = 0; value < 4; ++value) {
    const std::vector<TensorRecord> records{tensor_record<float>("x", {&value, 1}, {})};
    TensorBundle::write(folder / "a", records);
    EXPECT_EQ(values<float>(TensorBundleReader{folder / "a"}, "x"), std::vector{value});
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "a.data-00001-of-00002"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.data-00000-of-00001"));
  EXPECT_EQ(TensorBundle::files(folder / "a").size(), 3u);
  EXPECT_EQ(TensorBundle::files(folder / "a")[0], folder / "a.index");
}

// Some old checkpoints of TensorFlow have a compressed index.
TEST(TensorBundle, ReadsACompressedIndex) {
  const TemporaryFolder folder;
  TensorBundle::write(folder / "a", Example{}.records());
  leveldb::Options options;
  options.compression = leveldb::kSnappyCompression;
  struct Sink : leveldb::WritableFile {
    leveldb::Status Append(const leveldb::Slice& data) override {
      bytes.append(data.data(), data.size());
      return {};
    }
    leveldb::Status Close() override { return {}; }
    leveldb::Status Flush() override { return {}; }
    leveldb::Status Sync() override { return {}; }
    std::string bytes{};
  } sink;
  leveldb::TableBuilder builder{options, &sink};
  std::vector<KeyValue> entries = read_sorted_table(read_whole_file(folder / "a.index"));
  crochet::proto::BundleEntryProto empty;  // and a long name, which compresses
  empty.set_dtype(crochet::proto::DT_STRING);
  empty.mutable_shape()->add_dim()->set_name(std::string(2000, 'x'));
  entries.emplace_back("z", empty.SerializeAsString());
  for (const auto& [key, value] : entries) builder.Add(key, value);
  ASSERT_TRUE(builder.Finish().ok());
  EXPECT_LT(sink.bytes.size(), 1000u);
  write_whole_file(folder / "a.index", {std::as_bytes(std::span{sink.bytes})});
  EXPECT_EQ(values<float>(TensorBundleReader{folder / "a"}, "w"), (std::vector<float>{1, 2}));
  for (std::size_t i = 0; i < sink.bytes.size(); ++i) {
    std::string bad = sink.bytes;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_THROW((void)read_sorted_table(bad), crochet::DataLossError) << i;
  }
}

TEST(DataTypes, HaveTheirNamesBothWays) {
  for (std::int32_t value = 1; value <= 30; ++value) {
    const auto type = static_cast<DataType>(value);
    EXPECT_EQ(data_type_named(name_of(type)), type) << value;
  }
  static_assert(data_type_named("float32") == DataType::float32 && data_type_named("bool") == DataType::boolean);
  for (const std::string_view none : {"", "invalid", "float", "Float32", "float32 "}) {
    EXPECT_EQ(data_type_named(none), DataType::invalid) << none;
  }
}

// A partitioned tensor, built with the library's functions. tests/interop reads one of TensorFlow.
TEST(TensorBundle, KeysOfPartsAreTensorFlows) {
  using detail::slice_key;
  using detail::SliceExtent;
  EXPECT_EQ(slice_key("p", std::array<SliceExtent, 1>{{{0, 2}}}), from_hex("00 70 0001 0101 80 82"));
  EXPECT_EQ(slice_key("p", std::array<SliceExtent, 1>{{{2, 2}}}), from_hex("00 70 0001 0101 82 82"));
  EXPECT_EQ(slice_key("emb/w", std::array<SliceExtent, 2>{{{0, 100}, {}}}),
            from_hex("00 656d622f77 0001 0102 80 c064 80 7f"));
  EXPECT_EQ(slice_key("emb/w", std::array<SliceExtent, 2>{{{0, 2731}, {0, 3}}}),
            from_hex("00 656d622f77 0001 0102 80 caab 80 83"));
  EXPECT_EQ(slice_key(std::string_view("\0\xff", 2), {}), from_hex("00 00ff ff00 0001 00"));
  const auto number = [](std::int64_t value) {
    std::string key;
    detail::append_ordered_signed(key, value);
    return key;
  };
  EXPECT_EQ(number(63), from_hex("bf"));
  EXPECT_EQ(number(64), from_hex("c040"));
  EXPECT_EQ(number(-1), from_hex("7f"));
  EXPECT_EQ(number(8192), from_hex("e02000"));
  EXPECT_EQ(number(100000), from_hex("e186a0"));
  std::string before = number(std::numeric_limits<std::int64_t>::min());
  for (int bits = 62; bits >= 0; --bits) {  // the order of the bytes is that of the numbers, for all lengths
    const std::string now = number(-(std::int64_t{1} << bits));
    EXPECT_LT(before, now) << bits;
    before = now;
  }
  for (int bits = 0; bits < 63; ++bits) {
    const std::string now = number(std::int64_t{1} << bits);
    EXPECT_LT(before, now) << bits;
    before = now;
  }
  EXPECT_LT(before, number(std::numeric_limits<std::int64_t>::max()));
}

}  // namespace tensor_bundle_test
