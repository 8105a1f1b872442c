// SPDX-License-Identifier: Apache-2.0
// RunRecorder: writes one stream into its own directory, and reports its contents in a line.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/base/clock.hpp>
#include <crochet/base/error.hpp>
#include <crochet/debug/dump/disk_budget.hpp>
#include <crochet/debug/dump/dump_writer.hpp>
#include <crochet/debug/event/log_event.hpp>
#include <crochet/debug/ops/python_repr.hpp>
#include <crochet/debug/server/byte_budget.hpp>
#include <crochet/debug/server/stream_sink.hpp>
#include <crochet/debug/watch/watch_key.hpp>

#include "bad_numbers.hpp"
#include "disk_blocks.hpp"
#include "graph_memory.hpp"
#include "output.hpp"
#include "run_report.hpp"

namespace crochet::debugd {

/// The shared state of all streams of a server. Thread-safe.
struct Recorders {
  std::filesystem::path root;  // of the dumps; empty: nothing is written
  debug::DiskBudget& disk;
  Output& output;
  std::function<void(const RunReport&)> ended;
  std::function<std::int64_t()> microseconds{&crochet::microseconds_since_1970};
  GraphMemory graphs{};
  debug::ByteBudget open_graphs{std::uint64_t{512} << 20};  // graphs of open streams, which are kept for later runs
  std::atomic<std::uint64_t> directories{0};

  /// Records gated ops of graphs that can be enabled, for `list`.
  void note_gated(const std::vector<debug::WatchKey>& keys) {
    const std::lock_guard lock(mutex);
    for (const debug::WatchKey& key : keys) {
      if (gated.size() < 10'000) gated.insert(key);
    }
  }
  std::set<debug::WatchKey> list_gated() const {
    const std::lock_guard lock(mutex);
    return gated;
  }

  mutable std::mutex mutex{};
  std::set<debug::WatchKey> gated{};
};

/// Records a run. A failed write never ends the stream: after a full disk, or a name that is too long for a file, the
/// rest is still written, and the report contains the failure.
class RunRecorder final : public debug::StreamSink {
 public:
  explicit RunRecorder(Recorders& shared) : shared_(shared), graph_bytes_(shared.open_graphs) {}

  void graph(debug::ReceivedGraph graph) override {
    ++report_.graphs;
    shared_.note_gated(graph.gated);
    write([&](auto& to) { write_graph(to, graph); });
    all_kept_ = all_kept_ && graph_bytes_.take(memory_of(graph));
    if (all_kept_) graphs_.push_back(std::move(graph));
  }

  void metadata(const debug::ReceivedMetadata& metadata) override {
    report_.run = metadata.run;
    grpc_path_ = metadata.grpc_path;
    proto::Event event = debug::log_event(metadata.json);
    event.set_wall_time(static_cast<double>(metadata.wall_time));
    write([&](auto& to) {
      const std::string fetches =
          debug::python_repr(metadata.run.output_names);  // the stream has no other data on them
      const std::string feeds = debug::feed_keys_repr(metadata.run.input_names);
      charged(blocks_of_file(metadata.json.size()),
              [&] { to.write_metadata(event, metadata.run.session_run_index, metadata.wall_time); });
      charged(blocks_of_file(fetches.size()), [&] { to.write_fetches(fetches); });
      charged(blocks_of_file(feeds.size()), [&] { to.write_feed_keys(feeds); });
    });
  }

  void tensor(const debug::ReceivedTensor& tensor) override {
    ++report_.tensors;
    const BadNumbers bad = bad_numbers(tensor);
    note(first_nan_, bad.nan, tensor);
    note(first_infinite_, bad.infinite, tensor);
    write([&](auto& to) {
      std::vector<std::string> folders = new_folders(tensor.device, tensor.key.node);
      const std::uint64_t bytes = blocks_of_file(tensor.event.ByteSizeLong()) + folders.size() * disk_block;
      to.write_tensor(tensor.event,
                      {tensor.device, tensor.key.node, tensor.key.slot, tensor.key.debug_op, tensor.wall_time}, bytes);
      remember(std::move(folders));
      if (nodes_ < max_nodes && dumped_[tensor.device].insert(tensor.key.node).second) ++nodes_;
    });
  }

  void held(const debug::WatchKey& key) override {
    const std::string name = debug::to_string(key);
    shared_.output.line({{"event", "held"}, {"key", name}},
                        "held at the breakpoint " + name + ": `continue` lets it go on");
  }

  void end(const debug::StreamEnd& end) noexcept override {
    try {
      report_.bytes = end.bytes;
      report_.incomplete = end.incomplete;
      report_.error = end.error;
      if (first_nan_) report_.first_nan = first_nan_->second;
      if (first_infinite_) report_.first_infinite = first_infinite_->second;
      settle_graphs();
      settle_mark();
      if (writer_) report_.directory = writer_->directory().string();
      shared_.ended(report_);
      shared_.output.line(to_json(report_), to_text(report_));
    } catch (const std::exception&) {  // no memory for the line of the report: it is omitted
    }
  }

