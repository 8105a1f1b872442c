// SPDX-License-Identifier: Apache-2.0
// EventListener: the service of a debug server, `tensorflow.EventListener`, bounded in all that it takes.
#pragma once

#include <crochet/needs_grpc.hpp>

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include <crochet/proto/debug_service.grpc.pb.h>  // and with it what generated code uses of gRPC

#include <crochet/debug/breakpoints.hpp>
#include <crochet/debug/byte_budget.hpp>
#include <crochet/debug/event_assembler.hpp>
#include <crochet/debug/stream_deadlines.hpp>
#include <crochet/debug/stream_limits.hpp>
#include <crochet/debug/stream_sink.hpp>
#include <crochet/debug/watch_table.hpp>
#include <crochet/error.hpp>

namespace crochet::debug {

/// What a server gives to all its clients together, and to each.
struct ListenerLimits {
  StreamLimits stream{};
  std::size_t streams = 16;                              ///< open at one time; the next one is refused
  std::uint64_t pending_bytes = std::uint64_t{4} << 30;  ///< memory for the incomplete of all streams
  std::size_t message_bytes = std::size_t{16} << 20;  ///< of one message; tell gRPC of more, so that this can be said
  double idle_seconds = 600;                          ///< on a stream, from one event to the next
  double hold_seconds = 600;                          ///< at a breakpoint; 0: it does not hold
  std::string token{};                                ///< who does not send it is refused; empty: nobody is asked
};

/// Is it the same text? Takes as long for each text of that length.
inline bool same_secret(std::string_view given, std::string_view secret) {
  unsigned char different = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    different = static_cast<unsigned char>(different | (given[i] ^ secret[secret.empty() ? 0 : i % secret.size()]));
  }
  return different == 0;
}

/// Takes streams of events, answers where their senders wait for it (after a graph, the description of a run, and a
/// tensor of a breakpoint), and gives what is complete to a sink. What a peer does wrong ends its own stream, with a
/// status that says why, and nothing else:
///   INVALID_ARGUMENT     it does not speak the protocol
///   RESOURCE_EXHAUSTED   a limit, or too many streams
///   DEADLINE_EXCEEDED    the stream takes too long
///   CANCELLED            nothing came on it for too long
///   UNAUTHENTICATED      the token is missing or wrong: `authorization: Bearer <token>` in the metadata of the call
///   INTERNAL             the sink has failed
/// A server with a token sends it back, as `crochet-control-token`, before its first reply: so a client knows whose
/// replies it obeys. One thread for each stream, from gRPC's pool.
class EventListener final : public grpc::Service {
 public:
  using ClockFunction = EventAssembler::ClockFunction;

  /// `watches`, `breakpoints` and what `sink` refers to are borrowed. `clock`: seconds since some fixed moment.
  EventListener(ListenerLimits limits, ServerSink sink, WatchTable& watches, Breakpoints& breakpoints,
                ClockFunction clock = steady_seconds)
      : limits_(std::move(limits)),
        sink_(std::move(sink)),
        watches_(watches),
        breakpoints_(breakpoints),
        clock_(std::move(clock)),
        budget_(limits_.pending_bytes),
        deadlines_(limits_.idle_seconds, clock_) {
    add_methods();
  }

  /// Ends the streams on which nothing came for too long. To be called now and then, from any thread.
  std::size_t end_idle_streams() { return deadlines_.check(); }
  [[nodiscard]] std::size_t open_streams() const { return open_; }
  /// Memory that the incomplete tensors and graphs of all streams take.
  [[nodiscard]] std::uint64_t pending_bytes() const { return budget_.used(); }

 private:
  using Stream = grpc::ServerReaderWriter<proto::EventReply, grpc::ByteBuffer>;

