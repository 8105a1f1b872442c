// SPDX-License-Identifier: Apache-2.0
// DumpPublisher: writes debugged runs as directories of a session root, during the run or after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/debug/dump/disk_budget.hpp>
#include <crochet/debug/dump/dump_writer.hpp>
#include <crochet/debug/ops/python_repr.hpp>
#include <crochet/debug/probe/captured_run.hpp>
#include <crochet/debug/probe/debug_run.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet::debug {

/// The reaction to a dump that cannot be written, because the disk is full or the budget is used up.
enum class OnDumpFailure : std::uint8_t {
  skip,  ///< reports it, once until a dump succeeds again; ends the run's dump and continues training
  fail,  ///< the error leaves session.run, as in TensorFlow
};

/// Options of a DumpPublisher.
struct DumpOptions {
  OnDumpFailure on_failure = OnDumpFailure::skip;
  std::optional<std::size_t> keep_runs{};          ///< removes older directories of this session; unset: keeps all
  bool after_the_run = false;                      ///< keeps each run in memory until `keep` or `drop` is called
  std::function<void(std::string_view)> report{};  ///< receives failures
  DiskBudget* budget = &disk_budget();
  io::FileSystem* files = &io::local_files();
};

/// Writes each run to `<root>/run_<microseconds>_<count>`: fetches and feeds, the graph, the metadata, then each tensor
/// when it is published (dump_writer.hpp). A directory that has no tensor after a failure is removed. Not thread-safe.
/// With `after_the_run`, a run without a call of `keep` or `drop` counts as failed: it is written before the next run
/// begins, or by the destructor.
class DumpPublisher {
 public:
  explicit DumpPublisher(DumpOptions options) : options_(std::move(options)) {}
  DumpPublisher(const DumpPublisher&) = default;
  DumpPublisher(DumpPublisher&&) = default;
  DumpPublisher& operator=(const DumpPublisher&) = default;
  DumpPublisher& operator=(DumpPublisher&&) = default;
  ~DumpPublisher() {
    try {
      keep();
    } catch (...) {  // a failure under `fail`; no run is left to receive the error
    }
  }

  /// The session root. Set it before the first run.
  void set_root(std::filesystem::path root) { root_ = std::move(root); }
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  /// Sets the used bytes of the budget to 0, for all its users: TensorFlow does so for each hook.
  void reset_budget() { options_.budget->reset(); }
  /// The number of written runs, including removed ones.
  [[nodiscard]] std::int64_t runs() const { return runs_; }

  [[nodiscard]] std::vector<std::string> urls(std::int64_t microseconds) {
    end_last();  // this run gets the next number
    return {"file://" + (root_ / run_name(microseconds)).string()};
  }
  void begin_run(const DebugRun& run) {
    end_last();
    if (options_.after_the_run) return captured_.begin(run);
    guarded([&] { open(run); });
  }
  [[nodiscard]] bool wants(std::string_view /*node*/, std::int32_t /*slot*/, const DebugOp& /*op*/) const {
    return options_.after_the_run || writer_.has_value();
  }
  void publish(const DebugEvent& debug_event) {
    if (options_.after_the_run) return captured_.add(debug_event);
    if (writer_) guarded([&] { writer_->write_tensor(debug_event); });
  }
  void end_run() {
    if (!options_.after_the_run) finish();
  }

  /// With `after_the_run`: writes the last run, also an incomplete one. A run whose writing fails is discarded.
  void keep() {
    if (!captured_.any()) return;
    struct DropAtEnd {
      CapturedRun& run;
      ~DropAtEnd() { run.clear(); }
    } const at_end{captured_};
    guarded([&] {
      open(captured_.run());
      captured_.each([&](const DebugEvent& debug_event) { writer_->write_tensor(debug_event); });
    });
    finish();
  }
  /// With `after_the_run`: discards the last run.
  void drop() { captured_.clear(); }

 private:
  [[nodiscard]] std::string run_name(std::int64_t microseconds) const {
    return "run_" + std::to_string(microseconds) + "_" + std::to_string(runs_);
  }

  void open(const DebugRun& run) {
    writer_.emplace(root_ / run_name(run.microseconds), *options_.budget, *options_.files);
    writer_->write_fetches(python_repr(run.caller_fetches));
    writer_->write_feed_keys(feed_keys_repr(run.caller_feeds));
    writer_->write_graph(run.device, *run.graph->serialized(), run.microseconds);
    writer_->write_metadata(run.metadata, run.microseconds);
  }

  /// Ends a failed run when the next one begins.
  void end_last() {
    keep();
    finish();
  }
  /// Closes the directory, whether complete or not.
  void finish() {
    if (!writer_) return;
    kept_.push_back({writer_->directory(), writer_->tensor_bytes()});
    writer_.reset();
    ++runs_;
    reported_ = false;
    remove_old();
  }
  void remove_old() {
    while (options_.keep_runs && kept_.size() > *options_.keep_runs) {
      std::error_code ignored;  // a directory that cannot be removed stays, and its bytes stay counted
      std::filesystem::remove_all(kept_.front().directory, ignored);
      if (!ignored) options_.budget->give_back(kept_.front().bytes);
      kept_.pop_front();
    }
  }

  template <class Write>
  void guarded(Write&& write) {
    try {
      write();
    } catch (const LogicError&) {  // an error of the program, not of the disk
      give_up();
      throw;
    } catch (const Error& error) {
      give_up();
      if (options_.on_failure == OnDumpFailure::fail) throw;
      if (std::exchange(reported_, true) || !options_.report) return;
      options_.report(std::string(error.what()) + "; the loop goes on, this run's dump ends here");
    }
  }
  void give_up() {
    if (!writer_) return;
    if (writer_->tensors() == 0) {
      std::error_code ignored;
      std::filesystem::remove_all(writer_->directory(), ignored);
    } else {
      const bool reported = reported_;
      finish();
      reported_ = reported;
    }
    writer_.reset();
  }

  struct Kept {
    std::filesystem::path directory;
    std::uint64_t bytes;
  };

  DumpOptions options_;
  std::filesystem::path root_;
  std::optional<DumpWriter> writer_;
  CapturedRun captured_;
  std::deque<Kept> kept_;
  std::int64_t runs_ = 0;
  bool reported_ = false;
};

}  // namespace crochet::debug
