// SPDX-License-Identifier: Apache-2.0
// ProfilerHook: records the time of each node of a step. Not part of hooks.hpp: it needs crochet::io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/phase_log.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/trace/run_writer.hpp>
#include <crochet/trace/step_recorder.hpp>

namespace crochet {

/// When a ProfilerHook records, and what it writes.
struct ProfilerHookOptions {
  std::optional<std::int64_t> save_steps{};   ///< steps between records, above 0
  std::optional<double> save_secs{};          ///< seconds between records, not below 0
  std::optional<std::int64_t> save_epochs{};  ///< epochs between records, above 0
  Anchor anchor = Anchor::global_step;        ///< first_run: save_steps are counted from the session's first step; with
                                              ///< save_epochs begin throws LogicError
  std::filesystem::path output_dir{};         ///< folder of the timelines and the event file; empty: the current folder
  bool show_dataflow = true;                  ///< arrows between producers and consumers
  bool show_memory = false;                   ///< tensors as objects, and a counter of their bytes
  bool run_metadata = false;                  ///< also writes `timeline-<step>.pb`, the RunMetadata of the timeline
  bool event_file = true;                     ///< also writes it to the event file of output_dir, as `step_<step>`
  std::filesystem::path perfetto{};           ///< a native Perfetto trace of all recorded runs; empty: none
  std::optional<Sink> table{};                ///< receives the table of the longest nodes, and of hooks, at the end
  std::size_t table_rows = 20;                ///< nodes in it
  bool in_background = true;                  ///< a background thread writes the files
  io::OnWriteError on_write_error = io::OnWriteError::go_on;  ///< stop: a run then throws the IoError
  Clock clock{};                         ///< of the interval and of all times; called by all threads of the executor
  std::function<double()> wall_clock{};  ///< seconds since 1970, read once; the system's
  Sink sink{};                           ///< for reports; also called by the background thread
  io::FileSystem* files = nullptr;       ///< of timelines, metadata and native trace; null: the operating system's
};

/// Records single runs, node by node: `ProfilerHook{{.save_steps = 1000, .output_dir = "out"}}` writes
/// `out/timeline-1000.json`, which chrome://tracing and ui.perfetto.dev open (docs/profiling.md).
/// - save_steps, save_secs, save_epochs: exactly one of the three; else, or out of range, begin throws LogicError. The
///   defaults of the other options are above.
/// - Fires: never in the first run of a created or recovered session, which contains one-time work; then in the runs
///   that make a multiple of N (with Anchor::first_run, in a session from step F, those that make F + N, F + 2N, ...),
///   or in the first one that begins S seconds after the last record. The record of a run that throws is discarded.
/// - The phases of hooks are recorded too, except with save_epochs: the run is then chosen too late for them.
/// - Fetches: nothing. A recorded run is the plain, fused one with a clock reading around each step
///   (trace/step_recorder.hpp). Any executor with probes is supported.
/// - On a GPU a recorded run is one launch, which writes the times of its steps itself. The timeline has them by the
///   GPU's clock on the device GPU:0 (its number), and the launch on CPU:0. If another probe needs it, the steps are
///   launched one by one, without waits between them (docs/profiling.md).
/// - Files are written after the run's last after_run: before the next run, at the end, or after an error. Several
///   hooks and sessions of a program may write into one folder (trace/run_writer.hpp).
/// - A full disk or an unwritable folder is reported once, and training continues (`on_write_error`). This also holds
///   for the event file, unless it was opened elsewhere before; its own reports go to standard error.
/// - On several ranks each writes into its own folder, `rank_0`, `rank_1` and so on in output_dir and in that of
///   `perfetto`; the devices are `/job:worker/replica:0/task:<rank>/device:...`. The table is that of rank 0.
/// - Threads: one background thread writes the files; the end waits for it.
/// - Cost: two comparisons per run, with save_secs a clock reading; in a recorded run about 50 ns per step and thread,
///   and a copy of the records (docs/benchmarks.md).
/// - Throws: LogicError as above; IoError with OnWriteError::stop.
/// - TensorFlow forces a full trace on all hooks of that run, may read the step before it, and writes on the training
///   thread.
class ProfilerHook {
 public:
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::on_error>;
  using probe = trace::StepRecorder;

  explicit(false) ProfilerHook(ProfilerHookOptions options)
      : options_(std::move(options)), log_(options_.clock), recorder_(recorder_of(options_)) {}

  /// For sessions on several ranks: each has a folder of its own.
  void join_ranks(int rank, int size);
  void begin();
  void after_create_session(auto& session, auto& /*coordinator*/) {
    timer_.epochs_begin(session, options_.clock());
    settle();
    primed_ = false;
  }

  /// Called before any before_run, so the decision to record is made here.
  static constexpr bool logs_phases = true;
  PhaseLog* due_phase_log(auto& run) {
    if (options_.save_epochs) return nullptr;  // a FeedFn takes the batch later: before_run decides
    look(run);
    looked_ = true;
    return state_ == State::recording ? &log_ : nullptr;
  }
  void before_run(auto& run) {
    if (!std::exchange(looked_, false)) look(run);  // with save_epochs
  }
  probe* due_probe() { return state_ == State::recording ? &recorder_ : nullptr; }
  void after_run(auto& run, const auto& /*values*/) {
    const bool reached = timer_.ran(run);
    if (state_ == State::recording) [[unlikely]] {
      reached ? recorded(run.step()) : settle();
    }
  }
  void end(auto& /*session*/) {
    settle();
    writer_->flush();
    if (!options_.table || rank_ > 0) return;
    for (const std::string& line : table().lines(options_.table_rows)) (*options_.table)(line);
  }
  void on_error(auto& /*error*/) {
    settle();
    writer_->flush();
  }

  /// The totals of the records so far, without a run in progress. Waits for their files. Empty before begin. Throws as
  /// a run does.
  [[nodiscard]] trace::ProfileTable table();

  [[nodiscard]] std::string cadence() const;

 private:
  enum class State : unsigned char {
    idle,
    recording,  ///< a run in progress, or one that has thrown
    recorded    ///< hooks behind this one may still handle it
  };

  static trace::StepRecorder recorder_of(const ProfilerHookOptions& options) {
    return options.wall_clock ? trace::StepRecorder(options.clock, options.wall_clock)
                              : trace::StepRecorder(options.clock);
  }

  void look(auto& run) {
    if (state_ != State::idle) [[unlikely]] {
      settle();
    }
    const bool due = timer_.due_next(run, options_.clock);
    if (!primed_) [[unlikely]] {
      prime(run.step());
      if (due && options_.save_epochs) timer_.triggered(run.step(), options_.clock());
    } else if (due) [[unlikely]] {
      state_ = State::recording;
    }
  }
  void prime(std::int64_t step);
  void recorded(std::int64_t step);
  /// Passes a complete record to the writer; discards an incomplete one.
  void settle();

  [[nodiscard]] std::filesystem::path output_dir() const;
  trace::RunWriterOptions writer_options();
  io::EventWriter event_writer();

  ProfilerHookOptions options_;
  Cadence timer_;
  PhaseLog log_;
  trace::StepRecorder recorder_;
  std::shared_ptr<trace::RunWriter> writer_;  // set in begin
  std::int64_t step_ = 0;                     // the step number of the recorded run
  int rank_ = 0, ranks_ = 1;
  State state_ = State::idle;
  bool primed_ = false;
  bool looked_ = false;  // due_phase_log was called for the run that begins
};

}  // namespace crochet

#ifdef CROCHET_HEADER_ONLY
#include <crochet/hooks/io/profiler_hook.ipp>
#endif
