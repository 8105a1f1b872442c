// SPDX-License-Identifier: Apache-2.0
// The compiled half of timeline.hpp.
#pragma once

#include <crochet/trace/timeline.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <crochet/proto/step_stats.pb.h>
#include <google/protobuf/text_format.h>
#include <crochet/trace/lanes.hpp>
#include <crochet/trace/op_label.hpp>
#include <nlohmann/json.hpp>

namespace crochet::trace::detail {

/// Makes the events; see timeline_json().
class TimelineWriter {
  using Json = nlohmann::ordered_json;

 public:
  TimelineWriter(const proto::StepStats& stats, TimelineOptions options) : stats_(stats), options_(options) {}

  std::string json() {
    announce();
    assign_lanes();
    collect_tensors();
    show_compute();
    if (options_.show_memory) show_memory_counters();
    return "{\"traceEvents\":[\n" + metadata_ + events_ + "\n]}\n";
  }

 private:
  using Device = proto::DeviceStepStats;
  using Node = proto::NodeExecStats;
  struct Place {  // a row of the viewer
    std::int64_t pid, tid;
  };
  struct Tensor {
    std::string name;
    std::size_t id;
    std::int64_t created, last_unref, tensors_pid, bytes, produced;
    std::string allocator;
    Place producer;
  };

  /// Saturates at the largest int64, since statistics may come from a file.
  static std::int64_t sum(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? (b > 0 ? INT64_MAX : INT64_MIN) : result;
  }
  static std::int64_t start_of(const Node& n) { return n.all_start_micros(); }
  static std::int64_t end_of(const Node& n) { return sum(n.all_start_micros(), n.all_end_rel_micros()); }
  static bool is_kernel_trace(const Device& device) {
    return device.device().find("/stream:") != std::string::npos ||
           device.device().find("/memcpy") != std::string::npos;
  }

