// SPDX-License-Identifier: Apache-2.0
// GrpcDebugHook: streams the tensors of a run, node by node, to debug servers. Not part of hooks.hpp: it needs
// crochet::debug.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <crochet/debug/probe/debug_probe.hpp>
#include <crochet/debug/probe/source_line.hpp>
#include <crochet/debug/probe/thread_name.hpp>
#include <crochet/debug/stream/stream_publisher.hpp>
#include <crochet/debug/stream/traceback_sender.hpp>
#include <crochet/debug/watch/regex.hpp>
#include <crochet/debug/watch/watch.hpp>
#include <crochet/debug/watch/watch_fn.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/runs_on.hpp>

namespace crochet {

using debug::Watch;
using debug::WatchAll;
using debug::WatchOptions;

/// Options of a GrpcDebugHook.
struct GrpcDebugOptions {
  debug::WatchFn watch_fn{};                        ///< watched nodes and their debug operations
  std::optional<std::string> thread_name_filter{};  ///< a pattern
  bool log_usage = true;                            ///< has no effect
  debug::EventStreamOptions stream{};               ///< limits, token, handling of failures
  std::string device{};                             ///< the device name of tensors and graph; empty: the run's
  std::function<std::int64_t()> microseconds{};     ///< since 1970, UTC
  std::function<std::string()> thread_name{};
};

/// Streams the tensors of a run to servers of TensorFlow's EventListener service (TensorFlow's grpc_debug_server,
/// crochet-debugd): `EveryN<100, GrpcDebugHook<>>{{"localhost:6064"}}`,
/// `GrpcDebugHook<debug::Watch<"dense.*">>{{"grpc://localhost:6064", "unix:/run/debug.sock"}}`.
///   W                   -  WatchAll  the watched nodes, selected at compile time; the other nodes stay fused
///   addresses           -  -         one or several of `host:port`, with or without `grpc://` and a path, or
///                                    `unix:/path`. A text is an address of this machine; for others TlsServer or
///                                    InsecureRemote
///   watch_fn            -  none      WatchOptions, or a function `(fetches, feeds)` that returns WatchOptions or their
///                                    tuple, called before each run; none: everything, with DebugIdentity
///   thread_name_filter  -  none      a pattern: only runs of threads with a matching name (of the operating system)
///   log_usage           -  true      no effect, for compatibility with TensorFlow
///   stream                           debug/stream/event_stream_options.hpp: times, memory limits, token
/// With gated operations, for example `DebugIdentity(gated_grpc=true)`, the server selects tensors and may change its
/// selection between runs. The selection received when a tensor is complete applies.
/// - Fires: around every admitted run; EveryN and the other decorators select fewer. A failed run leaves a partial
///   stream. The end of the session, also by an error, waits up to `stream.close_seconds` for the queue; a recovery
///   does not.
/// - Fetches: nothing.
/// - Threads: one for each address, which alone waits for its server. The run copies tensors into a bounded queue; what
///   does not fit is dropped and counted.
/// - Cost: nothing in other runs, nor in those of which no server receives tensors. In a streamed run watched nodes are
///   not fused, and their bytes are copied.
/// - Throws: LogicError for invalid addresses and options; with OnStreamFailure::fail IoError from the next run after a
///   failure, or from the session's end.
/// - A child process of `fork` streams nothing.
/// - Differences from TensorFlow: docs/differences.md.
template <class W = debug::WatchAll>
class GrpcDebugHook {
 public:
  static constexpr auto runs_on = RunsOn::chief;
  using probe = debug::DebugProbe<W, debug::StreamPublisher>;
  using handles = Phases<phase::before_run, phase::end, phase::on_error>;

  // Not explicit, for the `{{address}}` of a decorator.
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
  /// Waits up to `stream.close_seconds`, for all servers together, until the queues are empty.
  void end(auto& /*session*/) { probe_.publisher().end(); }
  /// Here and not only in the destructor: after an uncaught exception no destructor runs.
  void on_error(auto& /*error*/) { probe_.publisher().end(); }

  /// Waits until every tensor is delivered or dropped; false if that takes longer than `seconds`.
  bool flush(double seconds) { return probe_.publisher().flush(seconds); }
  /// Statistics of the server at this index of the list.
  [[nodiscard]] debug::EventStreamStatistics statistics(std::size_t server = 0) const {
    return probe_.publisher().statistics(server);
  }

 private:
  std::function<std::string()> thread_name_;
  std::optional<debug::Regex> filter_;
  probe probe_;
  bool due_ = false;
};

/// Options of a TensorBoardDebugHook.
struct TensorBoardDebugOptions {
  std::optional<std::string> thread_name_filter{};
  bool send_traceback_and_source_code = true;
  bool log_usage = true;                              ///< has no effect
  std::vector<std::filesystem::path> source_files{};  ///< sent in addition to the file that constructs the hook
  debug::EventStreamOptions stream{};
};

/// The hook for TensorBoard's debugger (in TensorBoard up to 2.3): a GrpcDebugHook that watches everything, gated, so
/// that the server receives the tensors that it selects.
/// - Before the first run, and when a graph has more nodes than the last one, each server receives the location of the
///   run call and the source text of each file. The server's thread sends them, so the run does not wait. They are sent
///   again after a failure of the server.
/// - Paths are absolute. Relative ones, as with ccache, are resolved when the hook is constructed
///   (debug/probe/source_path.hpp). A file that is not found is sent as a name without text.
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
            options.send_traceback_and_source_code ? debug::TracebackSender{here, options.source_files}
                                                   : debug::StreamPublisher::BeforeRun{}) {}
};

}  // namespace crochet
