// SPDX-License-Identifier: Apache-2.0
// DebugConnection: the channel to a debug server, and whether it has lost its connection.
#pragma once

#include <crochet/debug/stream/needs_grpc.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

#include <crochet/proto/debug_service.grpc.pb.h>
#include <grpcpp/grpcpp.h>
#include <crochet/debug/stream/debug_address.hpp>
#include <crochet/debug/stream/debug_channel.hpp>

namespace crochet::debug {

/// A channel reconnects on use, and its state does not tell the new connection from the old one. The server of the new
/// one may be another process, without the graphs that the old one received. So a watch notes the first loss. Not
/// thread-safe; calls over the channel must have ended when it is destroyed.
class DebugConnection {
 public:
  DebugConnection(const DebugAddress& address, std::size_t reply_bytes)
      : channel_(make_debug_channel(address, reply_bytes)), stub_(proto::EventListener::NewStub(channel_)) {}
  DebugConnection(const DebugConnection&) = delete;
  DebugConnection& operator=(const DebugConnection&) = delete;
  ~DebugConnection() {
    stub_.reset();
    channel_.reset();  // the end of the channel ends the watch
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  [[nodiscard]] proto::EventListener::Stub& stub() { return *stub_; }
  [[nodiscard]] bool has_failed() const { return channel_->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE; }

  /// Whether the channel is connected and has been since `wait_until_connected` returned true. If not, it begins to
  /// connect.
  bool is_intact() { return channel_->GetState(true) == GRPC_CHANNEL_READY && !was_lost(); }
  /// Waits for a connection, and begins a new watch. False if the deadline passes first.
  bool wait_until_connected(std::chrono::system_clock::time_point deadline) {
    if (!channel_->WaitForConnected(deadline)) return false;
    if (!watched_)
      channel_->NotifyOnStateChange(GRPC_CHANNEL_READY, std::chrono::system_clock::time_point::max(), &queue_, this);
    watched_ = true;
    return true;
  }
  /// Whether the connection has been lost since `wait_until_connected` returned true. A call that has started is on the
  /// connection of before if this is false afterwards.
  bool was_lost() {
    void* tag = nullptr;
    bool ok = false;
    if (watched_ && queue_.AsyncNext(&tag, &ok, std::chrono::system_clock::now()) == grpc::CompletionQueue::GOT_EVENT) {
      watched_ = false;
    }
    return !watched_;
  }

 private:
  grpc::CompletionQueue queue_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<proto::EventListener::Stub> stub_;
  bool watched_ = false;  // a notification of the loss is pending
};

}  // namespace crochet::debug