  /// In protobuf's text format with unescaped UTF-8, as in TensorFlow.
  static std::string text_of(const google::protobuf::Message& message) {
    google::protobuf::TextFormat::Printer printer;
    printer.SetUseUtf8StringEscaping(true);
    std::string text;
    printer.PrintToString(message, &text);
    return text;
  }
  static void append(std::string& list, bool first, const Json& event) {
    if (!first) list += ",\n";
    list += event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  static Json event(const char* phase, const char* category, std::string_view name, Place place, std::int64_t time) {
    return {{"ph", phase}, {"cat", category}, {"name", name}, {"pid", place.pid}, {"tid", place.tid}, {"ts", time}};
  }
  static Json event(const char* phase, const char* category, std::string_view name, Place place, std::int64_t time,
                    std::size_t id) {
    Json e = event(phase, category, name, place, time);
    e["id"] = id;
    return e;
  }
  void emit(const Json& event) { append(events_, false, event); }  // metadata precedes it

  /// The allocators are process 0; each device has two processes, for its work and for its tensors.
  void announce() {
    announce("Allocators", 0);
    std::int64_t next = 1;
    for (const Device& device : stats_.dev_stats()) {
      announce(device.device() + " Compute", next);
      announce(device.device() + " Tensors", next + 1);
      pids_[device.device()] = next;  // of two devices of one name the last one is used for both
      next += 2;
    }
  }
  void announce(const std::string& name, std::int64_t pid) {
    append(metadata_, pid == 0, {{"name", "process_name"}, {"ph", "M"}, {"pid", pid}, {"args", {{"name", name}}}});
  }

  void assign_lanes() {
    for (const Device& device : stats_.dev_stats()) {
      Lanes lanes;
      for (const Node& n : device.node_stats()) lanes_.push_back(lanes.assign(start_of(n), end_of(n)));
    }
  }

  /// Calls visit(device, its compute pid, node, lane) for all nodes, in order.
  template <class F>
  void for_each_node(F visit) {
    std::size_t k = 0;
    for (const Device& device : stats_.dev_stats()) {
      const std::int64_t pid = pids_.at(device.device());
      for (const Node& n : device.node_stats()) visit(device, pid, n, std::int64_t{lanes_[k++]});
    }
  }

  void collect_tensors() {
    for_each_node([this](const Device&, std::int64_t pid, const Node& n, std::int64_t lane) {
      for (int i = 0; i < n.output_size(); ++i) collect_tensor(n, i, {pid, lane});
    });
  }
  void collect_tensor(const Node& n, int index, Place producer) {
    const proto::TensorDescription& what = n.output(index).tensor_description();
    const proto::AllocationDescription& where = what.allocation_description();
    const std::string name = index == 0 ? n.node_name() : n.node_name() + ":" + std::to_string(index);
    Tensor tensor{name,      tensors_.size(),        start_of(n), end_of(n), producer.pid + 1, where.requested_bytes(),
                  end_of(n), where.allocator_name(), producer};
    if (options_.show_memory) show_object(tensor, what);
    const auto [found, is_new] = tensor_of_.try_emplace(name, tensors_.size());
    if (is_new) {
      tensors_.push_back(std::move(tensor));
    } else {
      tensors_[found->second] = std::move(tensor);  // of a later iteration
    }
  }
  void show_object(const Tensor& tensor, const proto::TensorDescription& what) {
    const Place place{tensor.tensors_pid, tensor.producer.tid};
    emit(event("N", "Tensor", tensor.name, place, tensor.created, tensor.id));
    std::string text = text_of(what);
    std::erase(text, '"');
    Json snapshot = event("O", "Tensor", tensor.name, place, sum(tensor.produced, -1), tensor.id);
    snapshot["args"]["snapshot"]["tensor_description"] = text;
    emit(snapshot);
  }

  void show_compute() {
    for_each_node([this](const Device& device, std::int64_t pid, const Node& n, std::int64_t lane) {
      if (is_kernel_trace(device)) {
        const auto [name, op] = parse_kernel_label(n.timeline_label(), n.node_name());
        show_node(n, name, {op, {}}, {pid, lane});
      } else if (n.node_name() == "RecvTensor") {
        show_node(n, n.node_name(), {"RecvTensor", {}}, {pid, lane});
      } else {
        const OpLabel label = parse_op_label(n.timeline_label());
        show_node(n, n.node_name(), label, {pid, lane});
        for (const std::string_view input : label.inputs) use(input, n, {pid, lane});
      }
    });
  }
  void show_node(const Node& n, std::string_view name, const OpLabel& label, Place place) {
    Json slice = event("X", "Op", label.op, place, start_of(n));
    slice["dur"] = n.all_end_rel_micros();
    Json& args = slice["args"];
    args["name"] = name;
    args["op"] = label.op;
    for (std::size_t i = 0; i < label.inputs.size(); ++i) args["input" + std::to_string(i)] = label.inputs[i];
    emit(slice);
  }
  void use(std::string_view input, const Node& n, Place place) {
    auto found = tensor_of_.find(std::string(input));
    if (found == tensor_of_.end()) {
      const std::size_t cut = input.rfind("/_");  // a number added by graph partitioning
      if (cut == std::string_view::npos || cut == 0) return;
      found = tensor_of_.find(std::string(input.substr(0, cut)));
      if (found == tensor_of_.end()) return;
    }
    Tensor& tensor = tensors_[found->second];
    tensor.last_unref = std::max(tensor.last_unref, sum(end_of(n), -1));
    if (!options_.show_dataflow) return;
    if (tensor.producer.pid == place.pid && tensor.producer.tid == place.tid) return;
    emit(event("s", "DataFlow", tensor.name, tensor.producer, tensor.produced, flows_));
    emit(event("t", "DataFlow", tensor.name, place, start_of(n), flows_++));
  }

  void show_memory_counters() {
    using Change = std::tuple<std::int64_t, std::int64_t, std::string_view>;  // time, bytes, tensor
    std::vector<std::pair<std::string_view, std::vector<Change>>> allocators;
    std::unordered_map<std::string_view, std::size_t> allocator_of;
    for (const Tensor& t : tensors_) {
      emit(event("D", "Tensor", t.name, {t.tensors_pid, 0}, t.last_unref, t.id));
      const auto [found, is_new] = allocator_of.try_emplace(t.allocator, allocators.size());
      if (is_new) allocators.push_back({t.allocator, {}});
      allocators[found->second].second.emplace_back(t.created, t.bytes, t.name);
      allocators[found->second].second.emplace_back(t.last_unref, t.bytes == INT64_MIN ? INT64_MAX : -t.bytes, t.name);
    }
    for (auto& [allocator, changes] : allocators) {
      std::sort(changes.begin(), changes.end());
      std::int64_t total = 0;
      for (const auto& [time, bytes, name] : changes) {
        total = sum(total, bytes);
        Json counter = event("C", "Memory", allocator, {0, 0}, time);
        counter["args"] = Json::object();
        counter["args"][std::string(allocator)] = total;
        emit(counter);
      }
    }
  }

  const proto::StepStats& stats_;
  const TimelineOptions options_;
  std::string metadata_, events_;
  std::unordered_map<std::string, std::int64_t> pids_;  // of the devices' work; their tensors have the next one
  std::vector<std::uint32_t> lanes_;                    // of the nodes, device by device
  std::vector<Tensor> tensors_;                         // in the order in which their names first occur
  std::unordered_map<std::string, std::size_t> tensor_of_;
  std::size_t flows_ = 0;
};

}  // namespace crochet::trace::detail

namespace crochet::trace {

CROCHET_INLINE std::string timeline_json(const proto::StepStats& stats, TimelineOptions options) {
  return detail::TimelineWriter(stats, options).json();
}

}  // namespace crochet::trace
