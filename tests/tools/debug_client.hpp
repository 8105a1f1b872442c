// SPDX-License-Identifier: Apache-2.0
// A small client of debug servers that can also violate the protocol.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <crochet/proto/debug_service.grpc.pb.h>
#include <crochet/proto/event.pb.h>

#include <crochet/debug/stream/event_call.hpp>
#include <crochet/debug/stream/token_proof.hpp>

namespace crochet::test {

inline std::shared_ptr<grpc::Channel> channel_to(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a separate connection
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

/// One stream. It sends bytes, since some tests send data that is not an event.
class DebugClient {
 public:
  /// A connection to a listening server may fail on a loaded machine.
  enum class Connect { once, again_after_failures };
  explicit DebugClient(const std::string& address, const std::string& token = {})
      : DebugClient(channel_to(address), token, Connect::again_after_failures) {}
  explicit DebugClient(std::shared_ptr<grpc::Channel> channel, Connect connect = Connect::once)
      : DebugClient(std::move(channel), {}, connect) {}

  bool send_bytes(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    return stream_->Write(grpc::ByteBuffer(&slice, 1));
  }
  bool send(const proto::Event& event) { return send_bytes(event.SerializeAsString()); }
  void send(const std::vector<proto::Event>& events) {
    for (const auto& event : events) send(event);
  }

  /// Waits for a reply. Empty if the stream ends.
  std::optional<proto::EventReply> reply() {
    proto::EventReply reply;
    if (!stream_->Read(&reply)) return std::nullopt;
    return reply;
  }
  /// The changes of the next reply, the state first: "2 net/a:0:DebugIdentity".
  std::vector<std::string> changes() {
    std::vector<std::string> texts;
    const auto answer = reply();
    if (!answer) return {"no reply"};
    for (const auto& change : answer->debug_op_state_changes()) {
      texts.push_back(std::to_string(change.state()) + " " + change.node_name() + ":" +
                      std::to_string(change.output_slot()) + ":" + change.debug_op());
    }
    return texts;
  }
  /// Whether the server proved that it has the same token.
  bool server_proves_token() {
    stream_->WaitForInitialMetadata();
    return token_.proves(debug::send_events_method, debug::detail::metadata_of(context_, debug::token_proof_key));
  }
  /// Ends the sending, counts the remaining replies, and returns the status of the stream.
  grpc::Status finish() {
    stream_->WritesDone();
    while (reply()) ++late_replies_;
    return stream_->Finish();
  }
  [[nodiscard]] int late_replies() const { return late_replies_; }

 private:
  DebugClient(std::shared_ptr<grpc::Channel> channel, const std::string& token, Connect connect)
      : channel_(std::move(channel)), token_(token) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));  // a test that fails must end
    context_.set_wait_for_ready(connect == Connect::again_after_failures);
    if (!token.empty()) shake_hands();
    if (const std::string shown = token_.authorize(debug::send_events_method); !shown.empty()) {
      context_.AddMetadata(debug::authorization_key, shown);
    }
    const grpc::internal::RpcMethod method(debug::send_events_method, grpc::internal::RpcMethod::BIDI_STREAMING);
    stream_.reset(grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, proto::EventReply>::Create(
        channel_.get(), method, &context_));
  }

  void shake_hands() {
    grpc::ClientContext context;
    context.AddMetadata(debug::token_hello_key, token_.hello());
    proto::EventReply reply;
    proto::EventListener::NewStub(channel_)->SendTracebacks(&context, {}, &reply);
    token_.accept(debug::detail::metadata_of(context, debug::token_challenge_key));
  }

  std::shared_ptr<grpc::Channel> channel_;
  debug::TokenClient token_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, proto::EventReply>> stream_;
  int late_replies_ = 0;
};

}  // namespace crochet::test
