// SPDX-License-Identifier: Apache-2.0
// The compiled half of perfetto.hpp.
#pragma once

#include <crochet/trace/perfetto.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/proto/perfetto.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <crochet/trace/figures.hpp>
#include <crochet/trace/run_trace.hpp>
#include <crochet/trace/wiring.hpp>

namespace crochet::trace::detail {

CROCHET_INLINE std::pair<std::uint64_t, bool> InternedTexts::number(std::string_view text) {
  const auto found = numbers_.find(text);
  if (found != numbers_.end()) return {found->second, false};
  return {numbers_.emplace(std::string(text), numbers_.size() + 1).first->second, true};
}

}  // namespace crochet::trace::detail

namespace crochet::trace {

template <class Fill>
void PerfettoWriter::slice(std::uint64_t track, std::int64_t begin, std::int64_t end, std::string_view name,
                           std::string_view category, Fill fill) {
  Packet packet;
  packet.set_timestamp(static_cast<std::uint64_t>(begin));
  new_texts_ = packet.mutable_interned_data();
  Event& event = *packet.mutable_track_event();
  event.set_type(Event::TYPE_SLICE_BEGIN);
  event.set_track_uuid(base_ + track);
  event.set_name_iid(intern(names_, name, [&] { return new_texts_->add_event_names(); }));
  event.add_category_iids(intern(categories_, category, [&] { return new_texts_->add_event_categories(); }));
  fill(event);
  if (new_texts_->ByteSizeLong() == 0) packet.clear_interned_data();
  append(packet);
  Packet last;
  last.set_timestamp(static_cast<std::uint64_t>(end));
  last.mutable_track_event()->set_type(Event::TYPE_SLICE_END);
  last.mutable_track_event()->set_track_uuid(base_ + track);
  append(last);
}

template <class Add>
std::uint64_t PerfettoWriter::intern(detail::InternedTexts& texts, std::string_view text, Add add) {
  const auto [number, is_new] = texts.number(text);
  if (is_new) {
    auto* const entry = add();
    entry->set_iid(number);
    entry->set_name(std::string(text));
  }
  return number;
}

CROCHET_INLINE std::string PerfettoWriter::packets(const RunTrace& run) {
  bytes_.clear();
  if (base_ == 0) begin(run);
  while (members_ < run.members) describe_member(members_++);
  if (!run.device.empty() && !std::exchange(has_device_, true)) describe_device(run);
  slice(runs, run.epoch.ns(run.begin), run.epoch.ns(run.end), "run", "run",
        [&](Event& e) { annotate(e, "step", static_cast<double>(run.step)); });
  for (const HookPhase& p : run.phases) {
    slice(hooks, run.epoch.ns(p.begin), run.epoch.ns(p.end), p.hook, "hook",
          [&](Event& e) { annotate(e, "phase", p.phase); });
  }
  if (!run.device.empty()) write_launches(run);
  write_steps(run);
  write_memory(run);
  return std::exchange(bytes_, {});
}

CROCHET_INLINE void PerfettoWriter::append(Packet& packet) {
  packet.set_trusted_packet_sequence_id(1);
  packet.set_sequence_flags(begun_ ? Packet::SEQ_NEEDS_INCREMENTAL_STATE : Packet::SEQ_INCREMENTAL_STATE_CLEARED);
  begun_ = true;
  // As field 1 of a Trace: tag, length, packet.
  google::protobuf::io::StringOutputStream stream(&bytes_);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.WriteTag(1U << 3 | 2U);
  out.WriteVarint32(static_cast<std::uint32_t>(packet.ByteSizeLong()));
  packet.SerializeWithCachedSizes(&out);
}

CROCHET_INLINE void PerfettoWriter::begin(const RunTrace& run) {
  // Unique, so that files can be concatenated: by the time, and by the rank, since ranks begin together. The factor,
  // 2^64 over the golden ratio, sets the ranks' numbers far apart.
  const auto rank = static_cast<std::uint64_t>(std::max(run.task, 0));
  base_ = (static_cast<std::uint64_t>(run.epoch.wall_ns) + rank * 0x9E3779B97F4A7C15U) << 8 | 1U << 7;
  Packet packet;
  auto& named_process = *describe(packet, process)->mutable_process();
  named_process.set_process_name(run.task < 0 ? process_ : process_ + ", rank " + std::to_string(run.task));
  pid_ = 1 + std::max(run.task, 0) * max_threads;
  named_process.set_pid(pid_);
  packet.mutable_track_descriptor()->clear_parent_uuid();
  append(packet);
  for (const auto& [track, name] : {std::pair{runs, "runs"}, std::pair{hooks, "hooks"}}) {
    Packet named;
    describe(named, track)->set_name(name);
    append(named);
  }
  for (const auto& [track, name] : {std::pair{workspace, "workspace"}, std::pair{variables, "variables"}}) {
    Packet counter;
    describe(counter, track)->set_name(name);
    counter.mutable_track_descriptor()->mutable_counter()->set_unit(
        proto::perfetto::CounterDescriptor::UNIT_SIZE_BYTES);
    append(counter);
  }
}

CROCHET_INLINE void PerfettoWriter::describe_member(int member) {
  Packet packet;
  auto& thread = *describe(packet, first_member + static_cast<std::uint64_t>(member))->mutable_thread();
  thread.set_pid(pid_);
  thread.set_tid(pid_ + member);
  thread.set_thread_name(member == 0 ? "session.run" : "team " + std::to_string(member));
  append(packet);
}

CROCHET_INLINE void PerfettoWriter::describe_device(const RunTrace& run) {
  Packet packet;
  describe(packet, device)->set_name("GPU:" + std::to_string(run.device_number) + " stream:all (" + run.device + ")");
  append(packet);
}

CROCHET_INLINE PerfettoWriter::Track* PerfettoWriter::describe(Packet& packet, std::uint64_t track) const {
  Track* const to = packet.mutable_track_descriptor();
  to->set_uuid(base_ + track);
  to->set_parent_uuid(base_ + process);
  return to;
}

CROCHET_INLINE proto::perfetto::DebugAnnotation& PerfettoWriter::annotation(Event& event, std::string_view name) {
  auto& to = *event.add_debug_annotations();
  to.set_name_iid(intern(arguments_, name, [&] { return new_texts_->add_debug_annotation_names(); }));
  return to;
}

CROCHET_INLINE void PerfettoWriter::annotate(Event& event, std::string_view name, double value) {
  auto& to = annotation(event, name);
  if (value == std::floor(value) && std::abs(value) < 9e15) {
    to.set_int_value(static_cast<std::int64_t>(value));
  } else {
    to.set_double_value(value);
  }
}

CROCHET_INLINE void PerfettoWriter::annotate(Event& event, std::string_view name, std::string_view value) {
  annotation(event, name).set_string_value(std::string(value));
}

CROCHET_INLINE void PerfettoWriter::count(std::uint64_t track, std::int64_t time, std::int64_t value) {
  Packet packet;
  packet.set_timestamp(static_cast<std::uint64_t>(time));
  packet.mutable_track_event()->set_type(Event::TYPE_COUNTER);
  packet.mutable_track_event()->set_track_uuid(base_ + track);
  packet.mutable_track_event()->set_counter_value(value);
  append(packet);
}

CROCHET_INLINE void PerfettoWriter::write_launches(const RunTrace& run) {
  for (const Slice& s : slices_of(run)) {
    slice(first_member + index(s.part->member), s.begin, s.end, step_name(run, *s.part), "launch", [](Event&) {});
  }
}

CROCHET_INLINE void PerfettoWriter::write_steps(const RunTrace& run) {
  const Wiring wiring(run);
  const std::vector<double> seconds = seconds_of_steps(run);
  const std::vector<Slice> slices = step_slices_of(run);
  const std::vector<std::vector<std::size_t>> readers = readers_of(run, wiring);
  std::vector<std::uint64_t> first_flow(run.steps.size());  // one for each pair of producer and reader
  for (std::size_t k = 0; k < run.steps.size(); ++k) first_flow[k] = std::exchange(flows_, flows_ + readers[k].size());
  std::vector<std::vector<std::uint64_t>> arriving(run.steps.size());
  for (std::size_t k = 0; k < run.steps.size(); ++k) {
    for (std::size_t i = 0; i < readers[k].size(); ++i) arriving[readers[k][i]].push_back(first_flow[k] + i);
  }
  std::vector<bool> begun(run.steps.size());
  for (const Slice& s : slices) {
    const std::size_t k = index(s.part->step);
    const TracedStep& step = run.steps[k];
    const std::uint64_t track = s.part->member < 0 ? std::uint64_t{device} : first_member + index(s.part->member);
    slice(track, s.begin, s.end, run.names[index(step.node)], "step", [&](Event& e) {
      annotate(e, "op", op_text(run, step));
      std::string inputs;
      for (const std::int32_t i : wiring.inputs(k)) inputs += (inputs.empty() ? "" : ", ") + wiring.tensor(i);
      if (!inputs.empty()) annotate(e, "inputs", inputs);
      for (const Figure& f : figures_of(run, *s.part, seconds[k])) annotate(e, f.name, f.value);
      if (begun[k]) return;  // flows start at a step's first part
      begun[k] = true;
      for (std::size_t i = 0; i < readers[k].size(); ++i) e.add_flow_ids(base_ + first_flow[k] + i);
      for (const std::uint64_t id : arriving[k]) e.add_terminating_flow_ids(base_ + id);
    });
  }
}

CROCHET_INLINE std::vector<std::vector<std::size_t>> PerfettoWriter::readers_of(const RunTrace& run,
                                                                                const Wiring& wiring) {
  std::vector<std::vector<std::size_t>> readers(run.steps.size());
  for (std::size_t k = 0; k < run.steps.size(); ++k) {
    for (const std::int32_t input : wiring.inputs(k)) {
      const std::int32_t from = wiring.step_of(input);
      if (from >= 0 && index(from) < k) readers[index(from)].push_back(k);
    }
  }
  return readers;
}

CROCHET_INLINE void PerfettoWriter::write_memory(const RunTrace& run) {
  if (run.slots.empty() && run.variable_bytes == 0) return;
  count(variables, run.epoch.ns(run.begin), static_cast<std::int64_t>(run.variable_bytes));
  std::int64_t before = -1;
  std::vector<bool> seen(run.steps.size());
  for (const Slice& s : step_slices_of(run)) {
    if (seen[index(s.part->step)]) continue;
    seen[index(s.part->step)] = true;
    std::int64_t bytes = 0;
    for (const ProbedSlot& slot : run.slots) {
      if (slot.first <= s.part->step && s.part->step <= slot.last) bytes += slot.bytes;
    }
    if (bytes != std::exchange(before, bytes)) count(workspace, s.begin, bytes);
  }
  count(workspace, run.epoch.ns(run.end), 0);
}

}  // namespace crochet::trace
