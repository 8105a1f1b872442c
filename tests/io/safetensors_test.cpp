// SPDX-License-Identifier: Apache-2.0
#include <crochet/base/hex.hpp>
#include <crochet/io/bundle_strings.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/safetensors_types.hpp>
#include <crochet/storage/whole_file.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "temporary_folder.hpp"

namespace safetensors_test {

using namespace crochet::io;
using crochet::test::TemporaryFolder;

std::string with_length(std::string_view header) {
  return detail::little_endian_bytes(header.size(), 8) + std::string(header);
}

/// A file of another writer: the header, spaces up to a multiple of 8, and the data.
void write_foreign(const std::filesystem::path& path, std::string header, std::string_view data) {
  header.append((8 - header.size() % 8) % 8, ' ');
  const std::string bytes = with_length(header) + std::string(data);
  write_whole_file(path, {std::as_bytes(std::span{bytes})});
}

template <class T>
std::vector<T> values(const SafetensorsReader& reader, std::string_view name) {
  const TensorEntry* entry = reader.find(name);
  if (entry == nullptr || entry->type != data_type_of<T>()) throw std::runtime_error("no such tensor");
  std::vector<T> to(entry->elements);
  reader.read(*entry, std::as_writable_bytes(std::span{to}));
  return to;
}

const std::string two_floats("\0\0\x80\x3f\0\0\0\x40", 8);

TEST(Safetensors, ReadsTheReferenceWritersExample) {
  const TemporaryFolder folder;
  write_foreign(folder / "x.safetensors",
                R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", two_floats);
  EXPECT_EQ(std::filesystem::file_size(folder / "x.safetensors"), 104u);
  const SafetensorsReader reader{folder / "x"};
  EXPECT_EQ(values<float>(reader, "w"), (std::vector<float>{1, 2}));
  reader.verify();
}

TEST(Safetensors, ReadsWhatItWrote) {
  const TemporaryFolder folder;
  const std::array<float, 6> w{1, 2, 3, 4, 5, 6};
  const std::int64_t step = 7;
  const std::array<bool, 3> flags{true, false, true};
  const std::array<std::string, 2> texts{"ab", std::string(300, 'x')};
  const std::array<std::int64_t, 2> matrix{2, 3}, none{0, 5};
  const std::array<std::int64_t, 1> two{2}, three{3};
  const std::vector<TensorRecord> records{tensor_record<float>("w", w, matrix),
                                          tensor_record<std::int64_t>("global_step", {&step, 1}, {}),
                                          tensor_record<bool>("flags\"\xc3\xa9", flags, three),
                                          tensor_record<double>("empty", {}, none),
                                          {"s", DataType::string, two, {}, texts}};
  Safetensors::write(folder / "a", records);
  const SafetensorsReader reader{folder / "a"};
  reader.verify();
  ASSERT_EQ(reader.tensors().size(), 5u);
  EXPECT_EQ(values<float>(reader, "w"), (std::vector<float>(w.begin(), w.end())));
  EXPECT_EQ(reader.find("w")->shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(values<std::int64_t>(reader, "global_step"), std::vector<std::int64_t>{7});
  EXPECT_EQ(reader.find("flags\"\xc3\xa9")->byte_size, 3u);
  EXPECT_EQ(reader.find("empty")->shape, (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(reader.find("s")->type, DataType::string);
  EXPECT_EQ(reader.read_strings(*reader.find("s")), (std::vector<std::string>(texts.begin(), texts.end())));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  Safetensors::write(folder / "a", {});
  EXPECT_TRUE(SafetensorsReader{folder / "a"}.tensors().empty());
  remove_checkpoint<Safetensors>(folder / "a");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// The layout of the reference writer: large types first, then by name. The data begin at a multiple of eight.
TEST(Safetensors, LaysTensorsOutAsTheReferenceWriterDoes) {
  const TemporaryFolder folder;
  const std::array<std::uint8_t, 1> u8{9};
  const std::array<float, 1> f32{1};
  const std::array<std::int64_t, 1> i64{2};
  Safetensors::write(folder / "a", std::vector<TensorRecord>{
                                       tensor_record<std::uint8_t>("a", u8, {}), tensor_record<float>("c", f32, {}),
                                       tensor_record<float>("b", f32, {}), tensor_record<std::int64_t>("d", i64, {})});
  const std::string file = read_whole_file(folder / "a.safetensors");
  const std::size_t b = file.find("\"b\":"), c = file.find("\"c\":"), d = file.find("\"d\":"), a = file.find("\"a\":");
  EXPECT_TRUE(d < b && b < c && c < a);
  EXPECT_NE(file.find(R"("b":{"dtype":"F32","shape":[],"data_offsets":[8,12]})"), std::string::npos);
  EXPECT_EQ((file.size() - 17) % 8, 0u);
}

TEST(Safetensors, RefusesWhatCannotBeSaved) {
  const TemporaryFolder folder;
  const float x = 1;
  const auto write = [&](std::vector<TensorRecord> records) { Safetensors::write(folder / "a", records); };
  const TensorRecord good = tensor_record<float>("x", {&x, 1}, {});
  EXPECT_THROW(write({good, good}), crochet::LogicError);
  EXPECT_THROW(write({tensor_record<float>("__metadata__", {&x, 1}, {})}), crochet::LogicError);
  EXPECT_THROW(write({tensor_record<float>("\xff", {&x, 1}, {})}), crochet::LogicError);
  EXPECT_THROW(write({{"x", DataType::int4, {}, std::as_bytes(std::span{"1", 1}), {}}}), crochet::LogicError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Safetensors, RefusesHostileHeaders) {
  const TemporaryFolder folder;
  const std::string w = R"("w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  const std::vector<std::string> headers{
      "",
      "[]",
      "{" + w,
      "{" + w + "}\n",
      " {" + w + "}",
      "{" + w + "," + w + "}",  // a duplicate name
      R"({"w":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F99","shape":[2],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"f32","shape":[2],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":1,"shape":[2],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",   // too many bytes
      R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})",  // too few bytes
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",   // a gap
      R"({"w":{"dtype":"F32","shape":[2]}})",
      R"({"w":[]})",
      R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})",  // 2^64 elements
      R"({"w":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,18446744073709551616]}})",
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)" + w + "}",  // overlapping tensors
      R"({"__metadata__":{"a":1},)" + w + "}",
      R"({"__metadata__":[],)" + w + "}",
      R"({"__metadata__":{"a":{}},)" + w + "}",
      R"({"__metadata__":{"a":"","a":""},)" + w + "}",
      R"({"__metadata__":{},"__metadata__":{},)" + w + "}",
      R"({"w":1})",
      R"({"w":{"dtype":"F32","shape":[[2]],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[[0,8]]}})",
      R"({"w":{"dtype":["F32"],"shape":[2],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":{},"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":null,"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0]}})",
      R"({"__metadata__":{"crochet.tensor_crc32c":"00000000"},)" + w + "}",  // no checksum of the header
      "{\"\xff\":1," + w + "}",
  };
  for (const std::string& header : headers) {
    const std::string bytes = with_length(header) + two_floats;
    write_whole_file(folder / "x.safetensors", {std::as_bytes(std::span{bytes})});
    EXPECT_THROW(SafetensorsReader{folder / "x"}, crochet::DataLossError) << header;
  }
  for (const std::string& bytes : {std::string(), std::string(7, '\0'), std::string(8, '\xff'),
                                   detail::little_endian_bytes(100'000'001, 8), detail::little_endian_bytes(1, 8)}) {
    write_whole_file(folder / "x.safetensors", {std::as_bytes(std::span{bytes})});
    EXPECT_THROW(SafetensorsReader{folder / "x"}, crochet::DataLossError) << bytes.size();
  }
}

// With correct checksums the reader still rejects tensors that are not in the file.
TEST(Safetensors, RefusesHostileMetadata) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& rest) {
    std::string header{detail::own_beginning};
    header += "00000000\"," + rest + R"(},"w":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})";
    std::string begin = with_length(header);
    begin.replace(8 + detail::own_beginning.size(), 8, crochet::detail::hex(crc32c(begin)));
    begin += two_floats;
    write_whole_file(folder / "x.safetensors", {std::as_bytes(std::span{begin})});
  };
  const std::string right = "\"crochet.tensor_crc32c\":\"" + crochet::detail::hex(crc32c(two_floats)) + "\"";
  write(right);
  SafetensorsReader{folder / "x"}.verify();
  for (const std::string rest : {"\"a\":\"\"", "\"crochet.tensor_crc32c\":\"0000000\"",
                                 "\"crochet.tensor_crc32c\":\"0000000g\"", "\"crochet.tensor_crc32c\":\"-0000001\""}) {
    write(rest);
    EXPECT_THROW(SafetensorsReader{folder / "x"}, crochet::DataLossError) << rest;
  }
  for (const std::string shape : {"[9]", "[-1]", "[4611686018427387904,4]", "7", "x"}) {
    write(right + ",\"crochet.strings\":\"{\\\"w\\\":" + shape + "}\"");
    EXPECT_THROW(SafetensorsReader{folder / "x"}, crochet::DataLossError) << shape;
  }
  write(right + R"(,"crochet.strings":"{\"w\":[8]}")");
  const SafetensorsReader reader{folder / "x"};
  EXPECT_THROW(reader.read_strings(*reader.find("w")), crochet::DataLossError);
}

