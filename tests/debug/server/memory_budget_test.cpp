// SPDX-License-Identifier: Apache-2.0
// The memory for artificial dumps and messages of debug streams. The budgets are in docs/file-formats.md.
#include <crochet/debug/dump/dump_run.hpp>
#include <crochet/debug/dump/dumped_tensor.hpp>
#include <crochet/debug/event/parsed_size.hpp>
#include <crochet/debug/server/received_graph.hpp>
#include <crochet/debug/stream/event_stream.hpp>
#include <crochet/testing/counting_new.hpp>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <crochet/proto/debug.pb.h>
#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>

#include "../../io/temporary_folder.hpp"

namespace {

namespace debug = crochet::debug;
namespace proto = crochet::proto;
using crochet::test::TemporaryFolder;
using crochet::testing::peak_bytes_of;

constexpr std::size_t MiB = std::size_t{1} << 20;

std::string varint(std::size_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}
/// A field of bytes in protobuf's encoding.
std::string field(int number, const std::string& bytes) {
  return static_cast<char>(number << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string repeated(const std::string& part, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) all += part;
  return all;
}

// ---- messages

struct Message {
  const char* what;
  const google::protobuf::Message& type;
  std::string bytes;
};
std::vector<Message> made_up_messages(std::size_t size) {
  static const proto::Event event;
  static const proto::CallTraceback traceback;
  static const proto::DebuggedSourceFiles sources;
  const auto tensor = [](const std::string& fields) { return field(5, field(1, field(8, fields))); };
  return {{"empty values", event, field(5, repeated(field(1, ""), size))},
          {"empty strings", event, tensor(repeated(field(8, ""), size))},
          {"dimensions", event, tensor(field(2, repeated(field(2, ""), size)))},
          {"packed numbers", event, tensor(field(10, std::string(size, '\1')))},
          {"numbers that are not packed", event, tensor(repeated("\x50\1", size))},
          {"floats", event, tensor(field(5, std::string(size / 4 * 4, '\1')))},
          {"bytes", event, tensor(field(4, std::string(size, 'x')))},
          {"unknown numbers", event, repeated("\xa0\x06\1", size)},
          {"unknown texts", event, repeated("\xa2\x06" + std::string(1, '\0'), size)},
          {"unknown groups", event, repeated("\xa3\x06\xa4\x06", size)},
          {"numbers in an unknown group", event, "\xa3\x06" + repeated("\x08\1", size) + "\xa4\x06"},
          {"a number as a text", event, repeated(field(1, ""), size)},
          {"a message as a number", event, repeated("\x28\1", size)},
          {"messages as groups", event, field(5, repeated("\x0b\x0c", size))},
          {"a graph", event, field(4, std::string(size, 'x'))},
          {"traces", traceback, field(3, repeated(field(1, ""), size))},
          {"a map", traceback, repeated(field(4, "\x08\1"), size)},
          {"log entries", traceback, field(5, repeated(field(1, ""), size))},
          {"lines", sources, field(1, repeated(field(5, ""), size))},
          {"files", sources, repeated(field(1, ""), size)}};
}
std::uint64_t parsed_size(const Message& message, std::uint64_t most) {
  google::protobuf::io::ArrayInputStream stream(message.bytes.data(), static_cast<int>(message.bytes.size()));
  return debug::parsed_size(*message.type.GetDescriptor(), stream, message.bytes.size(), most);
}

TEST(MemoryBudget, the_size_of_a_parsed_message_is_bounded_before_it_is_parsed) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, MiB / 4}) {
    for (const Message& message : made_up_messages(size)) {
      const std::uint64_t bound = parsed_size(message, std::uint64_t{1} << 40);
      const std::unique_ptr<google::protobuf::Message> parsed(message.type.New());
      const std::size_t peak = peak_bytes_of([&] { ASSERT_TRUE(parsed->ParseFromString(message.bytes)); });
      EXPECT_LE(peak, bound) << message.what << " of " << size;
      EXPECT_LE(bound, 120 * message.bytes.size() + 16'384) << message.what << ": the bound is far from the truth";
    }
  }
}

TEST(MemoryBudget, a_message_over_its_budget_costs_nothing) {
  for (const Message& message : made_up_messages(4 * MiB)) {
    const std::size_t peak = peak_bytes_of([&] {
      try {
        EXPECT_LE(parsed_size(message, 16 * MiB), 16 * MiB) << message.what;
      } catch (const crochet::ResourceExhaustedError&) {
      }
    });
    EXPECT_LE(peak, MiB) << message.what;
  }
  EXPECT_LE(parsed_size({"bytes", proto::Event(), field(4, std::string(16 * MiB, 'x'))}, 64 * MiB), 17 * MiB);
}

TEST(MemoryBudget, what_is_no_message_of_the_type_is_refused) {
  for (const std::string& bytes : {std::string("\x0a"), std::string("\x2a\x7f"), std::string("\x04"),
                                   std::string("\x0b"), std::string("\0", 1), field(5, "\x0a\x05")}) {
    EXPECT_THROW(parsed_size({"", proto::Event(), bytes}, MiB), crochet::DataLossError);
  }
}

TEST(MemoryBudget, a_node_of_a_received_graph) {
  const std::string node = field(1, "name") + repeated(field(3, ""), 16 * MiB);
  const std::size_t peak = peak_bytes_of([&] { EXPECT_EQ(debug::detail::read_node(node).name(), "name"); });
  EXPECT_LE(peak, 9 * MiB);
}

// ---- dumps

