// SPDX-License-Identifier: Apache-2.0
// EventListener: the gRPC service of a debug server, `tensorflow.EventListener`, with limits for all input.
#pragma once

#include <crochet/debug/stream/needs_grpc.hpp>

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include <crochet/proto/debug_service.grpc.pb.h>  // and with it what generated code uses of gRPC

#include <crochet/base/clock.hpp>
#include <crochet/base/error.hpp>
#include <crochet/debug/event/parsed_size.hpp>
#include <crochet/debug/server/breakpoints.hpp>
#include <crochet/debug/server/byte_budget.hpp>
#include <crochet/debug/server/event_assembler.hpp>
#include <crochet/debug/server/stream_deadlines.hpp>
#include <crochet/debug/server/stream_limits.hpp>
#include <crochet/debug/server/stream_sink.hpp>
#include <crochet/debug/server/watch_table.hpp>
#include <crochet/debug/stream/token_proof.hpp>

namespace crochet::debug {

/// The limits of a server, per client and in total.
struct ListenerLimits {
  StreamLimits stream{};
  std::size_t streams = 16;                                ///< concurrent streams; further ones are refused
  std::uint64_t pending_bytes = std::uint64_t{4} << 30;    ///< memory for incomplete tensors and graphs of all streams
  std::size_t message_bytes = std::size_t{16} << 20;       ///< one message; gRPC's own limit must be higher
  std::uint64_t message_memory = std::uint64_t{64} << 20;  ///< memory of one parsed message
  std::uint64_t messages_memory = std::uint64_t{512} << 20;  ///< memory of all messages being parsed
  double idle_seconds = 600;                                 ///< maximum time between two events of a stream
  double hold_seconds = 600;  ///< maximum time at a breakpoint; 0: breakpoints do not hold streams
  std::string token{};        ///< clients have to prove that they have it; empty: no proof needed
};

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
      : limits_(std::move(limits)),
        sink_(std::move(sink)),
        watches_(watches),
        breakpoints_(breakpoints),
        clock_(std::move(clock)),
        budget_(limits_.pending_bytes),
        parsing_(limits_.messages_memory),
        token_(limits_.token),
        deadlines_(limits_.idle_seconds, clock_) {
    add_methods();
  }

  /// Ends idle streams and returns their number. Call it periodically, from any thread.
  std::size_t end_idle_streams() { return deadlines_.check(); }
  [[nodiscard]] std::size_t open_streams() const { return open_; }
  /// Memory of the incomplete tensors and graphs of all streams.
  [[nodiscard]] std::uint64_t pending_bytes() const { return budget_.used(); }

 private:
  using Stream = grpc::ServerReaderWriter<proto::EventReply, grpc::ByteBuffer>;

