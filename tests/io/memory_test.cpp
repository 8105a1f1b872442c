// SPDX-License-Identifier: Apache-2.0
// The memory budget of each reader (docs/file-formats.md), with files that maximize the memory per byte of file, valid
// or rejected.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <crochet/testing/counting_new.hpp>

#include "budgets.hpp"
#include "gzipped.hpp"
#include "readers.hpp"
#include "temporary_folder.hpp"

namespace {

namespace io = crochet::io;
using namespace crochet::test;

struct Case {
  std::string_view what;
  std::string bytes;
};

/// Writes each case to `file`, reads it, and compares the memory of the reader with the budget.
void expect_within(const Budget& budget, const std::vector<Case>& cases, std::string_view file,
                   const std::function<void(const std::filesystem::path& folder)>& read) {
  for (const Case& made : cases) {
    SCOPED_TRACE(made.what);
    const TemporaryFolder folder;
    write_file(folder / "a.data-00000-of-00001", "");
    write_file(folder / std::string(file), made.bytes);
    const std::size_t peak = crochet::testing::peak_bytes_of([&] {
      try {
        read(folder.path());
      } catch (const crochet::DataLossError&) {
      }
    });
    EXPECT_LE(peak, budget.of(made.bytes.size())) << made.bytes.size() << " bytes";
    if (std::getenv("CROCHET_SHOW_MEMORY") != nullptr) {
      std::cout << made.what << ": " << peak / std::max<std::size_t>(1, made.bytes.size()) << " a byte\n";
    }
  }
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}
/// The number as four letters, in increasing order.
std::string name_of_number(std::size_t i) {
  static constexpr std::string_view letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string name(4, '0');
  for (std::size_t d = 4; d-- > 0; i /= letters.size()) name[d] = letters[i % letters.size()];
  return name;
}

/// A tensor without elements, in six bytes.
const std::string smallest_tensor("\x08\x01\x12\x02\x12\x00", 6);

std::string small_tensors(std::size_t count) {
  std::string entries = table_entry(0, "", bundle_header);
  for (std::size_t i = 0; i < count; ++i) entries += table_entry(0, name_of_number(i), smallest_tensor);
  return entries;
}

/// Long keys with a common prefix. As the format requires, every 16th key is stored in full.
std::string long_keys(std::size_t groups, std::size_t length) {
  std::string entries = table_entry(0, "", bundle_header);
  for (std::size_t g = 0; g < groups; ++g) {
    entries += table_entry(0, name_of_number(g) + std::string(length, 'k'), smallest_tensor);
    for (char c = 'a'; c < 'a' + 15; ++c) entries += table_entry(4 + length, std::string(1, c), smallest_tensor);
  }
  return entries;
}

/// A text and copies of its bytes, compressed by Snappy: 3 bytes for each copy of 64.
std::string snappy_of(std::string_view text, std::size_t copies) {
  std::string packed = varint(text.size() + 64 * copies) + static_cast<char>(62 << 2);
  packed += number32(static_cast<std::uint32_t>(text.size() - 1)).substr(0, 3);
  packed += text;
  for (std::size_t i = 0; i < copies; ++i) packed += std::string("\xfe\x40\x00", 3);
  return packed;
}

TEST(Memory, BundleIndex) {
  const std::string header = table_entry(0, "", bundle_header);
  std::string prefixes = header + table_entry(0, std::string(16'000, 'p'), smallest_tensor);
  for (std::size_t i = 0; i < 50'000; ++i) prefixes += table_entry(16'000 + i / 64, name_of_number(i), "");
  TableFile one_block;
  const std::string place = one_block.add(block_of(small_tensors(1000)));
  std::string places;
  for (std::size_t i = 0; i < 40'000; ++i) places += table_entry(0, name_of_number(i), place);
  const auto one = [&](const std::string& value) {
    return table_of_block(block_of(header + table_entry(0, "x", value)));
  };
  expect_within(index_budget,
                {{"keys that share a long prefix", table_of_block(block_of(prefixes))},
                 {"index entries that all name one block", one_block.finish(block_of(places))},
                 {"the smallest tensors", table_of_block(block_of(small_tensors(40'000)))},
                 {"the longest keys", table_of_block(block_of(long_keys(100, 5'000)))},
                 {"long keys of many tensors", table_of_block(block_of(long_keys(4'000, 100)))},
                 {"dimensions of 0 bytes",
                  one(std::string("\x08\x01\x12\xa0\xc2\x1e", 6) + repeated(std::string_view("\x12\x00", 2), 250'000))},
                 {"parts of 0 bytes", one("\x08\x01" + repeated(std::string_view("\x3a\x00", 2), 250'000))},
                 {"a header with many versions",
                  table_of_block(block_of(table_entry(
                      0, "", std::string("\x08\x01\x1a\x88\xa1\x0f", 6) + repeated("\x18\x02", 125'000))))}},
                "a.index", [](const auto& folder) { io::TensorBundleReader{folder / "a"}.verify(); });
}

TEST(Memory, CompressedBundleIndex) {
  const std::string some = small_tensors(20'000);
  expect_within(compressed_index_budget,
                {{"a block of zeros", table_of_block(snappy_of(std::string(1000, '\0'), 100'000), '\x01')},
                 {"tensors, and what they are followed by", table_of_block(snappy_of(some, 10'000), '\x01')}},
                "a.index", [](const auto& folder) { io::TensorBundleReader{folder / "a"}.verify(); });
}

TEST(Memory, BundleData) {
  for (const std::size_t count : {std::size_t{10}, std::size_t{500'000}}) {
    const TemporaryFolder folder;
    const std::vector<std::string> texts(count);
    const std::array<std::int64_t, 1> shape{static_cast<std::int64_t>(count)};
    io::TensorBundle::write(folder / "a", std::vector<io::TensorRecord>{{"s", io::DataType::string, shape, {}, texts}});
    const std::size_t size = std::filesystem::file_size(folder / "a.data-00000-of-00001");
    const std::size_t peak = crochet::testing::peak_bytes_of([&] {
      const io::TensorBundleReader reader{folder / "a"};
      (void)reader.read_strings(reader.tensors()[0]);
    });
    EXPECT_LE(peak, data_budget.of(size));
  }
}

std::string safetensors_file(std::string_view header) {
  std::string bytes;
  crochet::append_little_endian(bytes, std::uint64_t{header.size()});
  return bytes + std::string(header);
}

TEST(Memory, Safetensors) {
  const auto members = [](std::string_view before, std::string_view after, std::size_t count) {
    std::string text = "{";
    for (std::size_t i = 0; i < count; ++i) {
      text.append(i == 0 ? "\"" : ",\"").append(before).append(name_of_number(i)).append(after);
    }
    return text + "}";
  };
  const std::string_view empty = R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  expect_within(
      safetensors_budget,
      {{"the smallest tensors", safetensors_file(members("", empty, 20'000))},
       {"metadata of no text", safetensors_file(R"({"__metadata__":)" + members("", R"(":"")", 100'000) + "}")},
       {"a shape of many dimensions",
        safetensors_file(R"({"x":{"dtype":"U8","shape":[)" + repeated("0,", 400'000) + R"(0],"data_offsets":[0,0]}})")},
       {"lists in each other", safetensors_file(R"({"x":{"y":)" + std::string(800'000, '[') + "}}")},
       {"members that are passed over", safetensors_file(R"({"x":)" + members("", R"(":0)", 80'000) + "}")},
       {"a long name", safetensors_file("{\"" + std::string(800'000, 'n') + "\":0}")},
       {"a name that is there twice",
        safetensors_file("{" + repeated(R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)", 10'000) +
                         R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})")},
       {"no JSON", safetensors_file("{" + std::string(800'000, '"') + "}")}},
      "a.safetensors", [](const auto& folder) { io::SafetensorsReader{folder / "a"}.verify(); });
}

TEST(Memory, StateFile) {
  const std::string newest = "model_checkpoint_path: \"m\" ";
  expect_within(state_budget,
                {{"empty paths", newest + "all_model_checkpoint_paths: [" + repeated("\"\",", 300'000) + "\"\"]"},
                 {"times", newest + "all_model_checkpoint_timestamps: [" + repeated("0,", 400'000) + "0]"},
                 {"unknown fields", newest + repeated("a:0 ", 200'000)},
                 {"messages in each other", newest + repeated("a{", 400'000)},
                 {"one long text", "model_checkpoint_path: \"" + std::string(800'000, 'm') + "\""},
                 {"a path of many folders", "model_checkpoint_path: \"" + repeated("a/", 400'000) + "\""}},
                "checkpoint", [](const auto& folder) { (void)io::read_checkpoint_state(folder); });
  std::string listed = newest + "all_model_checkpoint_paths: [" + repeated("\"\",", 65'535) + "\"\"]";
  const Budget with_paths{state_budget.per_byte, state_budget.constant + 65'536 * bytes_per_listed_checkpoint};
  expect_within(with_paths, {{"as many checkpoints as there may be", listed}}, "checkpoint",
                [](const auto& folder) { EXPECT_EQ(io::read_checkpoint_state(folder)->all.size(), 65'536u); });
}

TEST(Memory, EventFiles) {
  const auto value = [](const Message& message) { return record_file({event_of(1, 2, {message})}); };
  const auto tensor = [&](const Message& message) { return value(Message{}.text(1, "t").text(8, message)); };
  std::string tags;
  for (std::size_t i = 0; i < 20'000; ++i) {
    tags += Message{}.text(1, Message{}.text(1, name_of_number(i)).text(9, Message{}.text(1, Message{}.text(1, "p"))));
  }
  std::string unfinished;
  crochet::append_little_endian(unfinished, std::uint64_t{1} << 30);
  crochet::append_little_endian(unfinished, io::detail::masked_crc_of(unfinished));
  Message pictures;
  pictures.number(1, 7).text(8, "1").text(8, "1");
  expect_within(
      event_budget,
      {{"values of 0 bytes", record_file({Message{}.text(5, repeated(std::string_view("\x0a\x00", 2), 300'000))})},
       {"strings of 0 bytes",
        tensor(Message{Message{}.number(1, 7)}.raw(repeated(std::string_view("\x42\x00", 2), 300'000)))},
       {"images of 0 bytes",
        value(Message{}
                  .text(1, "t")
                  .text(8, Message{pictures}.raw(repeated(std::string_view("\x42\x00", 2), 300'000)))
                  .text(9, Message{}.text(1, Message{}.text(1, "images"))))},
       {"numbers of 1 byte", tensor(Message{}.number(1, 9).text(10, std::string(600'000, '\x01')))},
       {"numbers of 1 byte as 16", tensor(Message{}.number(1, 18).text(10, std::string(600'000, '\x01')))},
       {"buckets", value(Message{}.text(5, Message{}.text(6, std::string(600'000, '\0'))))},
       {"dimensions of 0 bytes",
        tensor(Message{}.number(1, 1).text(2, repeated(std::string_view("\x12\x00", 2), 300'000)))},
       {"tags with plug-ins", record_file({Message{}.text(5, tags)})},
       {"a graph", record_file({Message{}.text(4, std::string(600'000, 'g'))})},
       {"records of 0 bytes", repeated(record_file({""}), 30'000)},
       {"a record that promises 1 GiB", unfinished + std::string(600'000, 'x')}},
      "events", [](const auto& folder) { read_events(folder / "events", io::local_files()); });
}

TEST(Memory, IdxAndGzip) {
  const std::string promises("\0\0\x08\x03\0\0\x04\x00\0\0\x04\x00\0\0\x03\x00", 16);  // declares 805,306,368 bytes
  const auto read = [](const auto& folder) { (void)io::read_idx<std::uint8_t, 3>(folder / "images"); };
  expect_within(idx_budget(0),
                {{"a header that promises 0.8 GB", promises},
                 {"the same, with some data", promises + std::string(600'000, 'p')},
                 {"the same, gzipped", gzipped_text(promises + std::string(1000, 'p'))}},
                "images", read);
  const std::string true_header("\0\0\x08\x03\0\0\x04\x00\0\0\x04\x00\0\0\x00\x13", 16);
  const std::string bomb = gzipped_text(true_header + std::string(std::size_t{19} << 20, 'p'));
  expect_within(idx_budget(std::size_t{19} << 20), {{"20 MB that gzip packed in 20 kB", bomb}}, "images", read);
}

/// A checkpoint in memory with the tensors of hooks.
struct MemoryReader {
  std::vector<io::TensorEntry> entries{};
  std::vector<std::string> contents{};

  const io::TensorEntry* find(std::string_view name) const {
    for (const io::TensorEntry& entry : entries) {
      if (entry.name == name) return &entry;
    }
    return nullptr;
  }
  void read(const io::TensorEntry& entry, std::span<std::byte> to) const {
    const std::string& bytes = contents[static_cast<std::size_t>(&entry - entries.data())];
    std::memcpy(to.data(), bytes.data(), bytes.size());
  }
  void add(std::string name, std::string bytes) {
    const std::vector<std::int64_t> shape{static_cast<std::int64_t>(bytes.size())};
    entries.push_back({std::move(name), io::DataType::uint8, shape, bytes.size(), bytes.size()});
    contents.push_back(std::move(bytes));
  }
};

TEST(Memory, HookSchema) {
  const std::string half_a_megabyte(500'000, '\0');
  for (const auto& [what, schema, texts] :
       {std::tuple<std::string_view, std::string, std::string>{
            "one tensor, named often", "hook h\n" + repeated("text[] a\n", 30'000), half_a_megabyte},
        {"hooks without fields", repeated("hook \n", 50'000), ""},
        {"different hooks without fields",
         [] {
           std::string text;
           for (std::size_t i = 0; i < 30'000; ++i) text += "hook " + name_of_number(i) + "\n";
           return text;
         }(),
         ""},
        {"texts of 0 bytes", "hook h\ntext[] a\n", half_a_megabyte}}) {
    SCOPED_TRACE(what);
    MemoryReader reader;
    reader.add(std::string(crochet::hook_schema_tensor), schema);
    reader.add("crochet/hooks/h/a", texts);
    const std::size_t peak = crochet::testing::peak_bytes_of([&] {
      try {
        (void)crochet::chain_state_of(reader);
      } catch (const crochet::DataLossError&) {
      }
    });
    EXPECT_LE(peak, hooks_budget.of(schema.size() + texts.size()));
  }
}

}  // namespace
