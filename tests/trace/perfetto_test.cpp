// SPDX-License-Identifier: Apache-2.0
// Native traces and tables of recorded runs. tests/interop/profile.py reads such traces with Perfetto's trace
// processor.
#include <crochet/proto/perfetto.pb.h>
#include <crochet/trace/perfetto.hpp>
#include <crochet/trace/profile_table.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "recorded_run.hpp"

namespace perfetto_test {

namespace cr = crochet;
namespace trace = crochet::trace;
using cr::testing::RecordedRun;
using crochet::proto::perfetto::Trace;
using crochet::proto::perfetto::TracePacket;
using crochet::proto::perfetto::TrackEvent;

trace::RunTrace run_with_hooks(RecordedRun& made) {
  trace::RunTrace run = made.record();
  run.phases = {{"NanTensor<\"loss\">", "before_run", run.begin - 3e-6, run.begin - 2e-6},
                {"NanTensor<\"loss\">", "after_run", run.end + 1e-6, run.end + 4e-6}};
  return run;
}

Trace parsed(std::string_view bytes) {
  Trace trace;
  EXPECT_TRUE(trace.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return trace;
}

/// Decodes a trace into lines `track: name begin-end {argument=value}`, and `track: =value` for counters.
struct Reader {
  std::map<std::uint64_t, std::string> tracks, names, arguments;
  std::map<std::uint64_t, std::vector<std::string>> open;
  std::vector<std::string> lines;
  std::multiset<std::uint64_t> flows, ends;
  std::int64_t start = 0;

  void read(const Trace& trace) {
    for (const TracePacket& p : trace.packet()) {
      if (p.has_track_descriptor()) read_track(p.track_descriptor());
      for (const auto& n : p.interned_data().event_names()) EXPECT_TRUE(names.emplace(n.iid(), n.name()).second);
      for (const auto& n : p.interned_data().debug_annotation_names()) arguments[n.iid()] = n.name();
      if (p.has_track_event()) read_event(p.track_event(), static_cast<std::int64_t>(p.timestamp()) - start);
    }
  }
  void read_track(const crochet::proto::perfetto::TrackDescriptor& t) {
    const std::string name = t.has_thread() ? t.thread().thread_name() : t.has_process() ? "process" : t.name();
    EXPECT_TRUE(tracks.emplace(t.uuid(), name).second) << name;
    EXPECT_TRUE(t.has_process() || tracks.count(t.parent_uuid()) == 1);
  }
  void read_event(const TrackEvent& e, std::int64_t time) {
    ASSERT_EQ(tracks.count(e.track_uuid()), 1U);
    const std::string& track = tracks[e.track_uuid()];
    flows.insert(e.flow_ids().begin(), e.flow_ids().end());
    ends.insert(e.terminating_flow_ids().begin(), e.terminating_flow_ids().end());
    if (e.type() == TrackEvent::TYPE_COUNTER) {
      lines.push_back(track + ": " + std::to_string(time) + "=" + std::to_string(e.counter_value()));
    } else if (e.type() == TrackEvent::TYPE_SLICE_BEGIN) {
      ASSERT_EQ(names.count(e.name_iid()), 1U);
      open[e.track_uuid()].push_back(names[e.name_iid()] + " " + std::to_string(time) + "-");
      arguments_of[open[e.track_uuid()].back()] = text_of(e);
    } else {
      ASSERT_FALSE(open[e.track_uuid()].empty());
      const std::string slice = open[e.track_uuid()].back();
      open[e.track_uuid()].pop_back();
      lines.push_back(track + ": " + slice + std::to_string(time) + arguments_of[slice]);
    }
  }
  std::string text_of(const TrackEvent& e) {
    std::string text;
    for (const auto& a : e.debug_annotations()) {
      text += " " + arguments.at(a.name_iid()) + "=";
      text += a.has_string_value() ? a.string_value()
              : a.has_int_value()  ? std::to_string(a.int_value())
                                   : trace::figure(a.double_value(), 6);
    }
    return text;
  }
  std::map<std::string, std::string> arguments_of;
};

TEST(Perfetto, ARunIsSlicesCountersAndFlows) {
  RecordedRun made;
  const trace::RunTrace run = run_with_hooks(made);
  trace::PerfettoWriter writer;
  Reader reader;
  reader.start = run.epoch.ns(run.begin);
  reader.read(parsed(writer.packets(run)));
  EXPECT_EQ(
      reader.lines,
      (std::vector<std::string>{
          "runs: run 0-175500 step=42",
          "hooks: NanTensor<\"loss\"> -3000--2000 phase=before_run",
          "hooks: NanTensor<\"loss\"> 176500-179500 phase=after_run",
          "session.run: dense/relu 10000-110250 op=MatMul+Relu inputs=x, w thread=0 us=100.25 nodes=2 FLOP=2000000 "
          "bytes=4000 GFLOP/s=19.9501 GB/s=0.0399002",
          "team 1: dense/relu 110250-160250 op=MatMul+Relu inputs=x, w thread=1 us=50 nodes=2 FLOP=2000000 "
          "bytes=4000 GFLOP/s=19.9501 GB/s=0.0399002",
          "session.run: sum/row 160250-170250 op=ReduceSum inputs=dense/relu thread=0 us=10 bytes=1000 GB/s=0.1 "
          "region=0 calls=2 spread_us=12",
          "session.run: sum 170250-174250 op=ReduceSum inputs=sum/row, dense/relu:1 thread=0 us=4 FLOP=500 "
          "bytes=4 GFLOP/s=0.125 GB/s=0.001 region=0 calls=2 spread_us=9",
          "session.run: update 174250-174500 op=Assign inputs=w, sum thread=0 us=0.25",
          "variables: 0=128",
          "workspace: 10000=4096",
          "workspace: 160250=1052672",
          "workspace: 174250=1048576",
          "workspace: 175500=0",
      }));
  EXPECT_EQ(reader.flows.size(), 4U) << "to row, to sum twice, to update";
  EXPECT_EQ(reader.flows, reader.ends);
}

TEST(Perfetto, AGpuHasATrackAndTheThreadTheLaunches) {
  RecordedRun made;
  const trace::RunTrace run = made.record_on_gpu();
  trace::PerfettoWriter writer;
  Reader reader;
  reader.start = run.epoch.ns(run.begin);
  reader.read(parsed(writer.packets(run)));
  EXPECT_EQ(reader.lines,
            (std::vector<std::string>{
                "runs: run 0-130000 step=42",
                "session.run: dense/relu 10000-12000",
                "session.run: sum/row 12000-14000",
                "session.run: sum 14000-16000",
                "session.run: update 16000-18000",
                "GPU:1 stream:all (NVIDIA H200, sm_90): dense/relu 13000-113250 op=MatMul+Relu inputs=x, w us=100.25 "
                "nodes=2 FLOP=2000000 bytes=4000 GFLOP/s=19.9501 GB/s=0.0399002",
                "GPU:1 stream:all (NVIDIA H200, sm_90): sum/row 113250-123250 op=ReduceSum inputs=dense/relu us=10 "
                "bytes=1000 GB/s=0.1",
                "GPU:1 stream:all (NVIDIA H200, sm_90): sum 123250-127250 op=ReduceSum inputs=sum/row, dense/relu:1 "
                "us=4 FLOP=500 bytes=4 GFLOP/s=0.125 GB/s=0.001",
                "GPU:1 stream:all (NVIDIA H200, sm_90): update 128000-128250 op=Assign inputs=w, sum us=0.25",
                "variables: 0=128",
                "workspace: 13000=4096",
                "workspace: 113250=1052672",
                "workspace: 128000=1048576",
                "workspace: 130000=0",
            }));
  EXPECT_EQ(reader.flows.size(), 4U);
  EXPECT_EQ(reader.flows, reader.ends);
  reader.read(parsed(writer.packets(run)));  // describes no track again
}

TEST(Perfetto, AllStepsOfAGpuMayBeOneLaunch) {
  RecordedRun made;
  const trace::RunTrace run = made.record_on_gpu(true);
  trace::PerfettoWriter writer;
  Reader reader;
  reader.start = run.epoch.ns(run.begin);
  reader.read(parsed(writer.packets(run)));
  ASSERT_GT(reader.lines.size(), 2U);
  EXPECT_EQ(reader.lines[1], "session.run: all_steps 10000-18000");
  EXPECT_TRUE(reader.lines[2].starts_with("GPU:1 stream:all")) << reader.lines[2];
  trace::ProfileTable table;
  table.add(run);
  for (const auto& [name, node] : table.nodes()) EXPECT_EQ(node.calls, 1) << name;
  EXPECT_EQ(table.nodes().size(), 4U);
}

TEST(Perfetto, ALaterRunNamesNothingAgain) {
  RecordedRun made;
  trace::PerfettoWriter writer;
  Reader reader;  // rejects a second definition
  const std::string first = writer.packets(run_with_hooks(made));
  const std::string second = writer.packets(run_with_hooks(made));
  reader.read(parsed(first + second));
  EXPECT_LT(second.size(), first.size());
  EXPECT_EQ(reader.flows.size(), 8U);
  EXPECT_EQ((std::set<std::uint64_t>(reader.flows.begin(), reader.flows.end()).size()), 8U) << "none twice";
  const Trace trace = parsed(first + second);
  for (int i = 0; i < trace.packet_size(); ++i) {
    EXPECT_EQ(trace.packet(i).trusted_packet_sequence_id(), 1U);
    EXPECT_EQ(trace.packet(i).sequence_flags(), i == 0 ? 1U : 2U);
  }
}

// Ranks often begin in the same nanosecond of the clock, for example after a barrier.
TEST(Perfetto, RanksThatBeginAtOneTimeShareNoTrackAndNoFlow) {
  RecordedRun made;
  Reader reader;  // rejects a second definition of a track
  for (int rank = 0; rank < 3; ++rank) {
    trace::RunTrace run = run_with_hooks(made);
    run.task = rank;
    trace::PerfettoWriter writer;
    reader.names.clear();
    reader.read(parsed(writer.packets(run)));
  }
  EXPECT_EQ(reader.flows.size(), 12U);
  EXPECT_EQ((std::set<std::uint64_t>(reader.flows.begin(), reader.flows.end()).size()), 12U) << "none twice";
}

TEST(Perfetto, AFileThatEndsAnywhereHasItsWholePackets) {
  RecordedRun made;
  trace::PerfettoWriter writer;
  std::string bytes = writer.packets(run_with_hooks(made));
  bytes += writer.packets(run_with_hooks(made));
  const Trace whole = parsed(bytes);
  std::size_t at = 0;
  std::vector<std::size_t> ends{0};
  for (const TracePacket& p : whole.packet()) {
    at += 1 + (p.ByteSizeLong() < 128 ? 1 : 2) + p.ByteSizeLong();
    ends.push_back(at);
  }
  ASSERT_EQ(at, bytes.size());
  for (std::size_t cut = 0, packets = 0; cut <= bytes.size(); ++cut) {
    if (packets + 1 < ends.size() && cut == ends[packets + 1]) ++packets;
    Trace trace;
    const bool complete = trace.ParseFromArray(bytes.data(), static_cast<int>(cut));
    EXPECT_EQ(complete, cut == ends[packets]) << cut;
    EXPECT_TRUE(!complete || static_cast<std::size_t>(trace.packet_size()) == packets) << cut;
    Reader reader;
    reader.read(parsed(std::string_view(bytes).substr(0, ends[packets])));  // contains no reference to later packets
  }
}

TEST(ProfileTable, SumsUpNodesAndHooks) {
  RecordedRun made;
  trace::ProfileTable table;
  EXPECT_TRUE(table.lines().empty());
  table.add(run_with_hooks(made));
  table.add(run_with_hooks(made));
  EXPECT_EQ(table.runs(), 2);
  EXPECT_EQ(table.lines(), (std::vector<std::string>{
                               "2 runs recorded, 175.50 us a run; times are per run",
                               "node        operations   self us  share %  calls  GFLOP/s    GB/s",
                               "dense/relu  MatMul+Relu   100.25     57.1      1    19.95  0.0399",
                               "sum/row     ReduceSum      10.00      5.7      2        -     0.1",
                               "sum         ReduceSum       4.00      2.3      2    0.125   0.001",
                               "update      Assign          0.25      0.1      1        -       -",
                               "(the rest)                 61.00     34.8",
                               "hook               us a step  share %  before_run us  after_run us",
                               "NanTensor<\"loss\">       4.00      2.3           1.00          3.00",
                           }));
  EXPECT_EQ(table.lines(1).size(), 6U);
  EXPECT_EQ(table.lines(1)[3], "(the rest)                 75.25     42.9");
}

TEST(ProfileTable, NamesThatWouldSpoilItAreShortened) {
  RecordedRun made;
  trace::RunTrace run = run_with_hooks(made);
  run.phases[0].hook = "Evaluate<Fetches<\"accuracy\">, std::span<const Batch>, Feeds<>>";
  trace::ProfileTable table;
  table.add(run);
  EXPECT_EQ(table.lines().back().substr(0, 15), "Evaluate<...>  ");
}

TEST(ProfileTable, ARunOfNoLengthHasNoRates) {
  RecordedRun made;
  trace::RunTrace run = run_with_hooks(made);
  run.end = run.begin;
  for (trace::StepPart& part : run.parts) part.busy = 0;
  trace::ProfileTable table;
  table.add(run);
  EXPECT_EQ(table.lines()[2], "dense/relu  MatMul+Relu     0.00        -      1        -     -");
  for (const std::string& line : table.lines()) {
    EXPECT_EQ(line.find("inf"), std::string::npos) << line;
    EXPECT_EQ(line.find("nan"), std::string::npos) << line;
  }
}

}  // namespace perfetto_test
