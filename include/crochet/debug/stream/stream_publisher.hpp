// SPDX-License-Identifier: Apache-2.0
// StreamPublisher: the events of debugged runs on their way to servers.
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

#include <crochet/debug/ops/debug_op.hpp>
#include <crochet/debug/probe/debug_run.hpp>
#include <crochet/debug/stream/debug_addresses.hpp>
#include <crochet/debug/stream/event_stream.hpp>

namespace crochet::debug {

/// Hands each run to the streams of all servers that take it. A gated operation is evaluated if one of them wants its
/// tensor, and goes to those. Throws what EventStream throws.
class StreamPublisher {
 public:
  /// Called before a run is handed to a stream.
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
  /// A run that its failure left open is ended, so that its servers get what there is of it. All together they have
  /// `close_seconds`, if `end` has not given it to them.
  ~StreamPublisher() {
    if (is_child()) {
      for (Server& server : servers_) static_cast<void>(server.stream.release());
      return;
    }
    close_run();
    within(close_seconds_, [](EventStream& stream, double seconds) { return stream.last_flush(seconds); });
  }

  /// Would any server get the run? To be asked before each. Never in a child that `fork` made: the streams are its
  /// parent's.
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
  /// What the operation that `wants` was asked about last has made.
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
  /// Ends a run that did not get to its end. Throws nothing: all servers get what there is of it.
  void close_run() {
    if (std::exchange(open_, false) && !is_child()) each([](EventStream& stream) { stream.close_run(); });
  }
  /// The last run was seen, or one has failed: gives all servers together `close_seconds` for what is left. Throws
  /// IoError for a failure that no run was there to throw, with OnStreamFailure::fail.
  void end() {
    close_run();
    flush(close_seconds_);
    if (is_child()) return;
    for (Server& server : servers_) server.stream->throw_failure();
  }

  /// Waits until every server has what it was sent, or will not get it; false if that takes longer than `seconds`.
  bool flush(double seconds) {
    return within(seconds, [](EventStream& stream, double left) { return stream.flush(left); });
  }
  /// Of the server at this place in the list.
  [[nodiscard]] EventStreamStatistics statistics(std::size_t server) const {
    return servers_.at(server).stream->statistics();
  }

 private:
  struct Server {
    std::unique_ptr<EventStream> stream;
    bool takes_run = false;
  };
  /// The streams have threads, which `fork` does not copy, and locks, which those may have held.
  [[nodiscard]] bool is_child() const { return ::getpid() != process_; }
  /// `wait(stream, seconds left)` for each stream; they work at the same time, so that they share the seconds. False if
  /// one of them was.
  template <class Wait>
  bool within(double seconds, Wait wait) {
    if (servers_.empty() || is_child()) return true;  // none: it was moved away
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
  std::function<double()> clock_;
  pid_t process_ = ::getpid();
  bool open_ = false, gated_ = false;
};

}  // namespace crochet::debug