TEST(Safetensors, MetadataOfTheProgramAreWrittenAndRead) {
  const TemporaryFolder folder;
  const float x = 1;
  const std::array<std::string, 1> texts{"text"};
  const std::array<std::int64_t, 1> one{1};
  const std::vector<TensorRecord> records{tensor_record<float>("x", {&x, 1}, {}),
                                          {"s", DataType::string, one, {}, texts}};
  const SafetensorsMetadata metadata{
      {"format", "pt"}, {"", ""}, {"q\"\\\n", "\xc3\xa9"}, {"zz", std::string(1000, 'z')}};
  Safetensors::write(folder / "a", records, metadata);
  const SafetensorsReader reader{folder / "a"};
  EXPECT_EQ(reader.metadata(), metadata);
  reader.verify();
  EXPECT_EQ(reader.read_strings(*reader.find("s")), std::vector<std::string>{"text"});
  Safetensors::write(folder / "a", records);
  EXPECT_TRUE(SafetensorsReader{folder / "a"}.metadata().empty());
  EXPECT_THROW(Safetensors::write(folder / "b", records, {{"crochet.strings", ""}}), crochet::LogicError);
  EXPECT_THROW(Safetensors::write(folder / "b", records, {{"\xff", ""}}), crochet::LogicError);
  EXPECT_THROW(Safetensors::write(folder / "b", records, {{"a", "\xff"}}), crochet::LogicError);
}