 private:
  using First = std::optional<std::pair<std::int64_t, debug::WatchKey>>;

  /// Compares the times of the events, since chunks may arrive late.
  static void note(First& first, bool bad, const debug::ReceivedTensor& tensor) {
    if (bad && (!first || tensor.wall_time < first->first)) first.emplace(tensor.wall_time, tensor.key);
  }

  template <class Act>
  void write(Act act) {
    if (shared_.root.empty()) return;
    try {
      if (!writer_) {
        charged(2 * disk_block, [&] { writer_.emplace(next_directory(), shared_.disk); });  // and the mark in it
        writer_->mark_incomplete("its stream had not ended when crochet-debugd was stopped");
      }
      act(*writer_);
    } catch (const ResourceExhaustedError&) {
      not_written("the limit of --max-dump-bytes");
    } catch (const std::exception& error) {
      not_written(error.what());
    }
  }
  /// Removes the mark, or writes the missing parts to it. If that fails it stays as it is: the run counts as
  /// incomplete.
  void settle_mark() {
    if (!writer_) return;
    try {
      if (!report_.complete()) return writer_->mark_incomplete(what_is_missing(report_));
      writer_->mark_complete();
      shared_.disk.give_back(disk_block);
    } catch (const IoError& error) {
      not_written(error.what());
    }
  }
  void not_written(const std::string& why) {
    if (report_.not_written++ == 0) report_.why_not_written = why;
  }
  /// Takes the bytes from the disk limit for what act() writes; gives them back if it fails.
  template <class Act>
  void charged(std::uint64_t bytes, Act act) {
    if (!shared_.disk.take(bytes)) throw ResourceExhaustedError("crochet: the dump's disk limit");
    try {
      act();
    } catch (...) {
      shared_.disk.give_back(bytes);
      throw;
    }
  }
  void write_graph(debug::DumpWriter& to, const debug::ReceivedGraph& graph) {
    std::vector<std::string> folders = new_folders(graph.device, {});
    charged(blocks_of_file(graph.graph_def.size()) + folders.size() * disk_block,
            [&] { to.write_graph(graph.device, graph.graph_def, graph.wall_time); });
    remember(std::move(folders));
  }
  /// The folders for a file of this node that are not counted yet, as `device` and `device node`.
  [[nodiscard]] std::vector<std::string> new_folders(const std::string& device, std::string_view node) const {
    std::vector<std::string> names;
    const auto add = [&](std::string name) {
      if (!folders_.contains(name)) names.push_back(std::move(name));
    };
    add(device);
    for (std::size_t slash = node.find('/'); slash != node.npos; slash = node.find('/', slash + 1)) {
      add(device + ' ' + std::string(node.substr(0, slash)));
    }
    return names;
  }
  /// Remembers a limited number of folders; the others of a run with very many folders are counted again.
  void remember(std::vector<std::string> names) {
    for (std::string& name : names) {
      if (folders_.size() < max_folders) folders_.insert(std::move(name));
    }
  }
  std::filesystem::path next_directory() {
    return shared_.root /
           ("run_" + std::to_string(shared_.microseconds()) + "_" + std::to_string(shared_.directories++));
  }

  /// A run without graphs gets those of the last run of its kind, if they contain its dumped nodes.
  void settle_graphs() {
    if (!report_.run) return;
    const std::string kind = kind_of_run(*report_.run, grpc_path_);
    if (report_.graphs != 0) {
      if (report_.error.empty() && all_kept_) {
        shared_.graphs.remember(kind, std::make_shared<const std::vector<debug::ReceivedGraph>>(std::move(graphs_)));
      }
      return;
    }
    const Graphs known = shared_.graphs.recall(kind);
    if (!known || nodes_ == max_nodes || !holds_all(*known, dumped_)) return;
    write([&](auto& to) {
      for (const auto& graph : *known) write_graph(to, graph);
    });
  }

  static constexpr std::size_t max_nodes = 100'000;   // of a run; with more it gets no remembered graph
  static constexpr std::size_t max_folders = 10'000;  // of a run

  Recorders& shared_;
  debug::BytesTaken graph_bytes_;
  bool all_kept_ = true;  // whether all graphs are kept
  std::size_t nodes_ = 0;
  std::optional<debug::DumpWriter> writer_;
  std::vector<debug::ReceivedGraph> graphs_;
  DumpedNodes dumped_;
  std::set<std::string> folders_;  // the counted ones: `device` and `device node`
  std::string grpc_path_;
  First first_nan_, first_infinite_;
  RunReport report_;
};

}  // namespace crochet::debugd
