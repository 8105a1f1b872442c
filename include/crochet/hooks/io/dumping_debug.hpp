// SPDX-License-Identifier: Apache-2.0
// DumpingDebugHook: dumps the tensors of a run, node by node, to files. Not part of hooks.hpp: it needs crochet::io.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/base/sink.hpp>
#include <crochet/debug/dump/dump_publisher.hpp>
#include <crochet/debug/dump/session_root.hpp>
#include <crochet/debug/probe/debug_probe.hpp>
#include <crochet/debug/probe/thread_name.hpp>
#include <crochet/debug/watch/dump_condition.hpp>
#include <crochet/debug/watch/regex.hpp>
#include <crochet/debug/watch/watch.hpp>
#include <crochet/debug/watch/watch_fn.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hooks/kit/rank_folder.hpp>

namespace crochet {

/// Options of a DumpingDebugHook.
struct DumpingDebugOptions {
  debug::WatchFn watch_fn{};                        ///< watched nodes and their debug operations
  std::optional<std::string> thread_name_filter{};  ///< a pattern
  bool log_usage = true;                            ///< has no effect
  debug::OnDumpFailure on_failure = debug::OnDumpFailure::skip;
  std::optional<std::size_t> keep_runs{};  ///< number of newest directories to keep; unset: all
  Sink sink{};
  std::string device{};
  std::function<std::int64_t()> microseconds{};  ///< since 1970, UTC
  std::function<std::string()> thread_name{};
  debug::DiskBudget* budget = &debug::disk_budget();
  io::FileSystem* files = &io::local_files();
};

/// Dumps the tensors of a run, for tfdbg's DebugDumpDir, the tfdbg CLI and crochet-dump: `EveryN<100,
/// DumpingDebugHook<>>{{"/data/dumps"}}`, `DumpingDebugHook<Watch<"dense.*">>{"dumps"}`, `DumpingDebugHook{"dumps",
/// when_not_finite<"loss">}`, `DumpingDebugHook{"dumps", Watch<"dense.*">{}, when_not_finite<"loss">}`. Options stand
/// before the condition: `DumpingDebugHook{"dumps", Watch<"dense.*">{}, {.keep_runs = 10}, when_not_finite<"loss">}`.
///   W                   -     WatchAll  the watched nodes, selected at compile time; the other nodes stay fused
///   Condition           -     Always    the dumped runs, decided from fetched values, the last argument:
///                                       `when_not_finite<"loss">`. Each run is then buffered in memory until its end
///   session_root        -     -         a folder that is empty or does not exist; `~` is a home. Checked and created
///                                       in the first run
///   watch_fn            -     none      WatchOptions, or a function `(fetches, feeds)` that returns WatchOptions or
///                                       their tuple, called before each run; none: everything, with DebugIdentity
///   thread_name_filter  -     none      a pattern: only runs of threads with a matching name (of the operating system)
///   log_usage           -     true      no effect, for compatibility with TensorFlow
///   on_failure          -     skip      a full disk ends the run's dump, with one report; `fail`: throws
///   keep_runs           runs  unset     number of newest directories to keep
///   sink                                standard error
///   device              -     the run's the device name of the dumped tensors
///   microseconds, thread_name           the machine's clock; the calling thread's name
///   budget, files                       those of the process; the budget is recounted at the hook's first run
/// - Fires: around every admitted run; EveryN and the other decorators select fewer. A failed run leaves a partial
///   dump.
/// - Fetches: nothing, or the condition's values, in every run.
/// - Cost: nothing in other runs. In a dumped run watched nodes are not fused, and their bytes are written to the page
///   cache on the running thread; from a GPU only the values are copied that the watches of the run select. Watching
///   computes no additional nodes.
/// - Throws: FailedPreconditionError for an unusable root; IoError, also with `skip`, if the root cannot be made;
///   LogicError for invalid options; with `fail` IoError and ResourceExhaustedError (the limit TFDBG_DISK_BYTES_LIMIT,
///   debug/dump/disk_budget.hpp).
/// - Thread: one session.
/// - On several ranks each writes into its own session root, `rank_0`, `rank_1` and so on in the given one, and the
///   devices are `/job:worker/replica:0/task:<rank>/device:...`.
/// - Format: debug/dump/dump_writer.hpp. Differences from TensorFlow: docs/differences.md.
template <class W = debug::WatchAll, class Condition = debug::Always>
class DumpingDebugHook {
  static constexpr bool captures = !std::same_as<Condition, debug::Always>;

 public:
  using probe = debug::DebugProbe<W, debug::DumpPublisher>;
  using handles = Phases<phase::before_run, phase::after_run, phase::on_error>;
  static constexpr auto fetches = Condition::fetches;

