// SPDX-License-Identifier: Apache-2.0
// Events of a debug stream are assembled in any order. A malicious or faulty sender ends its stream with a reason, and
// costs no more memory than the bytes it sent.
#include <google/protobuf/stubs/common.h>
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/base/error.hpp>
#include <crochet/debug/server/event_assembler.hpp>
#include <crochet/testing/manual_clock.hpp>

#include "../stream_events.hpp"

namespace event_assembler_test {

using namespace crochet::debug;
using namespace crochet::test;
using crochet::DataLossError;
using crochet::ResourceExhaustedError;
using crochet::proto::Event;

struct Stream {
  explicit Stream(StreamLimits limits = {}, std::uint64_t shared = 1 << 26)
      : budget(shared), assembler(limits, budget, clock) {}

  Received add(Event event) { return assembler.add(std::move(event)); }
  /// The last result that the events complete.
  Received add_all(const std::vector<Event>& events) {
    Received last;
    for (const Event& event : events) {
      EXPECT_TRUE(std::holds_alternative<std::monostate>(last)) << "complete before the last chunk";
      last = add(event);
    }
    return last;
  }

  crochet::testing::ManualClock clock;
  ByteBudget budget;
  EventAssembler assembler;
};

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.5f);
  return values;
}

/// Sends the events. The last one must be rejected with this type of error and this reason.
template <class Error = DataLossError>
void expect_refused(const std::vector<Event>& events, const std::string& reason, StreamLimits limits = {},
                    std::uint64_t shared = 1 << 26) {
  Stream stream(limits, shared);
  for (std::size_t i = 0; i + 1 < events.size(); ++i) ASSERT_NO_THROW((void)stream.add(events[i]));
  try {
    (void)stream.add(events.back());
    FAIL() << "taken, and should be refused: " << reason;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    EXPECT_LT(std::string(error.what()).size(), 400u);
  }
  EXPECT_THROW((void)stream.add(run_event()), crochet::LogicError) << "the stream is at its end";
}
template <class Error = DataLossError>
void expect_refused(const Event& event, const std::string& reason, StreamLimits limits = {}) {
  expect_refused<Error>(std::vector{event}, reason, limits);
}
Event with_plugin(const std::string& json) {
  Event event = whole_event({}, {1, 2});
  event.mutable_summary()->mutable_value(0)->mutable_metadata()->mutable_plugin_data()->set_content(json);
  return event;
}
Event named(const std::string& node) { return whole_event({.node = node}, {1}); }
Event metadata_json(const std::string& json) {
  Event event;
  event.mutable_log_message()->set_message(json);
  return event;
}
Event graph_text(const std::string& text) {
  Event event;
  event.set_graph_def(text);
  return event;
}

// ---- correct streams

TEST(EventAssembler, a_whole_tensor_comes_through_as_it_is) {
  Stream stream;
  const Received received = stream.add(whole_event({.node = "net/a_b", .slot = 3}, {1, 2, 3}));
  const auto& tensor = std::get<ReceivedTensor>(received);
  EXPECT_EQ(tensor.key, (WatchKey{"net/a_b", 3, "DebugIdentity"}));
  EXPECT_EQ(tensor.device, cpu0);
  EXPECT_EQ(tensor.wall_time, 1'700'000'000'000'000);
  EXPECT_EQ(tensor.tensor().tensor_content(), bytes_of(std::vector<float>{1, 2, 3}));
  EXPECT_EQ(tensor.chunks, 1u);
  EXPECT_EQ(stream.assembler.tensors(), 1u);
}

TEST(EventAssembler, chunks_may_come_in_any_order_and_between_each_other) {
  const std::vector<float> values = numbers(1000);
  std::vector<Event> events = chunk_events({}, values, 444);                             // 10 chunks
  const std::vector<Event> other = chunk_events({.time = first_time + 1}, values, 444);  // the tensor's next event
  events.insert(events.end(), other.begin(), other.end());
  const std::vector<Event> on_gpu =
      chunk_events({.device = "/job:localhost/replica:0/task:0/device:GPU:0"}, values, 500);
  events.insert(events.end(), on_gpu.begin(), on_gpu.end());
  std::mt19937 random(6);
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(events.begin(), events.end(), random);
    Stream stream;
    std::size_t whole = 0;
    for (const Event& event : events) {
      const Received received = stream.add(event);
      if (std::holds_alternative<std::monostate>(received)) continue;
      const auto& tensor = std::get<ReceivedTensor>(received);
      EXPECT_EQ(tensor.tensor().tensor_content(), bytes_of(values));
      EXPECT_EQ(tensor.event.summary().value(0).metadata().plugin_data().content(), plugin_json(tensor.device, 0, 1, 0))
          << "as a dump file has it: in one piece";
      ++whole;
    }
    EXPECT_EQ(whole, 3u);
    EXPECT_EQ(stream.assembler.incomplete(), 0u);
    EXPECT_EQ(stream.budget.used(), 0u) << "all memory was given back";
  }
}

