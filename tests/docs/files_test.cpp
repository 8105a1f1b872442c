// SPDX-License-Identifier: Apache-2.0
// The functions of docs/files.md read what a training has written.
#include <crochet/proto/step_stats.pb.h>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/debug/dump/dump_reader.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#include <crochet/hooks/io/record_run.hpp>
#include <crochet/io/event_reader.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/io/recording_reader.hpp>
#include <crochet/io/safetensors.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/storage/read_floats.hpp>
#include <crochet/storage/rounded_tensors.hpp>
#include <crochet/trace/timeline.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "../io/temporary_folder.hpp"

namespace files_page_test {

// clang-format off
namespace cr = crochet;
namespace fs = std::filesystem;

/// A variable in the newest checkpoint of a folder.
std::vector<float> read_variable(const fs::path& folder, std::string_view name) {
  const std::optional<fs::path> prefix = cr::latest_checkpoint(folder);
  if (!prefix) throw std::runtime_error("no checkpoint in " + folder.string());
  const cr::io::TensorBundleReader checkpoint{*prefix};
  const cr::io::TensorEntry* const entry = checkpoint.find(name);         // null: there is none of this name
  if (entry == nullptr || !cr::io::reads_as<float>(entry->type)) throw std::runtime_error("no such float variable");
  std::vector<float> elements(entry->elements);
  cr::io::read_floats<float>(checkpoint, *entry, elements);               // compares the checksum
  return elements;
}

std::vector<std::string> tensors_of(const fs::path& prefix) {
  std::vector<std::string> lines;
  const cr::io::TensorBundleReader checkpoint{prefix};
  for (const cr::io::TensorEntry& tensor : checkpoint.tensors())
    lines.push_back(tensor.name + ": " + std::string(name_of(tensor.type)) + ", " + std::to_string(tensor.elements));
  checkpoint.verify();
  return lines;
}

/// The names of the variables whose elements differ, or that only `first` has. Hooks' state is left out: it has times
/// and paths.
std::vector<std::string> differing_variables(const fs::path& first, const fs::path& second) {
  const auto bytes_of = [](const cr::io::TensorBundleReader& checkpoint, const cr::io::TensorEntry& entry) {
    std::vector<std::byte> bytes(entry.byte_size);
    checkpoint.read(entry, bytes);
    return bytes;
  };
  std::vector<std::string> names;
  const cr::io::TensorBundleReader a{first}, b{second};
  for (const cr::io::TensorEntry& entry : a.tensors()) {
    if (entry.name.starts_with("crochet/hooks")) continue;
    const cr::io::TensorEntry* const other = b.find(entry.name);
    if (other == nullptr || bytes_of(a, entry) != bytes_of(b, *other)) names.push_back(entry.name);
  }
  return names;
}

/// `rows`: row-major, `width` numbers each.
void write_embedding(const fs::path& prefix, const std::vector<float>& rows, std::int64_t width) {
  const std::int64_t shape[] = {static_cast<std::int64_t>(rows.size()) / width, width};
  const cr::io::TensorRecord tensors[] = {cr::io::tensor_record("embedding", std::span{rows}, shape)};
  cr::io::TensorBundle::write(prefix, tensors);                           // for tf.train.load_checkpoint
  cr::io::Safetensors::write(prefix, tensors, {{"source", "run 7"}});     // for safetensors readers
}

/// The same in half the bytes: floats rounded to bfloat16, as in most published weights.
void write_small(const fs::path& prefix, std::span<const cr::io::TensorRecord> tensors) {
  const cr::io::RoundedTensors rounded{tensors, cr::FloatStorage::bfloat16};
  cr::io::Safetensors::write(prefix, rounded.records());
}

/// The points (step, value) of a scalar.
std::vector<std::pair<std::int64_t, double>> curve(const fs::path& folder, std::string_view tag) {
  std::vector<std::pair<std::int64_t, double>> points;
  const auto files = cr::io::for_each_event(folder, [&](const fs::path&, const cr::io::EventRecord& record) {
    const auto* const scalar = std::get_if<cr::io::EventScalar>(&record.content);
    const auto* const log = std::get_if<cr::io::EventSessionLog>(&record.content);
    if (scalar != nullptr && record.tag == tag) points.emplace_back(record.step, scalar->value);
    if (log != nullptr && log->status == cr::io::EventSessionLog::Status::start)   // a resume replaces what follows
      std::erase_if(points, [&](const auto& point) { return point.first >= record.step; });
  });
  for (const cr::io::EventFileReport& file : files)
    if (file.state == cr::io::EventFileState::damaged) std::fprintf(stderr, "%s\n", file.reason.c_str());
  return points;
}

void write_events(const fs::path& folder, std::span<const float> weights) {
  const cr::io::EventWriter events{folder};        // a thread writes
  events.add_scalar("loss", 0.25, 100);
  events.add_histogram("weights", weights, 100);
  events.add_text("note", "the *first* run", 100);
  events.close();                                  // when all of it is written
}

/// The global step after each run, and the names of the values that were fetched in it.
std::vector<std::string> recorded_runs(const fs::path& file) {
  std::vector<std::string> lines;
  cr::io::RecordingReader recording{file};
  while (const std::optional<cr::io::RecordedRun> entry = recording.next()) {
    if (entry->kind != cr::io::RecordedRun::Kind::run) continue;
    std::string line = std::to_string(entry->step) + ":";
    for (const cr::io::RecordedValue& value : entry->values) line += " " + value.name;
    lines.push_back(line);
  }
  return lines;
}

/// A line for each tensor with a NaN, of all dumped runs.
std::vector<std::string> tensors_with_nan(const fs::path& root) {
  std::vector<std::string> lines;
  const cr::debug::DumpReader dumps{root};
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    const cr::debug::DumpRun run = dumps.open(i);
    for (const cr::debug::DumpEntry& entry : run.tensors()) {
      const cr::debug::DumpedTensor tensor = run.open(entry);
      const cr::debug::TensorStatistics all = tensor.statistics();        // of all numbers, also of huge tensors
      if (all.nan() > 0)
        lines.push_back(entry.tensor() + ": " + std::to_string(all.nan()) + " of " + std::to_string(tensor.elements()));
    }
  }
  return lines;
}

