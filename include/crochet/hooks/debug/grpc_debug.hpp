// SPDX-License-Identifier: Apache-2.0
// GrpcDebugHook: what a run computed, node by node, streamed to debug servers. Not part of hooks.hpp: it needs
// crochet::debug.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <crochet/debug/probe/debug_probe.hpp>
#include <crochet/debug/probe/source_path.hpp>
#include <crochet/debug/probe/thread_name.hpp>
#include <crochet/debug/probe/tracebacks.hpp>
#include <crochet/debug/stream/stream_publisher.hpp>
#include <crochet/debug/watch/regex.hpp>
#include <crochet/debug/watch/watch.hpp>
#include <crochet/debug/watch/watch_fn.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

using debug::Watch;
using debug::WatchAll;
using debug::WatchOptions;

/// What a GrpcDebugHook can be given besides its addresses.
struct GrpcDebugOptions {
  debug::WatchFn watch_fn{};                        ///< what is watched, with which operations
  std::optional<std::string> thread_name_filter{};  ///< a pattern
  bool log_usage = true;                            ///< has no effect
  debug::EventStreamOptions stream{};               ///< limits, token, what a failure means
  std::string device{io::local_cpu};                ///< under which name tensors and graph are sent
  std::function<std::int64_t()> microseconds{};     ///< since 1970, UTC
  std::function<std::string()> thread_name{};
};

/// Streams the tensors of each run that it sees to servers that speak TensorFlow's EventListener service (the
/// original's grpc_debug_server, crochet-debugd): `EveryN<100, GrpcDebugHook<>>{{"localhost:6064"}}`,
/// `GrpcDebugHook<debug::Watch<"dense.*">>{{"grpc://localhost:6064", "unix:/run/debug.sock"}}`.
///   W                   -  WatchAll  which nodes are watched at all: chosen by the compiler, the others stay fused
///   addresses           -  -         one or several, `host:port`, with or without `grpc://` and a path, or
///   `unix:/path`.
///                                    A text names this machine; others are TlsServer or InsecureRemote
///   watch_fn            -  none      WatchOptions, or a function `(fetches, feeds)` that returns WatchOptions or their
///                                    tuple, called before each run; none: everything, with DebugIdentity
///   thread_name_filter  -  none      a pattern: only runs by threads with such a name (as the system has it)
///   log_usage           -  true      accepted for the original's sake
///   stream                           debug/stream/event_stream_options.hpp: times, limits of memory, token
/// With `DebugIdentity(gated_grpc=true)` and its like a server says which tensors it wants, and may change its mind
/// between runs: what has been answered by the time a tensor is complete decides.
/// Fires: around every run that it sees; see less with EveryN and its kin. A run that fails leaves what it had reached.
/// The end of the session, good or bad, waits up to `stream.close_seconds` for what is queued; a recovery does not.
/// Fetches: nothing. Threads: one for each address, which alone waits for its server; the run copies tensors into a
/// bounded queue and drops, and counts, what has no room. Cost: nothing in runs that it does not see, nor in those that
/// no server would get; in others nodes that are watched are not fused, and the bytes of each are copied.
/// Throws LogicError for addresses and options that cannot be used, and with OnStreamFailure::fail IoError from the
/// next run after a failure, or from the session's end. A child that `fork` makes streams nothing. Not in the original:
/// see docs/differences.md.
template <class W = debug::WatchAll>
class GrpcDebugHook {
 public:
  using probe = debug::DebugProbe<W, debug::StreamPublisher>;
  using handles = Phases<phase::before_run, phase::end, phase::on_error>;

  // Not explicit: a decorator is given `{{address}}`.
  GrpcDebugHook(const debug::DebugAddresses& addresses, debug::WatchFn watch_fn = {},  // NOLINT
                std::optional<std::string> thread_name_filter = {}, bool log_usage = true)
      : GrpcDebugHook(addresses, GrpcDebugOptions{.watch_fn = std::move(watch_fn),
                                                  .thread_name_filter = std::move(thread_name_filter),
                                                  .log_usage = log_usage}) {}
  GrpcDebugHook(const debug::DebugAddresses& addresses, GrpcDebugOptions options,
                debug::StreamPublisher::BeforeRun before_run = {})
      : thread_name_(std::move(options.thread_name)),
        probe_(debug::StreamPublisher(addresses, options.stream, std::move(before_run)),
               {.watch_fn = std::move(options.watch_fn),
                .device = std::move(options.device),
                .report = options.stream.report,
                .microseconds = std::move(options.microseconds)}) {
    if (options.thread_name_filter) filter_.emplace(*options.thread_name_filter);
  }