TEST(EventAssembler, strings_are_joined_element_by_element) {
  std::vector<Event> events;
  for (int i = 0; i < 3; ++i) {
    Event event = chunk_event({}, {6}, "", 3, i);
    auto& tensor = *event.mutable_summary()->mutable_value(0)->mutable_tensor();
    tensor.set_dtype(crochet::proto::DT_STRING);
    tensor.add_string_val("a" + std::to_string(i));
    tensor.add_string_val("");
    events.push_back(event);
  }
  std::swap(events[0], events[2]);
  Stream stream;
  const Received received = stream.add_all(events);
  const auto& texts = std::get<ReceivedTensor>(received).tensor().string_val();
  EXPECT_EQ(std::vector<std::string>(texts.begin(), texts.end()),
            (std::vector<std::string>{"a0", "", "a1", "", "a2", ""}));
}

TEST(EventAssembler, strings_that_were_cut_are_whole_again) {
  const std::vector<std::string> strings{std::string(3'000'000, 'x'), "", std::string(3'000'000, 'y'), "z"};
  const std::vector<std::int64_t> shape{4};
  const DebugEvent debug_event{"/job:localhost/replica:0/task:0/device:CPU:0",           "a", 0, "DebugIdentity", 1,
                               {crochet::io::DataType::string, shape, {}, true, strings}};
  const std::vector<Event> events = tensor_events(debug_event);
  EXPECT_EQ(events.size(), 2u);
  Stream stream;
  const Received received = stream.add_all(events);
  const auto& texts = std::get<ReceivedTensor>(received).tensor().string_val();
  EXPECT_EQ(std::vector<std::string>(texts.begin(), texts.end()), strings);
}

TEST(EventAssembler, tensors_without_content_scalars_and_empty_ones) {
  Stream stream;
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{}, {0, 3}, {4'000'000'000, 4'000'000'000}}) {
    EXPECT_TRUE(std::holds_alternative<ReceivedTensor>(stream.add(chunk_event({}, shape, ""))));
  }
  EXPECT_TRUE(std::holds_alternative<ReceivedTensor>(stream.add(chunk_event({}, {}, std::string(4, 'x')))));
}