  /// Registers the methods as generated code does, but with messages as bytes. Messages are checked before they are
  /// parsed, and an unreadable message is distinguished from the end of the stream. gRPC has no public way to receive
  /// bytes in a synchronous service; these types are the ones that its generated code uses.
  void add_methods() {
    using grpc::internal::RpcMethod;
    using Method = grpc::internal::RpcServiceMethod;
    AddMethod(new Method(send_events_method, RpcMethod::BIDI_STREAMING,
                         new grpc::internal::BidiStreamingHandler<EventListener, grpc::ByteBuffer, proto::EventReply>(
                             [](EventListener* self, grpc::ServerContext* context, Stream* stream) {
                               return self->send_events(*context, *stream);
                             },
                             this)));
    add_unary<proto::CallTraceback>(send_tracebacks_method, sink_.traceback);
    add_unary<proto::DebuggedSourceFiles>(send_source_files_method, sink_.sources);
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
      return attempt([&] {
        grpc::ByteBuffer buffer = *bytes;
        take(Parsed<Request>(*self, buffer).message);
      });
    };
    AddMethod(
        new grpc::internal::RpcServiceMethod(path, grpc::internal::RpcMethod::NORMAL_RPC, new Handler(call, this)));
  }

  /// A parsed message, and the memory reserved for it.
  template <class Message>
  struct Parsed {
    Parsed(EventListener& server, grpc::ByteBuffer& buffer) : memory(server.parsing_) {
      const ListenerLimits& limits = server.limits_;
      require_at_most(buffer.Length(), limits.message_bytes, "bytes in one message");
      reserve(buffer, limits);
      grpc::ProtoBufferReader reader(&buffer);
      if (!reader.status().ok() || !message.ParseFromZeroCopyStream(&reader)) {
        stream_is_wrong("a message is no " + Message::descriptor()->name());
      }
    }
    void reserve(grpc::ByteBuffer& buffer, const ListenerLimits& limits) {
      grpc::ProtoBufferReader reader(&buffer);
      std::uint64_t bytes = 0;
      try {
        if (!reader.status().ok()) stream_is_wrong("a message cannot be read");
        bytes = parsed_size(*Message::descriptor(), reader, buffer.Length(), limits.message_memory);
      } catch (const DataLossError&) {
        stream_is_wrong("a message is no " + Message::descriptor()->name());
      } catch (const ResourceExhaustedError&) {
        stream_is_over_limit("bytes of memory for one message", limits.message_memory);
      }
      if (!memory.take(bytes)) {
        stream_is_over_limit("bytes of memory, with the messages of other streams", limits.messages_memory);
      }
    }
    BytesTaken memory;  // declared before the message: released after it
    Message message;
  };

  /// Runs `act` and converts its exceptions to a status.
  template <class Act>
  static grpc::Status attempt(Act act) {
    try {
      act();
      return grpc::Status::OK;
    } catch (const DataLossError& error) {
      return {grpc::StatusCode::INVALID_ARGUMENT, error.what()};
    } catch (const ResourceExhaustedError& error) {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED, error.what()};
    } catch (const DeadlineExceededError& error) {
      return {grpc::StatusCode::DEADLINE_EXCEEDED, error.what()};
    } catch (const CancelledError& error) {
      return {grpc::StatusCode::CANCELLED, error.what()};
    } catch (const std::exception& error) {
      return {grpc::StatusCode::INTERNAL, error.what()};
    }
  }

  grpc::Status refuse(grpc::ServerContext& context, grpc::StatusCode code, const std::string& why) {
    if (sink_.refused) sink_.refused(why, context.peer());
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

  grpc::Status send_events(grpc::ServerContext& context, Stream& stream) {
    if (grpc::Status allowed = authorize(context, send_events_method); !allowed.ok()) return allowed;
    const Open open(open_);
    if (open.number > limits_.streams) {
      return refuse(context, grpc::StatusCode::RESOURCE_EXHAUSTED,
                    "crochet: this debug server takes " + std::to_string(limits_.streams) + " streams at a time");
    }
    stream.SendInitialMetadata();
    return Run(*this, context, stream).serve();
  }

  /// Serves one stream.
  class Run {
   public:
    Run(EventListener& server, grpc::ServerContext& context, Stream& stream)
        : server_(server),
          context_(context),
          stream_(stream),
          assembler_(server.limits_.stream, server.budget_, [this] { return server_.clock_() - held_seconds_; }),
          id_(server.deadlines_.open([&context] { context.TryCancel(); })) {}

    grpc::Status serve() {
      std::unique_ptr<StreamSink> sink;
      grpc::Status status = attempt([&] {
        sink = server_.sink_.open(context_.peer());
        take_all(*sink);
      });
      if (server_.deadlines_.close(id_)) {
        status = {grpc::StatusCode::CANCELLED, "crochet: nothing came on the debug stream for too long"};
      }
      if (sink) sink->end({status.error_message(), assembler_.bytes(), assembler_.incomplete()});
      return status;
    }

   private:
    void take_all(StreamSink& sink) {
      grpc::ByteBuffer buffer;
      while (stream_.Read(&buffer)) {
        server_.deadlines_.heard(id_);
        Parsed<proto::Event> parsed(server_, buffer);
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
      const bool waits = server_.watches_.tensor_came(tensor.key);
      if (waits && server_.watches_.is_breakpoint(tensor.key)) hold(sink, tensor.key);
      return waits;
    }
    void hold(StreamSink& sink, const WatchKey& key) {
      if (server_.limits_.hold_seconds <= 0) return;
      const double began = server_.clock_();
      server_.deadlines_.hold(id_, true);
      Breakpoints::Hold hold(server_.breakpoints_);
      sink.held(key);
      hold.wait(server_.limits_.hold_seconds, [this] { return context_.IsCancelled(); });
      server_.deadlines_.hold(id_, false);
      held_seconds_ += server_.clock_() - began;
    }
    void reply() { stream_.Write(server_.watches_.reply(heard_)); }

    EventListener& server_;
    grpc::ServerContext& context_;
    Stream& stream_;
    double held_seconds_ = 0;
    EventAssembler assembler_;
    StreamDeadlines::Id id_;
    WatchTable::Version heard_ = 0;
  };

  const ListenerLimits limits_;
  const ServerSink sink_;
  WatchTable& watches_;
  Breakpoints& breakpoints_;
  const Clock clock_;
  ByteBudget budget_, parsing_;
  TokenServer token_;
  StreamDeadlines deadlines_;
  std::atomic<std::size_t> open_{0};
};

}  // namespace crochet::debug