  // Not one with defaults: for an unnamed std::optional g++ 12 warns about an uninitialized value.
  // NOLINTNEXTLINE(google-explicit-constructor): inside a decorator's braces
  DumpingDebugHook(std::filesystem::path session_root)
      : DumpingDebugHook(std::move(session_root), DumpingDebugOptions{}) {}
  DumpingDebugHook(std::filesystem::path session_root, debug::WatchFn watch_fn)
      : DumpingDebugHook(std::move(session_root), DumpingDebugOptions{.watch_fn = std::move(watch_fn)}) {}
  DumpingDebugHook(std::filesystem::path session_root, debug::WatchFn watch_fn,
                   std::optional<std::string> thread_name_filter, bool log_usage = true)
      : DumpingDebugHook(std::move(session_root),
                         DumpingDebugOptions{.watch_fn = std::move(watch_fn),
                                             .thread_name_filter = std::move(thread_name_filter),
                                             .log_usage = log_usage}) {}
  DumpingDebugHook(std::filesystem::path session_root, DumpingDebugOptions options, Condition condition = {})
      : session_root_(std::move(session_root)),
        filter_(std::move(options.thread_name_filter)),
        thread_name_(std::move(options.thread_name)),
        condition_(std::move(condition)),
        probe_(debug::DumpPublisher{{.on_failure = options.on_failure,
                                     .keep_runs = options.keep_runs,
                                     .after_the_run = captures,
                                     .report = options.sink,
                                     .budget = options.budget,
                                     .files = options.files}},
               {.watch_fn = std::move(options.watch_fn),
                .device = std::move(options.device),
                .report = options.sink,
                .microseconds = std::move(options.microseconds)}) {}

  /// The nodes are those of W; the value selects the type.
  template <std::same_as<W> Watched>
  DumpingDebugHook(std::filesystem::path session_root, Watched /*watched*/, Condition condition = {})
      : DumpingDebugHook(std::move(session_root), DumpingDebugOptions{}, std::move(condition)) {}
  template <std::same_as<W> Watched>
  DumpingDebugHook(std::filesystem::path session_root, Watched /*watched*/, DumpingDebugOptions options,
                   Condition condition = {})
      : DumpingDebugHook(std::move(session_root), std::move(options), std::move(condition)) {}
  template <std::same_as<Condition> When>
  DumpingDebugHook(std::filesystem::path session_root, When condition)
      : DumpingDebugHook(std::move(session_root), DumpingDebugOptions{}, std::move(condition)) {}

  /// For sessions on several ranks: each has a session root of its own.
  void join_ranks(int rank, int size) { place_ = detail::rank_folder({}, rank, size); }

  /// Number of directories written so far.
  [[nodiscard]] std::int64_t runs() const { return probe_.publisher().runs(); }

  auto before_run(auto& /*run*/) {
    if (!ready_) make_ready();
    due_ = !filter_pattern_ || filter_pattern_->match(thread_name_ ? thread_name_() : debug::thread_name());
    return RunArgs<std::remove_cvref_t<decltype(Condition::fetches)>>{};
  }
  [[nodiscard]] probe* due_probe() { return due_ ? &probe_ : nullptr; }

  void after_run(auto& /*run*/, [[maybe_unused]] const auto& values) {
    if constexpr (captures) {
      if (due_ && condition_(values)) return probe_.publisher().keep();
      probe_.publisher().drop();
    }
  }
  /// The rest of a run that another hook's exception ended, for example of a NanTensor in front of this hook.
  void on_error(auto& /*error*/) {
    if constexpr (captures) probe_.publisher().keep();
  }

 private:
  void make_ready() {
    if (filter_) filter_pattern_.emplace(*filter_);
    probe_.publisher().set_root(debug::open_session_root(place_.empty() ? session_root_ : session_root_ / place_));
    probe_.publisher().reset_budget();
    ready_ = true;
  }

  std::filesystem::path session_root_;
  std::filesystem::path place_;  // of this rank's dumps in it
  std::optional<std::string> filter_;
  std::optional<debug::Regex> filter_pattern_;
  std::function<std::string()> thread_name_;
  Condition condition_;
  probe probe_;
  bool ready_ = false;
  bool due_ = false;
};
template <debug::NodeWatch W, debug::DumpCondition Condition = debug::Always>
DumpingDebugHook(std::filesystem::path, W, Condition = {}) -> DumpingDebugHook<W, Condition>;
template <debug::NodeWatch W, debug::DumpCondition Condition = debug::Always>
DumpingDebugHook(std::filesystem::path, W, DumpingDebugOptions, Condition = {}) -> DumpingDebugHook<W, Condition>;
template <debug::DumpCondition Condition>
DumpingDebugHook(std::filesystem::path, Condition) -> DumpingDebugHook<debug::WatchAll, Condition>;

// Names for programs that use this hook.
using debug::Watch;
using debug::WatchAll;
using debug::WatchOptions;
using debug::when_not_finite;

}  // namespace crochet