TEST(EventAssembler, a_graph_in_chunks_and_what_is_gated_in_it) {
  const crochet::proto::GraphDef small = small_graph();
  std::vector<Event> events = graph_events(small, 50);
  ASSERT_GT(events.size(), 4u);
  std::reverse(events.begin(), events.end());
  Stream stream;
  const Received received = stream.add_all(events);
  const auto& graph = std::get<ReceivedGraph>(received);
  EXPECT_EQ(graph.device, cpu0);
  EXPECT_EQ(graph.hash, 14493641028261569340u);
  EXPECT_EQ(graph.wall_time, 1'700'000'000'000'000);
  EXPECT_EQ(graph.nodes, (std::vector<std::string>{"x", "net/a", "net/b"}));
  EXPECT_EQ(graph.gated, (std::vector{WatchKey{"net/a", 0, "DebugIdentity"}}));
  crochet::proto::GraphDef again;
  ASSERT_TRUE(again.ParseFromString(graph.graph_def));
  EXPECT_EQ(again.node_size(), small.node_size());
  EXPECT_EQ(stream.budget.used(), 0u);
}

TEST(EventAssembler, a_node_full_of_constants_is_not_taken_apart) {
  crochet::proto::GraphDef graph = small_graph();
  graph.mutable_node(0)->mutable_attr()->insert({"value", {}});
  (*graph.mutable_node(0)->mutable_attr())["value"].mutable_tensor()->set_tensor_content(std::string(3 << 20, 'w'));
  Stream stream;
  const Received received = stream.add_all(graph_events(graph, 1 << 20));
  EXPECT_EQ(std::get<ReceivedGraph>(received).nodes.front(), "x");
}

TEST(EventAssembler, graph_before_metadata_or_behind_it_and_unknown_events) {
  for (const bool graph_first : {true, false}) {
    Stream stream;
    Event version;
    version.set_file_version("brain.Event:2");
    EXPECT_TRUE(std::holds_alternative<std::monostate>(stream.add(version)));
    const Event graph = graph_events(small_graph())[0];
    if (graph_first) {
      EXPECT_TRUE(std::holds_alternative<ReceivedGraph>(stream.add(graph)));
    }
    const Received received = stream.add(run_event(7, ",\"grpc_path\":\"/x\",\"dropped\":3,\"more\":null"));
    const auto& run = std::get<ReceivedMetadata>(received);
    EXPECT_EQ(run.run.session_run_index, 7);
    EXPECT_EQ(run.run.output_names, std::vector<std::string>{"net/b:0"});
    EXPECT_EQ(run.grpc_path, "/x");
    EXPECT_EQ(run.run.dropped, 3);
    if (!graph_first) {
      EXPECT_TRUE(std::holds_alternative<ReceivedGraph>(stream.add(graph)));
    }
  }
}

TEST(EventAssembler, what_stays_incomplete_is_counted_and_its_memory_given_back) {
  ByteBudget budget(1 << 20);
  {
    EventAssembler assembler({}, budget);
    (void)assembler.add(chunk_events({}, numbers(1000), 2000)[1]);
    EXPECT_EQ(assembler.incomplete(), 1u);
    EXPECT_GE(budget.used(), 2000u);
  }
  EXPECT_EQ(budget.used(), 0u);
}

// ---- wrong streams

TEST(EventAssemblerHostile, numbers_of_chunks) {
  expect_refused<ResourceExhaustedError>(with_plugin(plugin_json(cpu0, 0, 2'000'000'000, 1)), "chunks of one tensor");
  expect_refused<ResourceExhaustedError>(with_plugin(plugin_json(cpu0, 0, std::numeric_limits<long long>::max(), 0)),
                                         "chunks of one tensor");
  expect_refused(with_plugin(plugin_json(cpu0, 0, -1, 0)), "no chunk 0 of -1");
  expect_refused(with_plugin(plugin_json(cpu0, 0, 2, 2)), "no chunk 2 of 2");
  expect_refused(with_plugin(plugin_json(cpu0, 0, 2, -1)), "no chunk -1 of 2");
  expect_refused(with_plugin(plugin_json(cpu0, 0, 1, 1)), "no chunk 1 of 1");
  expect_refused(with_plugin("{\"device\":\"d\",\"numChunks\":18446744073709551615,\"chunkIndex\":0}"),
                 "no whole number");
  expect_refused(with_plugin("{\"device\":\"d\",\"numChunks\":1e3,\"chunkIndex\":0}"), "no whole number");
}

TEST(EventAssemblerHostile, chunks_that_contradict_each_other) {
  const std::string half(4, 'x');
  const Event first = chunk_event({}, {2}, half, 2, 0);
  expect_refused({first, first}, "chunk 0 comes twice");
  expect_refused({first, chunk_event({}, {2}, half, 3, 1)}, "2 of them, and 3");
  expect_refused({first, chunk_event({}, {3}, half, 2, 1)}, "differ in type or shape");
  expect_refused({first, chunk_event({}, {2, 1}, half, 2, 1)}, "differ in type or shape");
  Event other_type = chunk_event({}, {2}, half, 2, 1);
  other_type.mutable_summary()->mutable_value(0)->mutable_tensor()->set_dtype(crochet::proto::DT_INT32);
  expect_refused({first, other_type}, "differ in type or shape");
  expect_refused({first, chunk_event({}, {2}, "", 2, 1)}, "a chunk is empty");
  expect_refused({first, chunk_event({}, {2}, half + half, 2, 1)}, "8 bytes comes with 12");
}

TEST(EventAssemblerHostile, sizes_and_shapes) {
  expect_refused(chunk_event({}, {3}, std::string(8, 'x')), "12 bytes comes with 8");
  expect_refused(chunk_event({}, {-1}, "xxxx"), "negative dimension");
  expect_refused(chunk_event({}, std::vector<std::int64_t>(2, std::int64_t{1} << 32), "xxxx"), "comes with 4");
  expect_refused<ResourceExhaustedError>(chunk_event({}, std::vector<std::int64_t>(255, 1), "xxxx"), "dimensions");
  expect_refused<ResourceExhaustedError>(chunk_event({}, {std::int64_t{1} << 40}, "xxxx", 2, 0), "bytes in one tensor");
  Event strings = chunk_event({}, {3}, "");
  strings.mutable_summary()->mutable_value(0)->mutable_tensor()->set_dtype(crochet::proto::DT_STRING);
  strings.mutable_summary()->mutable_value(0)->mutable_tensor()->add_string_val("one");
  expect_refused(strings, "comes with 1");
  Event unknown_rank = chunk_event({}, {}, "xxxx");
  unknown_rank.mutable_summary()->mutable_value(0)->mutable_tensor()->mutable_tensor_shape()->set_unknown_rank(true);
  expect_refused(unknown_rank, "no shape");
}

TEST(EventAssemblerHostile, fields_that_readers_of_dumps_refuse) {
  const auto changed = [](auto change) {
    Event event = chunk_event({}, {1}, "");
    change(*event.mutable_summary()->mutable_value(0)->mutable_tensor());
    return event;
  };
  expect_refused(changed([](auto& tensor) { tensor.add_float_val(1); }), "another field than tensor_content");
  expect_refused(changed([](auto& tensor) { tensor.add_uint64_val(1); }), "another field than tensor_content");
  expect_refused(changed([](auto& tensor) { tensor.add_string_val("one"); }), "strings and another element type");
  expect_refused(changed([](auto& tensor) {
                   tensor.set_dtype(crochet::proto::DT_STRING);
                   tensor.set_tensor_content("\3one");
                 }),
                 "strings and another element type");
}

TEST(EventAssemblerHostile, plugin_data) {
  expect_refused(with_plugin(""), "no JSON");
  expect_refused(with_plugin("{\"device\":\"d\",\"num_chunks\":1,\"chunk_index\":0}"), "camelCase");
  expect_refused(with_plugin("[1,2]"), "no JSON object");
  expect_refused(with_plugin("{\"device\":7,\"numChunks\":1,\"chunkIndex\":0}"), "no text");
  expect_refused(with_plugin("{\"device\":\"a,b\",\"numChunks\":1,\"chunkIndex\":0}"), "name of a device");
  expect_refused(with_plugin("{\"device\":\"a\\u0000b\",\"numChunks\":1,\"chunkIndex\":0}"), "name of a device");
  expect_refused(with_plugin("{\"device\":\"\",\"numChunks\":1,\"chunkIndex\":0}"), "name of a device");
  expect_refused(with_plugin("{\"device\":\"d\",\"device\":\"e\",\"numChunks\":1,\"chunkIndex\":0}"), "twice");
  expect_refused(with_plugin("{\"device\":\"\xff\",\"numChunks\":1,\"chunkIndex\":0}"), "no JSON");
  expect_refused(with_plugin(std::string(4000, '[')), "parts in parts");
  expect_refused<ResourceExhaustedError>(with_plugin(std::string(5000, ' ')), "bytes of plug-in data");
}

TEST(EventAssemblerHostile, names_of_nodes) {
  for (const char* name : {"../etc/passwd", "a/../../b", "/etc/passwd", "a//b", "a/", ".", "..", "a/./b", "a b", "a\nb",
                           "a\\b", "a;b", "~root/x", "net/_tfdbg_graph_x", "\xc3\xa4"}) {
    expect_refused(named(name), "cannot be the name of a node");
  }
  expect_refused(named(std::string("a\0b", 3)), "cannot be the name of a node");
  expect_refused(named(""), "no watch key");
  expect_refused<ResourceExhaustedError>(named(std::string(100'000, 'a')), "watch key");
  expect_refused<ResourceExhaustedError>(named(std::string(1'500, 'a')), "name of a node");
  for (const char* key : {"a:0", "a:x:DebugIdentity", "a:-1:DebugIdentity", "a:99999999999:DebugIdentity", ":0:D",
                          "a:0:", "a", "a: 1:D"}) {
    Event event = named("a");
    event.mutable_summary()->mutable_value(0)->set_node_name(key);
    expect_refused(event, "no watch key");
  }
  expect_refused(whole_event({.op = "Debug_Identity"}, {1}), "name of a debug op");
  expect_refused(whole_event({.op = "../x"}, {1}), "name of a debug op");
  Event tagged = named("a");
  tagged.mutable_summary()->mutable_value(0)->set_tag("b");
  expect_refused(tagged, "not the node of");
}

TEST(EventAssemblerHostile, events_that_are_none) {
  Event two = named("a");
  *two.mutable_summary()->add_value() = two.summary().value(0);
  expect_refused(two, "several values");
  Event number;
  number.mutable_summary()->add_value()->set_simple_value(1);
  expect_refused(number, "no tensor");
  for (const double time : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    expect_refused(whole_event({.time = time}, {1}), "impossible time");
  }
}

TEST(EventAssemblerHostile, core_metadata) {
  expect_refused({run_event(), run_event()}, "comes twice");
  expect_refused(metadata_json("{\"global_step\":0}"), "no whole number session_run_index");
  expect_refused(metadata_json("no json"), "no JSON");
  expect_refused(metadata_json(std::string(500'000, '[')), "parts in parts");
  expect_refused(run_event(7, ",\"grpc_path\":3"), "no text");
  expect_refused(run_event(7, ",\"more\":{\"a\":{\"b\":{}}}"), "parts in parts");
  expect_refused(run_event(7, ",\"global_step\":1"), "twice");
  expect_refused(metadata_json("{\"global_step\":9223372036854775808,\"session_run_index\":1}"), "no whole number");
  expect_refused<ResourceExhaustedError>(metadata_json(std::string(2 << 20, ' ')), "bytes of core metadata");
}

TEST(EventAssemblerHostile, graphs) {
  const std::string key = "1," + cpu0 + ",2";
  expect_refused(graph_text("no bars at all"), "does not begin with");
  expect_refused(graph_text(std::string(3'000'000, 'x')), "does not begin with");
  expect_refused(graph_text(key + "|0|1|"), "chunk of a graph is empty");
  expect_refused(graph_text(key + "|1|1|x"), "no chunk 1");
  expect_refused(graph_text(key + "|0|0|x"), "no chunk 0");
  expect_refused(graph_text(key + "|-1|1|x"), "no chunk index");
  expect_refused(graph_text(key + "|0|99999999999999999999|x"), "no number of chunks");
  expect_refused(graph_text("1,/a b,2|0|1|x"), "name of a device");
  expect_refused(graph_text("1x," + cpu0 + ",2|0|1|x"), "hash of a graph");
  expect_refused(graph_text("1," + cpu0 + ",|0|1|x"), "time of a graph");
  expect_refused<ResourceExhaustedError>(graph_text(key + "|0|2000000000|x"), "chunks of one graph");
  expect_refused({graph_text(key + "|0|2|x"), graph_text(key + "|0|2|x")}, "comes twice");
  expect_refused({graph_text(key + "|0|2|x"), graph_text(key + "|1|3|x")}, "2 of them, and 3");
  expect_refused(graph_text(key + "|0|1|this is no graph"), "no GraphDef");
  expect_refused(graph_text(key + "|0|1|\x0a\xff\xff\xff\xff\x0f"), "no GraphDef");
  expect_refused(graph_text(key + "|0|1|\x0a\x03\x0a\x05x"), "cannot be read");
  crochet::proto::GraphDef evil = small_graph();
  evil.mutable_node(1)->set_name("../../a");
  expect_refused(graph_events(evil), "cannot be the name of a node");
  evil = small_graph();
  (*evil.mutable_node(3)->mutable_attr())["tensor_name"].set_s("..:0");
  expect_refused(graph_events(evil), "cannot be the name of a node");
}

// ---- limits

TEST(EventAssemblerLimits, of_the_stream) {
  expect_refused<ResourceExhaustedError>({named("a"), named("b"), named("c")}, "2 tensors", {.tensors = 2});
  expect_refused<ResourceExhaustedError>({named("a"), named("b")}, "200 bytes;", {.stream_bytes = 200});
  expect_refused<ResourceExhaustedError>({graph_events(small_graph())[0], graph_events(small_graph())[0]}, "1 graphs",
                                         {.graphs = 1});
  expect_refused<ResourceExhaustedError>(graph_events(small_graph()), "2 nodes", {.graph_nodes = 2});
  expect_refused<ResourceExhaustedError>(graph_events(small_graph()), "100 bytes in one graph", {.graph_bytes = 100});
  expect_refused<ResourceExhaustedError>(whole_event({}, numbers(100)), "399 bytes in one tensor",
                                         {.tensor_bytes = 399});
}

TEST(EventAssemblerLimits, of_what_is_not_complete) {
  std::vector<Event> openings;
  for (int i = 0; i < 3; ++i) openings.push_back(chunk_event({.node = "n" + std::to_string(i)}, {2}, "xxxx", 2, 0));
  expect_refused<ResourceExhaustedError>(openings, "2 incomplete tensors and graphs", {.pending_tensors = 2});
  const std::vector<Event> chunks = chunk_events({}, numbers(2000), 4000);
  expect_refused<ResourceExhaustedError>(chunks, "6000 bytes of incomplete tensors", {.pending_bytes = 6000});
  expect_refused<ResourceExhaustedError>(chunks, "6000 bytes of incomplete tensors, with all other streams", {}, 6000);
}

TEST(EventAssemblerLimits, memory_is_shared_by_streams) {
  ByteBudget budget(15'000);
  EventAssembler one({}, budget);
  const std::vector<Event> chunks = chunk_events({}, numbers(3000), 6000);
  (void)one.add(chunks[0]);
  {
    EventAssembler two({}, budget);
    EXPECT_THROW((void)two.add(chunk_events({}, numbers(3000), 11'000)[0]), ResourceExhaustedError);
  }
  EXPECT_TRUE(std::holds_alternative<ReceivedTensor>(one.add(chunks[1]))) << "the first one is not touched by that";
  EventAssembler three({}, budget);
  EXPECT_NO_THROW((void)three.add(chunks[0])) << "and what it gave back can be used again";
}

TEST(EventAssemblerLimits, many_tiny_strings_are_counted_by_the_memory_they_take) {
  Event event = chunk_event({}, {200'000}, "", 2, 0);
  auto& tensor = *event.mutable_summary()->mutable_value(0)->mutable_tensor();
  tensor.set_dtype(crochet::proto::DT_STRING);
  for (int i = 0; i < 100'000; ++i) tensor.add_string_val("");
  ASSERT_LT(event.ByteSizeLong(), 250'000u);
  expect_refused<ResourceExhaustedError>(event, "bytes of incomplete tensors", {.pending_bytes = 1'000'000});
}

TEST(EventAssemblerLimits, of_time) {
  Stream stream({.seconds = 60});
  (void)stream.add(named("a"));
  stream.clock.advance(60);
  (void)stream.add(named("b"));
  stream.clock.advance(1);
  EXPECT_THROW((void)stream.add(named("c")), crochet::DeadlineExceededError);
}

/// Random changes in good messages: each message is rejected or accepted, and nothing else happens. (See the preset
/// asan.)
TEST(EventAssemblerHostile, bytes_changed_at_random) {
  std::vector<std::string> good;
  for (const Event& event : chunk_events({}, numbers(40), 80)) good.push_back(event.SerializeAsString());
  for (const Event& event : graph_events(small_graph(), 200)) good.push_back(event.SerializeAsString());
  good.push_back(run_event().SerializeAsString());
#if GOOGLE_PROTOBUF_VERSION < 4022000
  const google::protobuf::LogSilencer quiet;
#endif
  std::mt19937 random(60);
  std::size_t taken = 0, refused = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    Stream stream({.seconds = 1e9}, 1 << 20);
    for (std::string bytes : good) {
      if (random() % 2 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());
      if (random() % 16 == 0) bytes.resize(random() % bytes.size());
      Event event;
      if (!event.ParseFromString(bytes)) continue;
      try {
        (void)stream.add(std::move(event));
        ++taken;
      } catch (const crochet::Error&) {
        ++refused;
        break;
      }
    }
  }
  EXPECT_GT(taken, 1000u);
  EXPECT_GT(refused, 1000u);
}

}  // namespace event_assembler_test