  static double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  /// As generated code does it, but for the events: these are taken as bytes, because with messages there is no telling
  /// a message that cannot be read from a stream that has ended.
  void add_methods() {
    using grpc::internal::RpcMethod;
    using Method = grpc::internal::RpcServiceMethod;
    using proto::CallTraceback, proto::DebuggedSourceFiles, proto::EventReply;
    AddMethod(new Method("/tensorflow.EventListener/SendEvents", RpcMethod::BIDI_STREAMING,
                         new grpc::internal::BidiStreamingHandler<EventListener, grpc::ByteBuffer, EventReply>(
                             [](EventListener* self, grpc::ServerContext* context, Stream* stream) {
                               return self->send_events(*context, *stream);
                             },
                             this)));
    add_unary<CallTraceback>(
        "/tensorflow.EventListener/SendTracebacks",
        [](EventListener * self) -> auto& { return self->sink_.traceback; });
    add_unary<DebuggedSourceFiles>(
        "/tensorflow.EventListener/SendSourceFiles", [](EventListener * self) -> auto& { return self->sink_.sources; });
  }
  template <class Request, class Which>
  void add_unary(const char* path, Which which) {
    using Handler = grpc::internal::RpcMethodHandler<EventListener, Request, proto::EventReply>;
    const auto call = [which](EventListener* self, grpc::ServerContext* context, const Request* request,
                              proto::EventReply*) {
      const grpc::Status allowed = self->authorize(*context);
      return allowed.ok() ? attempt([&] {
        if (const auto& take = which(self)) take(*request);
      })
                          : allowed;
    };
    AddMethod(
        new grpc::internal::RpcServiceMethod(path, grpc::internal::RpcMethod::NORMAL_RPC, new Handler(call, this)));
  }

  /// The status of what `act` does or throws.
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
  grpc::Status authorize(grpc::ServerContext& context) {
    if (limits_.token.empty()) return grpc::Status::OK;
    const auto found = context.client_metadata().find("authorization");
    const std::string wanted = "Bearer " + limits_.token;
    if (found != context.client_metadata().end() && same_secret({found->second.data(), found->second.size()}, wanted)) {
      return grpc::Status::OK;
    }
    return refuse(context, grpc::StatusCode::UNAUTHENTICATED,
                  "crochet: this debug server wants a token, and that of the caller is missing or wrong");
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
    if (grpc::Status allowed = authorize(context); !allowed.ok()) return allowed;
    const Open open(open_);
    if (open.number > limits_.streams) {
      return refuse(context, grpc::StatusCode::RESOURCE_EXHAUSTED,
                    "crochet: this debug server takes " + std::to_string(limits_.streams) + " streams at a time");
    }
    if (!limits_.token.empty()) context.AddInitialMetadata("crochet-control-token", limits_.token);
    stream.SendInitialMetadata();
    return Run(*this, context, stream).serve();
  }

  /// One stream, from its beginning to its end.
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
        status = {grpc::StatusCode::DEADLINE_EXCEEDED, "crochet: nothing came on the debug stream for too long"};
      }
      if (sink) sink->end({status.error_message(), assembler_.bytes(), assembler_.incomplete()});
      return status;
    }

   private:
    void take_all(StreamSink& sink) {
      grpc::ByteBuffer buffer;
      while (stream_.Read(&buffer)) {
        server_.deadlines_.heard(id_);
        Received received = assembler_.add(parse(buffer));
        buffer.Clear();
        if (std::visit([&](auto& what) { return take(sink, what); }, received)) reply();
      }
      if (was_cancelled()) {
        throw CancelledError("crochet: the debug stream broke off: its sender is gone, or a message was far too large");
      }
    }
    /// gRPC says that nothing more comes, and only a little later why. Those who end well wait for us meanwhile.
    [[nodiscard]] bool was_cancelled() const {
      for (int i = 0; i < 4; ++i) {
        if (context_.IsCancelled()) return true;
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      return context_.IsCancelled();
    }
    proto::Event parse(grpc::ByteBuffer& buffer) const {
      detail::require_at_most(buffer.Length(), server_.limits_.message_bytes, "bytes in one message");
      grpc::ProtoBufferReader reader(&buffer);
      proto::Event event;
      if (!reader.status().ok() || !event.ParseFromZeroCopyStream(&reader)) {
        detail::stream_is_wrong("a message is no Event");
      }
      return event;
    }

    // True: the sender waits for a reply.
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
  const ClockFunction clock_;
  ByteBudget budget_;
  StreamDeadlines deadlines_;
  std::atomic<std::size_t> open_{0};
};

}  // namespace crochet::debug
