// SPDX-License-Identifier: Apache-2.0
// A small client of debug servers, that can also do what no good one does.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <crochet/proto/debug_service.grpc.pb.h>

namespace crochet::test {

inline std::shared_ptr<grpc::Channel> channel_to(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

/// One stream, for bytes: most tests send events, and some send what is none.
class DebugClient {
 public:
  explicit DebugClient(const std::string& address, const std::string& token = {})
      : DebugClient(channel_to(address), token) {}
  explicit DebugClient(std::shared_ptr<grpc::Channel> channel, const std::string& token = {})
      : channel_(std::move(channel)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));  // a test that fails must end
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    const grpc::internal::RpcMethod method("/tensorflow.EventListener/SendEvents",
                                           grpc::internal::RpcMethod::BIDI_STREAMING);
    stream_.reset(grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, proto::EventReply>::Create(
        channel_.get(), method, &context_));
  }

  bool send_bytes(const std::string& bytes) {
    const grpc::Slice slice(bytes);
    return stream_->Write(grpc::ByteBuffer(&slice, 1));
  }
  bool send(const proto::Event& event) { return send_bytes(event.SerializeAsString()); }
  void send(const std::vector<proto::Event>& events) {
    for (const auto& event : events) send(event);
  }

  /// Waits for a reply; nothing if the stream ends instead.
  std::optional<proto::EventReply> reply() {
    proto::EventReply reply;
    if (!stream_->Read(&reply)) return std::nullopt;
    return reply;
  }
  /// The changes of the next reply: "2 net/a:0:DebugIdentity", the state first.
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
  std::string control_token() {
    stream_->WaitForInitialMetadata();
    const auto found = context_.GetServerInitialMetadata().find("crochet-control-token");
    return found == context_.GetServerInitialMetadata().end() ? ""
                                                              : std::string(found->second.data(), found->second.size());
  }
  /// No more events; the replies that are left, and how it ended.
  grpc::Status finish() {
    stream_->WritesDone();
    while (reply()) ++late_replies_;
    return stream_->Finish();
  }
  [[nodiscard]] int late_replies() const { return late_replies_; }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, proto::EventReply>> stream_;
  int late_replies_ = 0;
};

}  // namespace crochet::test