  void before_run(auto& /*run*/) {
    due_ = !filter_ || filter_->match(thread_name_ ? thread_name_() : debug::thread_name());
  }
  [[nodiscard]] probe* due_probe() { return due_ && probe_.publisher().wants_run() ? &probe_ : nullptr; }
  /// Gives the servers, all together, `stream.close_seconds` to take what is left.
  void end(auto& /*session*/) { probe_.publisher().end(); }
  /// The same, here and not only in the destructor: where nobody catches the error, nothing is destroyed.
  void on_error(auto& /*error*/) { probe_.publisher().end(); }

  /// Waits until every server has what it was sent, or will not get it; false if that takes longer than `seconds`.
  bool flush(double seconds) { return probe_.publisher().flush(seconds); }
  /// Of the server at this place in the list.
  [[nodiscard]] debug::EventStreamStatistics statistics(std::size_t server = 0) const {
    return probe_.publisher().statistics(server);
  }

 private:
  std::function<std::string()> thread_name_;
  std::optional<debug::Regex> filter_;
  probe probe_;
  bool due_ = false;
};

/// What a TensorBoardDebugHook can be given besides its addresses.
struct TensorBoardDebugOptions {
  std::optional<std::string> thread_name_filter{};
  bool send_traceback_and_source_code = true;
  bool log_usage = true;                              ///< has no effect
  std::vector<std::filesystem::path> source_files{};  ///< sent besides the file in which the hook is made
  debug::EventStreamOptions stream{};
};

/// The hook for TensorBoard's debugger (in TensorBoard up to 2.3): a GrpcDebugHook that watches everything, gated, so
/// that the server gets what it asks for. Before the first run, and when a graph has more nodes than the last one, each
/// server is told where the run was asked for and, file by file, the source text; by its thread, so that nothing waits.
/// Sent again to a server that failed meanwhile. Paths are absolute; relative ones, as ccache gives the compiler, are
/// looked for when the hook is made (debug/probe/source_path.hpp). A file that is not found is named, without its text.
template <class W = debug::WatchAll>
class TensorBoardDebugHook : public GrpcDebugHook<W> {
 public:
  TensorBoardDebugHook(const debug::DebugAddresses& addresses,  // NOLINT(google-explicit-constructor)
                       std::optional<std::string> thread_name_filter = {}, bool send_traceback_and_source_code = true,
                       bool log_usage = true, const debug::SourceLine& here = debug::SourceLine::current())
      : TensorBoardDebugHook(addresses,
                             TensorBoardDebugOptions{.thread_name_filter = std::move(thread_name_filter),
                                                     .send_traceback_and_source_code = send_traceback_and_source_code,
                                                     .log_usage = log_usage},
                             here) {}
  TensorBoardDebugHook(const debug::DebugAddresses& addresses, TensorBoardDebugOptions options,
                       const debug::SourceLine& here = debug::SourceLine::current())
      : GrpcDebugHook<W>(
            addresses,
            GrpcDebugOptions{.watch_fn = debug::WatchOptions{.debug_ops = {"DebugIdentity(gated_grpc=true)"}},
                             .thread_name_filter = std::move(options.thread_name_filter),
                             .stream = options.stream},
            options.send_traceback_and_source_code ? Teller{here, options.source_files}
                                                   : debug::StreamPublisher::BeforeRun{}) {}

 private:
  /// Tells each server once what it should know of a graph.
  class Teller {
   public:
    Teller(const debug::SourceLine& here, const std::vector<std::filesystem::path>& more)
        : here_{debug::source_path(here.file), here.function, here.line}, sources_{here_.file} {
      for (const std::filesystem::path& path : more) sources_.push_back(debug::source_path(path));
    }

    void operator()(const debug::DebugRun& run, debug::EventStream& stream) {
      Told& told = told_[stream.address().url()];
      const std::uint64_t failures = stream.statistics().failures;
      const bool again = failures != told.failures;
      if (run.combination == told.combination && !again) return;
      const std::vector<std::string> nodes = debug::graph_nodes(run);
      const bool news = again || nodes.size() > told.nodes;
      told = {run.combination, failures, nodes.size()};
      if (!news) return;
      stream.tell(debug::call_traceback(run, nodes, here_));
      for (const std::filesystem::path& path : sources_) stream.tell(debug::source_file(path));
    }

   private:
    struct Told {
      std::uint64_t combination = 0, failures = 0;
      std::size_t nodes = 0;
    };

    debug::SourceLine here_;
    std::vector<std::filesystem::path> sources_;
    std::map<std::string, Told> told_;
  };
};

}  // namespace crochet
