// SPDX-License-Identifier: Apache-2.0
// The compiled half of step_stats.hpp.
#pragma once

#include <crochet/trace/step_stats.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/proto/step_stats.pb.h>
#include <crochet/io/graph_def.hpp>
#include <crochet/io/proto_type.ipp>
#include <crochet/trace/figures.hpp>
#include <crochet/trace/run_trace.hpp>
#include <crochet/trace/wiring.hpp>

namespace crochet::trace::detail {

class StepStatsWriter {
 public:
  explicit StepStatsWriter(const RunTrace& run)
      : run_(run),
        wiring_(run),
        seconds_(seconds_of_steps(run)),
        slices_(slices_of(run)),
        device_slices_(device_slices_of(run)),
        last_part_(run.steps.size()) {
    for (const Slice& s : on_device() ? device_slices_ : slices_) {
      const Slice*& last = last_part_[index(s.part->step)];
      if (last == nullptr || s.end >= last->end) last = &s;
    }
  }

  proto::StepStats stats() {
    proto::StepStats stats;
    for (int member = 0; member < run_.members; ++member) {
      proto::DeviceStepStats& device = *stats.add_dev_stats();
      const std::string number = std::to_string(member);
      device.set_device(io::device_name("CPU", 0, run_.task) + (member == 0 ? "" : "/thread:" + number));
      (*device.mutable_thread_names())[static_cast<std::uint32_t>(member)] =
          member == 0 ? "session.run" : "team " + number;
      write_member(member, device);
    }
    if (on_device()) {
      write_device(*stats.add_dev_stats());
      write_kernels(*stats.add_dev_stats());
    }
    if (!run_.phases.empty()) write_phases(*stats.add_dev_stats());
    return stats;
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  bool on_device() const { return !run_.device.empty(); }
  std::string allocator() const { return on_device() ? "GPU_" + std::to_string(run_.device_number) : "cpu"; }

  /// Times in microseconds, on one thread. Consecutive slices must not overlap, since viewers drop those that do. A
  /// slice has a minimum length of 1, so a shorter one may start late. It is drawn 1 shorter if the next one starts in
  /// the microsecond in which it ends; otherwise that one would be drawn in another lane. Nanoseconds are exact.
  class Times {
   public:
    /// `next`: start of the next slice; 0 if there is none.
    void write(std::int64_t begin, std::int64_t end, std::int64_t next, proto::NodeExecStats& to) {
      const std::int64_t start = std::max(begin / 1000, free_);
      const std::int64_t whole = end / 1000 - start;
      const std::int64_t micros = std::max<std::int64_t>(1, whole > 1 && next / 1000 == end / 1000 ? whole - 1 : whole);
      free_ = start + micros;
      to.set_scheduled_micros(start);
      to.set_all_start_micros(start);
      to.set_op_end_rel_micros(micros);
      to.set_all_end_rel_micros(micros);
      to.set_scheduled_nanos(begin);
      to.set_all_start_nanos(begin);
      to.set_op_end_rel_nanos(end - begin);
      to.set_all_end_rel_nanos(end - begin);
    }

   private:
    std::int64_t free_ = 0;
  };

  void write_member(int member, proto::DeviceStepStats& device) const {
    std::vector<const Slice*> own;
    for (const Slice& s : slices_) {
      if (s.part->member == member) own.push_back(&s);
    }
    write_slices(own, device);
    if (slices_.empty() && member == 0) write_whole_run(*device.add_node_stats());
  }

  /// The steps on the device. The host's thread has their launches.
  void write_device(proto::DeviceStepStats& device) const {
    device.set_device(io::device_name("GPU", run_.device_number, run_.task));
    (*device.mutable_thread_names())[0] = run_.device;
    std::vector<const Slice*> own;
    for (const Slice& s : device_slices_) own.push_back(&s);
    write_slices(own, device);
  }

  /// The same times as the kernels of TensorFlow's tracer, `node:op` without labels.
  void write_kernels(proto::DeviceStepStats& device) const {
    device.set_device("/device:GPU:" + std::to_string(run_.device_number) + "/stream:all");
    Times times;
    for (std::size_t i = 0; i < device_slices_.size(); ++i) {
      const Slice& s = device_slices_[i];
      const TracedStep& step = run_.steps[index(s.part->step)];
      proto::NodeExecStats& node = *device.add_node_stats();
      node.set_node_name(std::string(run_.names[index(step.node)]) + ":" + op_text(run_, step));
      times.write(s.begin, s.end, i + 1 < device_slices_.size() ? device_slices_[i + 1].begin : 0, node);
    }
  }

  void write_slices(const std::vector<const Slice*>& own, proto::DeviceStepStats& device) const {
    Times times;
    for (std::size_t i = 0; i < own.size(); ++i) {
      proto::NodeExecStats& node = *device.add_node_stats();
      times.write(own[i]->begin, own[i]->end, i + 1 < own.size() ? own[i + 1]->begin : 0, node);
      node.set_node_name(std::string(step_name(run_, *own[i]->part)));
      node.set_thread_id(static_cast<std::uint32_t>(std::max(own[i]->part->member, 0)));
      on_device() && own[i]->part->member >= 0 ? write_launch(*own[i], node) : write_slice(*own[i], node);
    }
  }
  static void write_launch(const Slice& slice, proto::NodeExecStats& to) {
    to.set_timeline_label(to.node_name() + " = Launch(us=" + fixed_figure(slice.part->busy * 1e6, 3) + ")");
  }

  void write_slice(const Slice& slice, proto::NodeExecStats& to) const {
    const StepPart& part = *slice.part;
    const TracedStep& step = run_.steps[index(part.step)];
    const std::string name = to.node_name();
    std::string label = name + " = " + op_text(run_, step) + "(";
    for (const std::int32_t input : wiring_.inputs(index(part.step))) label += wiring_.tensor(input) + ", ";
    label += texts(figures_of(run_, part, seconds_[index(part.step)])) + ")";
    if (&slice != last_part_[index(part.step)]) return to.set_timeline_label(label);
    // The value is available when the last member is done.
    to.set_timeline_label(write_memory(part.step, to) + label);
    write_outputs(index(part.step), to);
  }
  /// A hook's name as part of a label, where " = " ends the node's name: g++ has " = " in names of some types.
  static std::string in_label(std::string_view name) {
    std::string text(name);
    for (std::size_t at = text.find(" = "); at != std::string::npos; at = text.find(" = ")) {
      text.erase(at + 2, 1);
      text.erase(at, 1);
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }
  static std::string texts(const std::vector<Figure>& figures) {
    std::string text;
    for (const Figure& f : figures) text += (text.empty() ? "" : ", ") + std::string(f.name) + "=" + f.text;
    return text;
  }

  void write_outputs(std::size_t step, proto::NodeExecStats& to) const {
    if (!run_.graph.nodes[index(run_.steps[step].node)].has_tensor) return;
    int slot = 0;
    for (const std::int32_t node : wiring_.outputs(step)) {
      const GraphTable::Node& n = run_.graph.nodes[index(node)];
      proto::NodeOutput& output = *to.add_output();
      output.set_slot(slot++);
      proto::TensorDescription& what = *output.mutable_tensor_description();
      what.set_dtype(io::proto_type(n.dtype));
      std::int64_t bytes = static_cast<std::int64_t>(size_of(n.dtype));
      for (std::size_t i = 0; i < n.shape.rank; ++i) {
        const std::int64_t extent = n.shape[i].at(run_.dims);
        what.mutable_shape()->add_dim()->set_size(extent > 0 ? extent : -1);
        bytes *= extent;
      }
      what.mutable_shape();
      proto::AllocationDescription& where = *what.mutable_allocation_description();
      where.set_requested_bytes(n.kind == OpKind::assign ? 0 : bytes);  // a variable's memory is permanent
      where.set_allocator_name(allocator());
      where.set_allocation_id(node + 1);
    }
  }

  /// The memory that the plan assigns to the step, and the memory in use during it. Returns TensorFlow's prefix of the
  /// label.
  std::string write_memory(std::int32_t step, proto::NodeExecStats& to) const {
    std::int64_t taken = 0, in_use = 0;
    for (const ProbedSlot& slot : run_.slots) {
      if (slot.first == step) taken += slot.bytes;
      if (slot.first <= step && step <= slot.last) in_use += slot.bytes;
    }
    if (in_use == 0) return {};
    proto::AllocatorMemoryUsed& memory = *to.add_memory();
    memory.set_allocator_name(allocator());
    memory.set_total_bytes(taken);
    memory.set_live_bytes(taken);
    memory.set_allocator_bytes_in_use(in_use);
    const double mebibytes = static_cast<double>(taken) / (1 << 20);
    return mebibytes < 0.1 ? "" : "[" + allocator() + " " + fixed_figure(mebibytes, 1) + "MB] ";
  }

  /// For an executor without steps.
  void write_whole_run(proto::NodeExecStats& to) const {
    to.set_node_name("run");
    to.set_timeline_label("run = Run(us=" + fixed_figure((run_.end - run_.begin) * 1e6, 3) + ")");
    Times().write(run_.epoch.ns(run_.begin), run_.epoch.ns(run_.end), 0, to);
  }

  void write_phases(proto::DeviceStepStats& to) const {
    to.set_device(io::device_name("HOOKS", 0, run_.task));
    Times times;
    for (std::size_t i = 0; i < run_.phases.size(); ++i) {
      const HookPhase& p = run_.phases[i];
      proto::NodeExecStats& node = *to.add_node_stats();
      const std::string name = p.hook + "/" + std::string(p.phase);
      node.set_node_name(name);
      node.set_timeline_label(in_label(name) + " = " + in_label(p.hook) + "(phase=" + std::string(p.phase) +
                              ", us=" + fixed_figure((p.end - p.begin) * 1e6, 3) + ")");
      const std::int64_t next = i + 1 < run_.phases.size() ? run_.epoch.ns(run_.phases[i + 1].begin) : 0;
      times.write(run_.epoch.ns(p.begin), run_.epoch.ns(p.end), next, node);
    }
  }

  const RunTrace& run_;
  const Wiring wiring_;
  const std::vector<double> seconds_;
  const std::vector<Slice> slices_, device_slices_;
  std::vector<const Slice*> last_part_;  // the part of each step that ends last
};

}  // namespace crochet::trace::detail

namespace crochet::trace {

CROCHET_INLINE proto::StepStats step_stats(const RunTrace& run) { return detail::StepStatsWriter(run).stats(); }

}  // namespace crochet::trace