/// The JSON text that chrome://tracing and Perfetto open.
std::string timeline_with_memory(const fs::path& run_metadata) {
  std::ifstream file(run_metadata, std::ios::binary);
  cr::proto::RunMetadata run;
  if (!run.ParseFromIstream(&file)) throw std::runtime_error("no RunMetadata: " + run_metadata.string());
  return cr::trace::timeline_json(run.step_stats(), {.show_memory = true});
}
// clang-format on

using namespace cr::literals;
using Lines = std::vector<std::string>;

/// The logarithm of a weight, which is NaN from step 2 on, when the weight is below 0.
struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto w = g.variable<float>("w", {2}, cr::ones());
    const auto step = g.name("step", g.assign(w, w - 0.75F));
    g.name("logarithm", log(w));
    g.name("train", step);
    g.name("loss", cr::reduce_sum(w));
  }
};

TEST(FilesPage, WhatATrainingWritesIsRead) {
  const crochet::test::TemporaryFolder run;
  {
    const cr::Saver saver{run / "checkpoints"};
    const cr::io::EventWriter events{run / "logs"};
    cr::MonitoredSession session{
        cr::Cpu{.threads = 1}.compile<Model>(),
        cr::HookChain{cr::StopAtStep{.last_step = 3},
                      cr::SummarySaver<cr::summary::Scalar<"loss">>{.every_steps = 1, .summaries = events},
                      cr::RecordRun{run / "run.events"}, cr::DumpingDebugHook{run / "dumps"},
                      cr::ProfilerHook{
                          {.save_steps = 2, .output_dir = run / "profile", .run_metadata = true, .event_file = false}},
                      cr::CheckpointSaver{saver, {.save_steps = 1}}}};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run(cr::fetches<"logarithm">, "train"_n);
    });
  }
  EXPECT_EQ(read_variable(run / "checkpoints", "w"), (std::vector<float>{-1.25F, -1.25F}));
  EXPECT_THROW(read_variable(run / "checkpoints", "v"), std::runtime_error);
  EXPECT_EQ(curve(run / "logs", "loss"), (std::vector<std::pair<std::int64_t, double>>{{1, 0.5}, {2, -1}, {3, -2.5}}));
  EXPECT_EQ(recorded_runs(run / "run.events"), (Lines{"1: logarithm loss", "2: logarithm loss", "3: logarithm loss"}));
  EXPECT_EQ(tensors_with_nan(run / "dumps"), (Lines{"logarithm:0: 2 of 2", "logarithm:0: 2 of 2"}));
  const std::string timeline = timeline_with_memory(run / "profile" / "timeline-2.pb");
  EXPECT_NE(timeline.find("Sub+Assign+Log+ReduceSum"), std::string::npos) << timeline;
  EXPECT_NE(timeline.find("allocator_name: cpu"), std::string::npos) << timeline;
  EXPECT_THROW(timeline_with_memory(run / "run.events"), std::runtime_error);
  const Lines tensors = tensors_of(run / "checkpoints" / "model.ckpt-2");
  EXPECT_EQ(tensors.back(), "w: float32, 2");
  const auto saved = [&](int step) { return run / "checkpoints" / ("model.ckpt-" + std::to_string(step)); };
  EXPECT_EQ(differing_variables(saved(2), saved(3)), (Lines{"global_step", "w"}));
  EXPECT_EQ(differing_variables(saved(2), saved(2)), Lines{});
  EXPECT_EQ(std::count(tensors.begin(), tensors.end(), "global_step: int64, 1"), 1);
}