std::string refusal(const std::filesystem::path& prefix) {
  try {
    const SafetensorsReader reader{prefix};
    return "";
  } catch (const crochet::DataLossError& error) {
    return error.what();
  }
}

// As `save_file(tensors, path, metadata=f.metadata())` of Python.
TEST(Safetensors, AFileSavedAgainWithItsMetadataIsExplained) {
  const TemporaryFolder folder;
  const std::string crc = R"("crochet.header_crc32c":"00000000")", crcs = R"("crochet.tensor_crc32c":"00000000")";
  for (const std::string& metadata : {crc + "," + crcs, crcs + "," + crc}) {
    const std::string header =
        "{\"__metadata__\":{" + metadata + R"(},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    const std::string bytes = with_length(header) + two_floats;
    write_whole_file(folder / "x.safetensors", {std::as_bytes(std::span{bytes})});
    EXPECT_NE(refusal(folder / "x")
                  .find("another program has saved it with the metadata of crochet; let that program "
                        "leave out the keys that begin with \"crochet.\""),
              std::string::npos)
        << refusal(folder / "x");
  }
}

TEST(Safetensors, MetadataOfOtherWritersAreRead) {
  const TemporaryFolder folder;
  const std::string header =
      R"({"__metadata__":{"format":"pt","a":"b"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":[{"x":[]}]}})";
  const std::string bytes = with_length(header) + two_floats;
  write_whole_file(folder / "x.safetensors", {std::as_bytes(std::span{bytes})});
  EXPECT_EQ(SafetensorsReader{folder / "x"}.metadata(), (SafetensorsMetadata{{"a", "b"}, {"format", "pt"}}));
}

}  // namespace safetensors_test