/// The peak memory of reading a run with this one file, the bytes of the file included.
std::size_t cost_of_dump(const std::string& name, const std::string& bytes) {
  const TemporaryFolder folder;
  const std::filesystem::path device = folder.path() / "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0";
  std::filesystem::create_directory(device);
  std::ofstream(name.starts_with("_tfdbg_graph") ? device / name : folder.path() / name, std::ios::binary) << bytes;
  return peak_bytes_of([&] { const debug::DumpRun run(folder.path()); });
}
void expect_bounded(const std::string& what, const std::string& name, const std::string& bytes, std::size_t per_byte) {
  EXPECT_LE(cost_of_dump(name, bytes), 64 * MiB + per_byte * bytes.size()) << what;
}

TEST(MemoryBudget, graphs_of_dumps) {
  std::string distinct, long_names;
  for (int i = 0; distinct.size() < 4 * MiB; ++i) distinct += field(1, field(1, std::to_string(i)));
  for (int i = 0; long_names.size() < 4 * MiB; ++i)
    long_names += field(1, field(1, std::string(1'000, 'x') + std::to_string(i)));
  for (const auto& [what, graph] : std::vector<std::pair<std::string, std::string>>{
           {"empty nodes", repeated(field(1, ""), 8 * MiB)},
           {"nodes with short names", distinct},
           {"nodes with long names", long_names},
           {"empty inputs", field(1, field(1, "a") + repeated(field(3, ""), 8 * MiB))},
           {"edges", field(1, field(1, "b")) + field(1, field(1, "a") + repeated(field(3, "b"), 8 * MiB))},
           {"copies", repeated(field(1, field(1, "__copy_a") + field(3, "b")), 8 * MiB)},
           {"empty attributes", field(1, field(1, "a") + repeated(field(5, ""), 8 * MiB))},
           {"functions", field(2, repeated(field(1, ""), 8 * MiB))}}) {
    expect_bounded(what, "_tfdbg_graph_hash1_1", field(4, graph), 18);
  }
}

TEST(MemoryBudget, texts_of_dumps) {
  for (const char* name : {"_tfdbg_fetches_info_", "_tfdbg_core_metadata_sessionrun00000000000001_1"}) {
    expect_bounded("empty values", name, field(5, repeated(field(1, ""), 8 * MiB)), 4);
    expect_bounded("many texts", name, repeated(field(6, field(2, "x")), 8 * MiB), 4);
    expect_bounded("a large text", name, field(6, field(2, std::string(8 * MiB, '['))), 4);
  }
}

TEST(MemoryBudget, metadata_of_dumps) {
  std::string members;
  for (int i = 0; members.size() < 4 * MiB; ++i) members += ",\"" + std::to_string(i) + "\":0";
  for (const auto& [what, json] : std::vector<std::pair<std::string, std::string>>{
           {"unknown members", "{\"a\":0" + members + "}"},
           {"an unknown list of numbers", "{\"a\":[0" + repeated(",0", 4 * MiB) + "]}"},
           {"an unknown list of lists", "{\"a\":[[]" + repeated(",[]", 4 * MiB) + "]}"},
           {"a list of names", "{\"input_names\":[\"\"" + repeated(",\"\"", 4 * MiB) + "]}"},
           {"a list where a number is due", "{\"global_step\":[0" + repeated(",0", 4 * MiB) + "]}"}}) {
    expect_bounded(what, "_tfdbg_core_metadata_sessionrun00000000000001_1", field(6, field(2, json)), 4);
  }
}

TEST(MemoryBudget, plugin_data_of_a_tensor) {
  const TemporaryFolder folder;
  std::string members;
  for (int i = 0; members.size() < MiB - 1000; ++i) members += ",\"" + std::to_string(i) + "\":0";
  for (const auto& json :
       {std::string("{\"a\":0").append(members).append("}"), "{\"a\":[0" + repeated(",0", MiB - 1000) + "]}",
        "{\"numChunks\":[0" + repeated(",0", MiB - 1000) + "]}"}) {
    const std::string plugin = field(9, field(1, field(1, "debugger") + field(2, json)));
    const std::string tensor = field(8, "\x08\1" + field(2, field(2, "\x08\1")) + field(4, "1234"));
    std::ofstream(folder / "a_0_DebugIdentity_1", std::ios::binary)
        << field(5, field(1, field(1, "a") + plugin + tensor));
    const std::size_t peak = peak_bytes_of([&] {
      EXPECT_THROW(debug::DumpedTensor(folder / "a_0_DebugIdentity_1", {"a", 0, "DebugIdentity", 1, 0}),
                   crochet::DataLossError);
    });
    EXPECT_LE(peak, 3 * MiB) << json.substr(0, 20);
  }
}

// ---- streams

TEST(MemoryBudget, room_that_no_event_took_is_given_back) {
  debug::EventStreamOptions options;
  options.connect_seconds = 0;
  options.report = [](std::string_view) {};
  debug::EventStream stream{debug::DebugAddress("unix:/tmp/crochet-nothing-is-here.sock"), options};
  const std::vector<std::byte> data(4 * MiB);
  const std::int64_t extent = static_cast<std::int64_t>(data.size());
  const debug::DebugEvent debug_event{.device = "/device:CPU:0",
                                      .node = "x",
                                      .slot = 0,
                                      .op = "DebugIdentity",
                                      .microseconds = 1,
                                      .tensor = {crochet::io::DataType::uint8, {&extent, 1}, data}};
  // Fails the first allocations one at a time: the key, the summary and its value. (A later one, in the plug-in's JSON,
  // triggers an assertion of nlohmann_json.) The thread of the stream is idle meanwhile.
  const crochet::testing::IgnoredLeaks of_protobuf;
  for (std::size_t number = 0; number < 5; ++number) {
    const crochet::testing::FailingAllocations fail(number);
    EXPECT_THROW(stream.publish(debug_event), std::bad_alloc) << number;
    EXPECT_EQ(stream.statistics().queued_bytes, 0u) << number;
  }
}

}  // namespace
