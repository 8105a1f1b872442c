// SPDX-License-Identifier: Apache-2.0
// EventSender: the client side of the debug stream protocol, for one server.
#pragma once

#include <crochet/debug/stream/needs_grpc.hpp>

#include <crochet/proto/debug_service.grpc.pb.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <crochet/debug/event/graph_event.hpp>
#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/stream/debug_address.hpp>
#include <crochet/debug/stream/debug_channel.hpp>
#include <crochet/debug/stream/debug_connection.hpp>
#include <crochet/debug/stream/event_call.hpp>
#include <crochet/debug/stream/event_stream_options.hpp>
#include <crochet/debug/stream/gates.hpp>
#include <crochet/debug/stream/stream_queue.hpp>
#include <crochet/debug/stream/token_proof.hpp>

namespace crochet::debug {

/// Sends runs, one stream for each: graphs in chunks if the server does not have them, the metadata, the tensors, then
/// the end; then it reads the remaining replies. It waits for a reply after the last chunk of a graph, after the
/// metadata and after a tensor at a breakpoint. A failure returns false and ends that stream; `why()` has the reason.
/// Throws UnavailableError if there are no random numbers for a token. One thread at a time; calls block for as long as
/// the options allow.
class EventSender {
 public:
  EventSender(DebugAddress address, const EventStreamOptions& options, std::shared_ptr<Gates> gates,
              const std::atomic<bool>& given_up)
      : address_(std::move(address)),
        options_(options),
        gates_(std::move(gates)),
        given_up_(given_up),
        token_(options.token) {}

  bool begin(const StreamedRun& run) {
    if (!connect()) return false;
    call_.emplace(connection_->stub(), token_.authorize(send_events_method), given_up_);
    expected_proof_ = token_.expected_proof(send_events_method);  // tell() makes calls while the stream is open
    replies_in_stream_ = 0;
    if (!call_->start(options_.reply_seconds)) return broken("the server did not open the stream");
    if (connection_->was_lost()) sent_graphs_.clear();  // the stream is on a connection that gRPC has made meanwhile
    if (!sent_graphs_.contains(run.combination)) {
      for (const StreamedGraph& graph : run.graphs) {
        if (!send_graph(graph, run.microseconds)) return false;
      }
      if (sent_graphs_.size() >= max_combinations) sent_graphs_.clear();
      sent_graphs_.insert(run.combination);
    }
    if (!send(metadata_event(run.metadata, run.microseconds, address_.path())) || !reply(options_.reply_seconds)) {
      return false;
    }
    breakpoints_ = gates_->breakpoints();
    return true;
  }
  bool tensor(const StreamedTensor& tensor) {
    for (const proto::Event& event : tensor.events) {
      if (!send(event)) return false;
    }
    if (!breakpoints_.contains(tensor.key) || reply(options_.breakpoint_seconds)) return true;
    gates_->end_breakpoint(
        tensor.key);  // a server that has started again sets it anew, or sends no reply to the next run
    return false;
  }
  bool end() {
    if (!call_->writes_done(options_.drain_seconds)) return broken("the server ended the stream early");
    drain(options_.drain_seconds);
    if (!call_->close(options_.drain_seconds)) return broken("");
    call_.reset();
    return true;
  }
  /// Makes a call outside a stream. Returns false if the server cannot be reached. If the server does not implement the
  /// call, this is reported, and runs are still sent.
  bool tell(const proto::CallTraceback& traceback) {
    return request(send_tracebacks_method, [&](auto* context, auto* queue) {
      return connection_->stub().PrepareAsyncSendTracebacks(context, traceback, queue);
    });
  }
  bool tell(const proto::DebuggedSourceFiles& files) {
    return request(send_source_files_method, [&](auto* context, auto* queue) {
      return connection_->stub().PrepareAsyncSendSourceFiles(context, files, queue);
    });
  }
  /// Abandons the rest of the run.
  void abandon() { call_.reset(); }

  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t replies() const { return replies_; }

 private:
  static constexpr std::size_t max_combinations = 10'000;

