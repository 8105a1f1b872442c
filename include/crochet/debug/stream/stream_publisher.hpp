// SPDX-License-Identifier: Apache-2.0
// StreamPublisher: sends the events of debugged runs to servers.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/debug/event/tensor_event.hpp>
#include <crochet/debug/ops/debug_op.hpp>
#include <crochet/debug/probe/debug_run.hpp>
#include <crochet/debug/stream/debug_addresses.hpp>
#include <crochet/debug/stream/event_stream.hpp>

namespace crochet::debug {

/// Passes each run to the streams of all servers that accept it. A gated operation is evaluated if at least one server
/// has opened its gate, and its tensor goes to those servers. Throws what EventStream throws.
class StreamPublisher {
 public:
  /// Called before a run is passed to a stream.
  using BeforeRun = std::function<void(const DebugRun&, EventStream&)>;

  StreamPublisher(const DebugAddresses& addresses, const EventStreamOptions& options, BeforeRun before_run = {})
      : before_run_(std::move(before_run)), close_seconds_(options.close_seconds), clock_(options.clock) {
    for (const DebugAddress& address : addresses.all()) {
      servers_.push_back({std::make_unique<EventStream>(address, options), false});
      urls_.push_back(address.url());
    }
  }
  StreamPublisher(StreamPublisher&&) = default;
  StreamPublisher& operator=(StreamPublisher&&) = default;
  /// Ends a failed run that is still open, so that its servers receive what there is of it. All servers share
  /// `close_seconds`, unless `end` has used them.
  ~StreamPublisher() {
    if (is_child()) {
      for (Server& server : servers_) static_cast<void>(server.stream.release());
      return;
    }
    close_run();
    within(close_seconds_, [](EventStream& stream, double seconds) { return stream.last_flush(seconds); });
  }

  /// Returns whether any server would accept the run. Call it before each run. Always false in a child process made
  /// with `fork`: the streams belong to the parent.
  bool wants_run() {
    if (is_child()) return false;
    close_run();
    bool any = false;
    for (Server& server : servers_) {
      server.takes_run = server.stream->wants_run();
      any = any || server.takes_run;
    }
    return any;
  }

  [[nodiscard]] const std::vector<std::string>& urls(std::int64_t /*microseconds*/) const { return urls_; }

  void begin_run(const DebugRun& run) {
    open_ = true;
    each([&](EventStream& stream) {
      if (before_run_) before_run_(run, stream);
      stream.begin_run({.metadata = run.metadata,
                        .microseconds = run.microseconds,
                        .combination = run.combination,
                        .graphs = {{run.device, run.graph->serialized()}}});
    });
  }
  bool wants(std::string_view node, std::int32_t slot, const DebugOp& op) {
    gated_ = op.gated_grpc;
    if (!gated_) return true;
    const std::string key = std::string(node) + ":" + std::to_string(slot) + ":" + std::string(op.name());
    bool any = false;
    each([&](const EventStream& stream) { any = any || stream.wants(key, true); });
    return any;
  }
  /// Publishes the result of the operation of the last `wants` call.
  void publish(const DebugEvent& debug_event) {
    const std::string key = watch_key(debug_event);
    each([&](EventStream& stream) {
      if (stream.wants(key, gated_)) stream.publish(debug_event);
    });
  }
  void end_run() {
    close_run();
    each([](EventStream& stream) { stream.throw_failure(); });
  }
  /// Ends a run that failed: the servers receive what there is of it. Does not throw.
  void close_run() {
    if (std::exchange(open_, false) && !is_child()) each([](EventStream& stream) { stream.close_run(); });
  }
  /// Called after the last run, or after a failed one. Gives all servers together `close_seconds` for the rest. With
  /// OnStreamFailure::fail throws IoError for a failure that no run has thrown.
  void end() {
    close_run();
    flush(close_seconds_);
    if (is_child()) return;
    for (Server& server : servers_) server.stream->throw_failure();
  }

  /// Waits until every server has received its events, or delivery has failed; false after `seconds`.
  bool flush(double seconds) {
    return within(seconds, [](EventStream& stream, double left) { return stream.flush(left); });
  }
  /// Statistics of the server at this index of the list.
  [[nodiscard]] EventStreamStatistics statistics(std::size_t server) const {
    return servers_.at(server).stream->statistics();
  }

 private:
  struct Server {
    std::unique_ptr<EventStream> stream;
    bool takes_run = false;
  };
  /// `fork` does not copy the streams' threads, and their locks may be held in the child.
  [[nodiscard]] bool is_child() const { return ::getpid() != process_; }
  /// Calls `wait(stream, seconds left)` for each stream. The streams work in parallel, so they share the time. False if
  /// one of the calls returned false.
  template <class Wait>
  bool within(double seconds, Wait wait) {
    if (servers_.empty() || is_child()) return true;  // empty: moved from
    const double end = clock_() + seconds;
    bool all = true;
    for (Server& server : servers_) all = wait(*server.stream, std::max(end - clock_(), 0.0)) && all;
    return all;
  }
  template <class Act>
  void each(Act&& act) {
    for (Server& server : servers_) {
      if (server.takes_run) act(*server.stream);
    }
  }

  std::vector<Server> servers_;
  std::vector<std::string> urls_;
  BeforeRun before_run_;
  double close_seconds_;
  Clock clock_;
  pid_t process_ = ::getpid();
  bool open_ = false, gated_ = false;
};

}  // namespace crochet::debug