TEST(FilesPage, AnEmbeddingIsReadInBothFormats) {
  const crochet::test::TemporaryFolder folder;
  write_embedding(folder / "embedding", {1, 2, 3, 4, 5, 6}, 2);
  EXPECT_EQ(tensors_of(folder / "embedding"), (Lines{"embedding: float32, 6"}));
  const cr::io::SafetensorsReader other{folder / "embedding"};
  EXPECT_EQ(other.metadata().at("source"), "run 7");
  EXPECT_EQ(other.find("embedding")->shape, (std::vector<std::int64_t>{3, 2}));

  const std::vector<float> numbers{1, 0.1F};
  const std::vector<std::int64_t> shape{2};
  const cr::io::TensorRecord tensors[] = {cr::io::tensor_record("embedding", std::span{numbers}, shape)};
  write_small(folder / "small", tensors);
  const cr::io::SafetensorsReader small{folder / "small"};
  EXPECT_EQ(small.find("embedding")->type, cr::io::DataType::bfloat16);
}

TEST(FilesPage, ACurveOfAResumedRunHasEachStepOnce) {
  const crochet::test::TemporaryFolder folder;
  for (const auto& [first, last] : {std::pair{1, 5}, std::pair{3, 7}}) {  // killed after step 5, resumed from step 2
    const cr::io::EventWriter events{folder.path()};
    events.start(first);
    for (int step = first; step <= last; ++step) events.add_scalar("loss", first, step);
    events.close();
  }
  EXPECT_EQ(curve(folder.path(), "loss"),
            (std::vector<std::pair<std::int64_t, double>>{{1, 1}, {2, 1}, {3, 3}, {4, 3}, {5, 3}, {6, 3}, {7, 3}}));
}

TEST(FilesPage, WrittenEventsAreRead) {
  const crochet::test::TemporaryFolder folder;
  write_events(folder.path(), std::vector<float>{1, 2, 3});
  EXPECT_EQ(curve(folder.path(), "loss"), (std::vector<std::pair<std::int64_t, double>>{{100, 0.25}}));
}

}  // namespace files_page_test