  /// A connected channel. If there is a token, both sides have proved it.
  bool connect() {
    if (!connect_channel()) return false;
    if (!options_.token.empty() && !greeted_) greet();
    return true;
  }
  bool connect_channel() {
    if (!connection_) connection_.emplace(address_, options_.reply_bytes);
    if (connection_->is_intact()) return true;
    sent_graphs_.clear();  // the server may have restarted without the graphs sent earlier
    listens_ = true, greeted_ = false;
    for (const detail::Deadline limit(options_.connect_seconds); !limit.over() && !given_up_;) {
      if (connection_->wait_until_connected(limit.next_look())) return true;
    }
    why_ = "nobody could be reached within " + detail::seconds_text(options_.connect_seconds) + connection_failure();
    call_.reset();
    connection_.reset();
    return false;
  }
  /// Has the server prove that it has the token. A server without a proof still receives runs, but its replies have no
  /// effect.
  void greet() {
    greeted_ = true;
    grpc::ClientContext context;
    context.AddMetadata(token_hello_key, token_.hello());
    const proto::CallTraceback nothing;
    detail::call_once(context, options_.reply_seconds, given_up_, [&](auto* c, auto* queue) {
      return connection_->stub().PrepareAsyncSendTracebacks(c, nothing, queue);
    });
    token_.accept(detail::metadata_of(context, token_challenge_key));
  }
  /// The reason for a failed connection, as gRPC gives it to a call that does not wait. Empty if gRPC has none. For a
  /// target with several addresses gRPC reports only the last one.
  [[nodiscard]] std::string connection_failure() {
    if (given_up_ || detail::connection_target(address_) != address_.target() || !connection_->has_failed()) return {};
    const proto::CallTraceback nothing;
    grpc::ClientContext context;
    const grpc::Status status = detail::call_once(context, 0.2, given_up_, [&](auto* c, auto* queue) {
      return connection_->stub().PrepareAsyncSendTracebacks(c, nothing, queue);
    });
    const bool known = status.error_code() == grpc::StatusCode::UNAVAILABLE;
    return known ? ": " + printable(status.error_message(), 300) : std::string();
  }
  bool send_graph(const StreamedGraph& graph, std::int64_t microseconds) {
    const std::vector<proto::Event> chunks = graph_chunks(*graph.serialized, graph.device, microseconds);
    for (const proto::Event& chunk : chunks) {
      if (!send(chunk)) return false;
    }
    return chunks.empty() || reply(options_.reply_seconds);
  }
  bool send(const proto::Event& event) {
    if (!call_->write(event, options_.reply_seconds)) return broken("the server ended the stream early");
    ++events_;
    return true;
  }
  bool reply(double seconds) {
    const std::optional<proto::EventReply> answer = call_->read(seconds);
    if (!answer) return broken("the server ended the stream instead of answering");
    obey(*answer);
    return true;
  }
  void obey(const proto::EventReply& reply) {
    ++replies_, ++replies_in_stream_;
    if (options_.token.empty() || is_proved()) {
      refused_ += gates_->apply(reply);
      for (const auto& change : reply.debug_op_state_changes()) update_breakpoint(Gates::key_of(change));
    } else {
      greeted_ = false;  // gRPC may have reconnected to another server: the next run starts with a handshake
      if (reply.debug_op_state_changes_size() > 0)
        say_once(told_of_token_, "it sets watches, but did not prove that it has the token; they stay as they are");
    }
    if (refused_ > 0) say_once(told_of_refusals_, "it asks for more watches than are kept, or for longer names");
  }
  /// Whether the server of the stream has the token.
  [[nodiscard]] bool is_proved() const {
    return !expected_proof_.empty() && detail::same_secret(expected_proof_, call_->proof());
  }
  void update_breakpoint(const std::string& key) {
    if (gates_->of(key) == Gate::read_write) {
      breakpoints_.insert(key);
    } else {
      breakpoints_.erase(key);
    }
  }
  void say_once(bool& told, const std::string& what) {
    if (!std::exchange(told, true))
      detail::report_line(options_, "crochet: debug server " + address_.url() + ": " + what);
  }
  /// Reads the remaining replies. Cancels the call if the server does not end the stream.
  void drain(double seconds) {
    const detail::Deadline limit(seconds);
    while (const std::optional<proto::EventReply> more = call_->read(seconds)) {
      obey(*more);
      if (replies_in_stream_ >= options_.replies || limit.over()) {
        return call_->cancel("the server sends replies without end");
      }
    }
  }
  /// Ends a stream that failed. The server's status, if there is one, replaces the local reason.
  bool broken(const std::string& guess) {
    if (call_->failure().empty()) {
      drain(1);
      call_->close(1);
    }
    why_ = call_->failure().empty() ? guess : call_->failure();
    call_.reset();
    sent_graphs_.clear();
    greeted_ = false;
    return false;
  }
  template <class Prepare>
  bool request(const char* method, Prepare prepare) {
    if (!connect()) return false;
    if (!listens_) return true;
    grpc::ClientContext context;
    if (const std::string shown = token_.authorize(method); !shown.empty())
      context.AddMetadata(authorization_key, shown);
    const grpc::Status status = detail::call_once(context, options_.reply_seconds, given_up_, prepare);
    if (status.ok() || given_up_) return true;
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      why_ = EventCall::describe(status);
      return false;
    }
    using enum grpc::StatusCode;
    listens_ = status.error_code() != UNIMPLEMENTED && status.error_code() != DEADLINE_EXCEEDED;
    say_once(told_of_deafness_, "it does not take where runs are made, and source files: " + status.error_message() +
                                    " (gRPC status " + std::to_string(static_cast<int>(status.error_code())) + ")");
    return true;
  }

  const DebugAddress address_;
  const EventStreamOptions& options_;
  const std::shared_ptr<Gates> gates_;
  const std::atomic<bool>& given_up_;
  std::optional<DebugConnection> connection_;
  TokenClient token_;              // for this connection
  std::optional<EventCall> call_;  // ends before the connection does
  std::string expected_proof_;     // of the server of call_
  std::set<std::uint64_t> sent_graphs_;
  std::set<std::string, std::less<>> breakpoints_;  // of this stream: replies to other streams do not change them
  std::string why_;
  std::uint64_t events_ = 0, replies_ = 0;
  std::size_t replies_in_stream_ = 0, refused_ = 0;
  bool told_of_token_ = false, told_of_refusals_ = false, told_of_deafness_ = false;
  bool greeted_ = false;  // a handshake was made on this connection
  bool listens_ = true;   // the server takes calls outside a stream
};

}  // namespace crochet::debug
