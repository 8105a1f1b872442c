// SPDX-License-Identifier: Apache-2.0
// ServedStream: one stream of events at a server, from its first to its last.
#pragma once

#include <crochet/debug/stream/needs_grpc.hpp>

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <variant>

#include <crochet/proto/debug_service.grpc.pb.h>

#include <crochet/base/clock.hpp>
#include <crochet/base/error.hpp>
#include <crochet/debug/server/breakpoints.hpp>
#include <crochet/debug/server/byte_budget.hpp>
#include <crochet/debug/server/event_assembler.hpp>
#include <crochet/debug/server/listener_limits.hpp>
#include <crochet/debug/server/parsed_message.hpp>
#include <crochet/debug/server/status_of.hpp>
#include <crochet/debug/server/stream_deadlines.hpp>
#include <crochet/debug/server/stream_sink.hpp>
#include <crochet/debug/server/watch_table.hpp>

namespace crochet::debug {

/// What the streams of a server share. Thread-safe, and outlives them.
struct ListenerState {
  const ListenerLimits limits;
  const ServerSink sink;
  WatchTable& watches;
  Breakpoints& breakpoints;
  const Clock clock;  ///< seconds since a fixed point in time
  ByteBudget pending{limits.pending_bytes}, parsing{limits.messages_memory};
  StreamDeadlines deadlines{limits.idle_seconds, clock};
};

/// Serves one stream of events, on one thread.
class ServedStream {
 public:
  using Stream = grpc::ServerReaderWriter<proto::EventReply, grpc::ByteBuffer>;

  ServedStream(ListenerState& server, grpc::ServerContext& context, Stream& stream)
      : server_(server),
        context_(context),
        stream_(stream),
        assembler_(server.limits.stream, server.pending, [this] { return server_.clock() - held_seconds_; }),
        id_(server.deadlines.open([&context] { context.TryCancel(); })) {}

  /// Takes all events. Returns the status of the stream; sink->end() was called.
  grpc::Status serve() {
    std::unique_ptr<StreamSink> sink;
    grpc::Status status = status_of([&] {
      sink = server_.sink.open(context_.peer());
      take_all(*sink);
    });
    if (server_.deadlines.close(id_)) {
      status = {grpc::StatusCode::CANCELLED, "crochet: nothing came on the debug stream for too long"};
    }
    if (sink) sink->end({status.error_message(), assembler_.bytes(), assembler_.incomplete()});
    return status;
  }

 private:
  void take_all(StreamSink& sink) {
    grpc::ByteBuffer buffer;
    while (stream_.Read(&buffer)) {
      server_.deadlines.heard(id_);
      ParsedMessage<proto::Event> parsed(buffer, server_.limits, server_.parsing);
      buffer.Clear();
      Received received = assembler_.add(std::move(parsed.message));
      if (std::visit([&](auto& what) { return take(sink, what); }, received)) reply();
    }
    if (was_cancelled()) {
      throw CancelledError("crochet: the debug stream broke off: its sender is gone, or a message was far too large");
    }
  }
  /// gRPC reports the end of the input shortly before a cancellation. A client that ended normally waits meanwhile.
  [[nodiscard]] bool was_cancelled() const {
    for (int i = 0; i < 4; ++i) {
      if (context_.IsCancelled()) return true;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return context_.IsCancelled();
  }
  // These return true if the sender waits for a reply.
  bool take(StreamSink&, std::monostate) { return false; }
  bool take(StreamSink& sink, ReceivedGraph& graph) {
    sink.graph(std::move(graph));
    return true;
  }
  bool take(StreamSink& sink, ReceivedMetadata& metadata) {
    sink.metadata(metadata);
    return true;
  }
  bool take(StreamSink& sink, ReceivedTensor& tensor) {
    sink.tensor(tensor);
    const bool waits = sent_.waits_at(tensor.key);
    if (waits && server_.watches.is_breakpoint(tensor.key)) hold(sink, tensor.key);
    return waits;
  }
  void hold(StreamSink& sink, const WatchKey& key) {
    if (server_.limits.hold_seconds <= 0) return;
    const double began = server_.clock();
    server_.deadlines.hold(id_, true);
    Breakpoints::Hold hold(server_.breakpoints);
    sink.held(key);
    hold.wait(server_.limits.hold_seconds, [this] { return context_.IsCancelled(); });
    server_.deadlines.hold(id_, false);
    held_seconds_ += server_.clock() - began;
  }
  void reply() { stream_.Write(server_.watches.reply(sent_)); }

  ListenerState& server_;
  grpc::ServerContext& context_;
  Stream& stream_;
  double held_seconds_ = 0;
  EventAssembler assembler_;
  StreamDeadlines::Id id_;
  WatchTable::SentStates sent_;
};

}  // namespace crochet::debug
