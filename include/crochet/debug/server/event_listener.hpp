// SPDX-License-Identifier: Apache-2.0
// EventListener: the gRPC service of a debug server, `tensorflow.EventListener`, with limits for all input.
#pragma once

#include <crochet/debug/stream/needs_grpc.hpp>

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/proto/debug_service.grpc.pb.h>  // and with it what generated code uses of gRPC

#include <crochet/base/clock.hpp>
#include <crochet/debug/server/breakpoints.hpp>
#include <crochet/debug/server/listener_limits.hpp>
#include <crochet/debug/server/parsed_message.hpp>
#include <crochet/debug/server/served_stream.hpp>
#include <crochet/debug/server/status_of.hpp>
#include <crochet/debug/server/stream_sink.hpp>
#include <crochet/debug/server/watch_table.hpp>
#include <crochet/debug/stream/token_proof.hpp>

namespace crochet::debug {

/// Receives streams of events, replies where the sender waits (after a graph, the metadata, and a tensor at a
/// breakpoint), and passes complete items to a sink. An error of a peer ends only its own stream, with a status and the
/// reason:
///   INVALID_ARGUMENT     a violation of the protocol
///   RESOURCE_EXHAUSTED   a limit is exceeded, or there are too many streams
///   DEADLINE_EXCEEDED    the stream takes too long
///   CANCELLED            the stream was idle for too long, or was interrupted
///   UNAUTHENTICATED      the client did not prove that it has the token (token_proof.hpp)
///   INTERNAL             the sink failed
/// A message is checked before it is parsed: its size, its memory after parsing, and the total memory of all messages
/// that are being parsed. A server with a token proves on each call that it has it. One thread for each stream, from
/// gRPC's pool.
class EventListener final : public grpc::Service {
 public:
  /// `watches`, `breakpoints` and everything that `sink` refers to must outlive the service. `clock`: seconds since a
  /// fixed point in time.
  EventListener(ListenerLimits limits, ServerSink sink, WatchTable& watches, Breakpoints& breakpoints, Clock clock = {})
      : state_{std::move(limits), std::move(sink), watches, breakpoints, std::move(clock)},
        token_(state_.limits.token) {
    add_methods();
  }

  /// Ends idle streams and returns their number. Call it periodically, from any thread.
  std::size_t end_idle_streams() { return state_.deadlines.check(); }
  [[nodiscard]] std::size_t open_streams() const { return open_; }
  /// Memory of the incomplete tensors and graphs of all streams.
  [[nodiscard]] std::uint64_t pending_bytes() const { return state_.pending.used(); }

 private:
  /// Registers the methods as generated code does, but with messages as bytes. Messages are checked before they are
  /// parsed, and an unreadable message is distinguished from the end of the stream. gRPC has no public way to receive
  /// bytes in a synchronous service; these types are the ones that its generated code uses.
  void add_methods() {
    using grpc::internal::RpcMethod;
    using Method = grpc::internal::RpcServiceMethod;
    AddMethod(new Method(send_events_method, RpcMethod::BIDI_STREAMING,
                         new grpc::internal::BidiStreamingHandler<EventListener, grpc::ByteBuffer, proto::EventReply>(
                             [](EventListener* self, grpc::ServerContext* context, ServedStream::Stream* stream) {
                               return self->send_events(*context, *stream);
                             },
                             this)));
    add_unary<proto::CallTraceback>(send_tracebacks_method, state_.sink.traceback);
    add_unary<proto::DebuggedSourceFiles>(send_source_files_method, state_.sink.sources);
  }
  /// `take` handles the request; it may be empty.
  template <class Request>
  void add_unary(const char* path, const std::function<void(const Request&)>& take) {
    using Handler = grpc::internal::RpcMethodHandler<EventListener, grpc::ByteBuffer, proto::EventReply>;
    const auto call = [path, &take](EventListener* self, grpc::ServerContext* context, const grpc::ByteBuffer* bytes,
                                    proto::EventReply*) {
      if (self->answer_hello(*context)) return grpc::Status::OK;
      const grpc::Status allowed = self->authorize(*context, path);
      if (!allowed.ok() || !take) return allowed;
      return status_of([&] {
        grpc::ByteBuffer buffer = *bytes;
        take(ParsedMessage<Request>(buffer, self->state_.limits, self->state_.parsing).message);
      });
    };
    AddMethod(
        new grpc::internal::RpcServiceMethod(path, grpc::internal::RpcMethod::NORMAL_RPC, new Handler(call, this)));
  }

  grpc::Status refuse(grpc::ServerContext& context, grpc::StatusCode code, const std::string& why) {
    if (state_.sink.refused) state_.sink.refused(why, context.peer());
    return {code, why};
  }
  /// The client's metadata under this key; empty if there are none.
  static std::string_view metadata_of(const grpc::ServerContext& context, const char* key) {
    const auto found = context.client_metadata().find(key);
    return found == context.client_metadata().end() ? std::string_view{}
                                                    : std::string_view(found->second.data(), found->second.size());
  }
  /// Handles a handshake call. Returns true if the call was one. A server without a token sends no challenge.
  bool answer_hello(grpc::ServerContext& context) {
    const std::string_view hello = metadata_of(context, token_hello_key);
    if (hello.empty()) return false;
    if (const std::string answer = token_.challenge(hello); !answer.empty()) {
      context.AddInitialMetadata(token_challenge_key, answer);
    }
    return true;
  }
  /// Checks the client's proof. If it is valid, adds the server's proof to the initial metadata.
  grpc::Status authorize(grpc::ServerContext& context, const char* method) {
    if (!token_.has_token()) return grpc::Status::OK;
    if (const auto proof = token_.check(method, metadata_of(context, authorization_key))) {
      context.AddInitialMetadata(token_proof_key, *proof);
      return grpc::Status::OK;
    }
    return refuse(
        context, grpc::StatusCode::UNAUTHENTICATED,
        "crochet: this debug server takes only clients that prove that they have its token; this one did not");
  }

  // ---- a stream
  struct Open {
    explicit Open(std::atomic<std::size_t>& count) : count_(count), number(++count) {}
    ~Open() { --count_; }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    std::atomic<std::size_t>& count_;
    const std::size_t number;
  };

  grpc::Status send_events(grpc::ServerContext& context, ServedStream::Stream& stream) {
    if (grpc::Status allowed = authorize(context, send_events_method); !allowed.ok()) return allowed;
    const Open open(open_);
    if (open.number > state_.limits.streams) {
      return refuse(context, grpc::StatusCode::RESOURCE_EXHAUSTED,
                    "crochet: this debug server takes " + std::to_string(state_.limits.streams) + " streams at a time");
    }
    stream.SendInitialMetadata();
    return ServedStream(state_, context, stream).serve();
  }

  ListenerState state_;
  TokenServer token_;
  std::atomic<std::size_t> open_{0};
};

}  // namespace crochet::debug
