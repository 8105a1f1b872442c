// SPDX-License-Identifier: Apache-2.0
// Events of a debug stream in the layout of TensorFlow's client, for tests: built by hand from the description of the
// format, not by the code under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>

namespace crochet::test {

inline const std::string cpu0 = "/job:localhost/replica:0/task:0/device:CPU:0";
inline constexpr double first_time = 1.7e15;  // microseconds

inline std::string bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

inline std::string plugin_json(const std::string& device, int slot, long long chunks, long long index) {
  return "{\"device\":\"" + device + "\",\"outputSlot\":" + std::to_string(slot) +
         ",\"numChunks\":" + std::to_string(chunks) + ",\"chunkIndex\":" + std::to_string(index) + "}";
}

struct Fired {
  std::string node = "net/a";
  int slot = 0;
  std::string op = "DebugIdentity";
  std::string device = cpu0;
  double time = first_time;
};

/// A chunk of a float tensor of this shape, with the bytes `content`.
inline proto::Event chunk_event(const Fired& debug_event, const std::vector<std::int64_t>& shape,
                                const std::string& content, long long chunks = 1, long long index = 0) {
  proto::Event event;
  event.set_wall_time(debug_event.time);
  auto& value = *event.mutable_summary()->add_value();
  value.set_tag(debug_event.node);
  value.set_node_name(debug_event.node + ":" + std::to_string(debug_event.slot) + ":" + debug_event.op);
  value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("debugger");
  value.mutable_metadata()->mutable_plugin_data()->set_content(
      plugin_json(debug_event.device, debug_event.slot, chunks, index));
  value.mutable_tensor()->set_dtype(proto::DT_FLOAT);
  value.mutable_tensor()->mutable_tensor_shape();
  for (const std::int64_t size : shape) value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(size);
  if (!content.empty()) value.mutable_tensor()->set_tensor_content(content);
  return event;
}

/// A complete float tensor of one dimension.
inline proto::Event whole_event(const Fired& debug_event, const std::vector<float>& values) {
  return chunk_event(debug_event, {static_cast<std::int64_t>(values.size())}, bytes_of(values));
}

/// The same tensor in chunks of this size.
inline std::vector<proto::Event> chunk_events(const Fired& debug_event, const std::vector<float>& values,
                                              std::size_t chunk_bytes) {
  const std::string all = bytes_of(values);
  const std::size_t count = (all.size() + chunk_bytes - 1) / chunk_bytes;
  std::vector<proto::Event> events;
  for (std::size_t i = 0; i < count; ++i) {
    events.push_back(chunk_event(debug_event, {static_cast<std::int64_t>(values.size())},
                                 all.substr(i * chunk_bytes, chunk_bytes), static_cast<long long>(count),
                                 static_cast<long long>(i)));
  }
  return events;
}

/// `members`: further members of the JSON object, with a leading comma.
inline proto::Event run_event(int run_index = 7, const std::string& members = ",\"grpc_path\":\"\"") {
  proto::Event event;
  event.set_wall_time(first_time);
  event.mutable_log_message()->set_message("{\"global_step\":0,\"session_run_index\":" + std::to_string(run_index) +
                                           ",\"executor_step_index\":0,\"input_names\":[\"x:0\"],\"output_names\":["
                                           "\"net/b:0\"],\"target_nodes\":[\"train\"]" +
                                           members + "}");
  return event;
}

/// Nodes x, net/a and net/b in a chain. net/a:0 has a gated DebugIdentity watch.
inline proto::GraphDef small_graph() {
  proto::GraphDef graph;
  const auto add = [&](const char* name, const char* op, const char* input) {
    auto& node = *graph.add_node();
    node.set_name(name);
    node.set_op(op);
    node.set_device(cpu0);
    if (*input != 0) node.add_input(input);
    return &node;
  };
  add("x", "Placeholder", "");
  add("net/a", "Relu", "x");
  add("__copy_net/a_0", "Copy", "net/a");
  auto& debug = *add("__dbg_net/a:0_0_DebugIdentity", "DebugIdentity", "__copy_net/a_0");
  (*debug.mutable_attr())["gated_grpc"].set_b(true);
  (*debug.mutable_attr())["tensor_name"].set_s("net/a:0");
  add("net/b", "Identity", "__copy_net/a_0")->add_input("^__dbg_net/a:0_0_DebugIdentity");
  return graph;
}

inline proto::Event graph_chunk(const std::string& bytes, std::size_t index, std::size_t count,
                                const std::string& device = cpu0) {
  proto::Event event;
  event.set_wall_time(first_time);
  event.set_graph_def("14493641028261569340," + device + ",1700000000000000|" + std::to_string(index) + "|" +
                      std::to_string(count) + "|" + bytes);
  return event;
}

/// The graph in chunks of this size.
inline std::vector<proto::Event> graph_events(const proto::GraphDef& graph, std::size_t chunk_bytes = 4'096'000,
                                              const std::string& device = cpu0) {
  const std::string all = graph.SerializeAsString();
  const std::size_t count = (all.size() + chunk_bytes - 1) / chunk_bytes;
  std::vector<proto::Event> events;
  for (std::size_t i = 0; i < count; ++i) {
    events.push_back(graph_chunk(all.substr(i * chunk_bytes, chunk_bytes), i, count, device));
  }
  return events;
}

}  // namespace crochet::test
