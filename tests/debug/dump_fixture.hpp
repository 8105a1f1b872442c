// SPDX-License-Identifier: Apache-2.0
// Dumps built by hand, field by field as TensorFlow's debugger writes them, or wrong in the ways that a test needs.
#pragma once

#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace crochet::test {

inline constexpr std::string_view cpu_directory = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0";

template <class T>
std::string bytes_of(const std::vector<T>& elements) {
  std::string bytes(elements.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

/// The event with a tensor.
inline proto::Event tensor_event(const std::string& node, int slot, const std::string& op, std::uint64_t time,
                                 proto::DataType dtype, const std::vector<std::int64_t>& shape,
                                 const std::string& content) {
  proto::Event event;
  event.set_wall_time(static_cast<double>(time));
  proto::Summary::Value& value = *event.mutable_summary()->add_value();
  value.set_tag(node);
  value.set_node_name(node + ":" + std::to_string(slot) + ":" + op);
  auto& plugin = *value.mutable_metadata()->mutable_plugin_data();
  plugin.set_plugin_name("debugger");
  plugin.set_content(R"({"device":"/job:localhost/replica:0/task:0/device:CPU:0","outputSlot":)" +
                     std::to_string(slot) + R"(,"numChunks":1,"chunkIndex":0})");
  value.mutable_tensor()->set_dtype(dtype);
  value.mutable_tensor()->mutable_tensor_shape();
  for (const std::int64_t size : shape) value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(size);
  value.mutable_tensor()->set_tensor_content(content);
  return event;
}

/// A separate session root, which the destructor removes.
class DumpFixture {
 public:
  explicit DumpFixture(std::string run = "run_1700000000000000_0") : run_(std::move(run)) {
    static int made = 0;
    root_ = std::filesystem::path(::testing::TempDir()) /
            ("crochet-dump-" + std::to_string(::getpid()) + "-" + std::to_string(made++));
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(device());
  }
  DumpFixture(const DumpFixture&) = delete;
  DumpFixture& operator=(const DumpFixture&) = delete;
  ~DumpFixture() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path run() const { return root() / run_; }
  [[nodiscard]] std::filesystem::path device() const { return run() / std::string(cpu_directory); }
  /// Starts another run: later files belong to it.
  void begin_run(std::string name) {
    run_ = std::move(name);
    std::filesystem::create_directories(device());
  }

  static void write(const std::filesystem::path& path, std::string_view bytes) {
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::remove(path);  // on some file systems overwriting a file blocks
    std::ofstream{path, std::ios::binary}.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  /// Writes a file into the device directory.
  void file(const std::string& name, std::string_view bytes) const { write(device() / name, bytes); }
  void event(const std::string& name, const proto::Event& event) const { file(name, event.SerializeAsString()); }

  static std::string file_name(const std::string& node, int slot, const std::string& op, std::uint64_t time) {
    return node + "_" + std::to_string(slot) + "_" + op + "_" + std::to_string(time);
  }
  template <class T>
  void tensor(const std::string& node, int slot, std::uint64_t time, proto::DataType dtype,
              const std::vector<std::int64_t>& shape, const std::vector<T>& elements,
              const std::string& op = "DebugIdentity") const {
    event(file_name(node, slot, op, time), tensor_event(node, slot, op, time, dtype, shape, bytes_of(elements)));
  }
  void floats(const std::string& node, std::uint64_t time, const std::vector<float>& elements,
              std::vector<std::int64_t> shape = {}) const {
    if (shape.empty()) shape = {static_cast<std::int64_t>(elements.size())};
    tensor(node, 0, time, proto::DT_FLOAT, shape, elements);
  }
  void strings(const std::string& node, std::uint64_t time, const std::vector<std::string>& elements) const {
    proto::Event event = tensor_event(node, 0, "DebugIdentity", time, proto::DT_STRING,
                                      {static_cast<std::int64_t>(elements.size())}, "");
    for (const std::string& text : elements) {
      event.mutable_summary()->mutable_value(0)->mutable_tensor()->add_string_val(text);
    }
    this->event(file_name(node, 0, "DebugIdentity", time), event);
  }

  void text(const std::string& name, const std::string& message) const {
    proto::Event event;
    event.mutable_log_message()->set_message(message);
    write(run() / name, event.SerializeAsString());
  }
  void metadata(std::int64_t step, std::int64_t run_index = 1) const {
    text("_tfdbg_core_metadata_sessionrun00000000000001_1700000000000000",
         R"({"global_step":)" + std::to_string(step) + R"(,"session_run_index":)" + std::to_string(run_index) +
             R"(,"executor_step_index":0,"input_names":["x:0"],"output_names":["b:0"],"target_nodes":[]})");
  }
  void graph(const proto::GraphDef& graph) const {
    proto::Event event;
    event.set_graph_def(graph.SerializeAsString());
    this->event("_tfdbg_graph_hash1_1700000000000000", event);
  }

 private:
  std::filesystem::path root_;
  std::string run_;
};

inline void add_node(proto::GraphDef& graph, const std::string& name, const std::string& op,
                     const std::vector<std::string>& inputs = {}) {
  proto::NodeDef& node = *graph.add_node();
  node.set_name(name);
  node.set_op(op);
  for (const std::string& input : inputs) node.add_input(input);
}

}  // namespace crochet::test
