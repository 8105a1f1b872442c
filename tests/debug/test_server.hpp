// SPDX-License-Identifier: Apache-2.0
// A debug server within the test's process, with configurable behaviour.
#pragma once

#include <crochet/proto/debug_service.grpc.pb.h>
#include <crochet/proto/event.pb.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>

#include <crochet/debug/stream/token_proof.hpp>

namespace crochet::test {

using EventStreamOfServer = grpc::ServerReaderWriter<proto::EventReply, proto::Event>;
using Change = proto::EventReply::DebugOpStateChange;

inline proto::EventReply change(Change::State state, const std::string& node, int slot, const std::string& op) {
  proto::EventReply reply;
  Change& entry = *reply.add_debug_op_state_changes();
  entry.set_state(state);
  entry.set_node_name(node);
  entry.set_output_slot(slot);
  entry.set_debug_op(op);
  return reply;
}

/// An address for a Unix socket of this test.
inline std::string socket_path() {
  static std::atomic<int> count{0};
  return "/tmp/crochet-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".sock";
}

class TestServer final : public proto::EventListener::Service {
 public:
  using Handler = std::function<grpc::Status(grpc::ServerContext&, EventStreamOfServer&)>;

  /// Listens from construction. `handler` replaces the replies of the original.
  explicit TestServer(std::string address, Handler handler = nullptr,
                      std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials())
      : address_(std::move(address)), handler_(std::move(handler)) {
    // The shutdown of gRPC 1.51 behind its last user waits for 10 s now and then, so it has a user that stays.
    [[maybe_unused]] static const bool stays = (grpc_init(), true);
    grpc::ServerBuilder builder;
    builder.SetMaxReceiveMessageSize(4'194'304);  // gRPC's default limit: chunks must fit
    builder.AddListeningPort(address_, std::move(credentials), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~TestServer() override { stop(); }
  void stop() {
    stopping_ = true;
    changed_.notify_all();
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
    if (address_.starts_with("unix:")) ::unlink(address_.substr(5).c_str());
  }
  [[nodiscard]] int port() const { return port_; }

  /// Queues a reply. Each of the next replies sends one.
  void queue(proto::EventReply reply) {
    const std::lock_guard lock(mutex_);
    queued_.push_back(std::move(reply));
  }
  /// The events of the streams, in the order in which the streams were opened.
  std::vector<std::vector<proto::Event>> streams() {
    const std::lock_guard lock(mutex_);
    return streams_;
  }
  std::vector<proto::CallTraceback> tracebacks;
  std::vector<proto::DebuggedSourceFile> files;
  std::vector<std::string> metadata;  // the values of the token's keys, of all calls
  /// The challenge for the hello of a client with a token, and the proof for its authorization. Empty: none.
  std::function<std::string(const std::string& hello)> challenge{};
  std::function<std::string(const std::string& method, const std::string& authorization)> proof{};
  bool refuses_without_proof = false;  ///< rejects streams without a proof, as crochet's servers do
  std::function<bool(const std::string& key)> is_breakpoint = [](const std::string&) { return false; };

  grpc::Status SendEvents(grpc::ServerContext* context, EventStreamOfServer* stream) override {
    const bool proved = prove(*context, debug::send_events_method);
    if (refuses_without_proof && !proved) return {grpc::StatusCode::UNAUTHENTICATED, "the token is not known"};
    return handler_ ? handler_(*context, *stream) : answer(*stream);
  }
  /// Replies as the original's servicer: to complete graphs and metadata, and to tensors at breakpoints.
  grpc::Status answer(EventStreamOfServer& stream, std::size_t max_events = static_cast<std::size_t>(-1)) {
    std::size_t mine = 0;
    {
      const std::lock_guard lock(mutex_);
      mine = streams_.size();
      streams_.emplace_back();
    }
    proto::Event event;
    for (std::size_t n = 0; n < max_events && stream.Read(&event); ++n) {
      const bool answered = wants_answer(event);
      proto::EventReply reply;
      {
        const std::lock_guard lock(mutex_);
        streams_[mine].push_back(event);
        if (answered && !queued_.empty()) {
          reply = queued_.front();
          queued_.erase(queued_.begin());
        }
      }
      if (answered) stream.Write(reply);
    }
    return grpc::Status::OK;
  }
  /// Waits until the server stops or the client cancels.
  grpc::Status sit(grpc::ServerContext& context) {
    std::unique_lock lock(mutex_);
    while (!stopping_ && !context.IsCancelled()) changed_.wait_for(lock, std::chrono::milliseconds(5));
    return grpc::Status::OK;
  }

  /// The status for calls outside of a stream; if empty, they succeed.
  std::function<grpc::Status()> refusal{};

  grpc::Status SendTracebacks(grpc::ServerContext* context, const proto::CallTraceback* traceback,
                              proto::EventReply*) override {
    if (const std::string hello = text_of(*context, debug::token_hello_key); !hello.empty()) {
      if (challenge) context->AddInitialMetadata(debug::token_challenge_key, challenge(hello));
      return grpc::Status::OK;
    }
    prove(*context, debug::send_tracebacks_method);
    if (refusal) return refusal();
    const std::lock_guard lock(mutex_);
    tracebacks.push_back(*traceback);
    return grpc::Status::OK;
  }
  grpc::Status SendSourceFiles(grpc::ServerContext*, const proto::DebuggedSourceFiles* sources,
                               proto::EventReply*) override {
    if (refusal) return refusal();
    const std::lock_guard lock(mutex_);
    files.insert(files.end(), sources->source_files().begin(), sources->source_files().end());
    return grpc::Status::OK;
  }

 private:
  /// The value that the client sent under this key. It is also kept in `metadata`.
  std::string text_of(grpc::ServerContext& context, const char* key) {
    const auto found = context.client_metadata().find(key);
    if (found == context.client_metadata().end()) return {};
    const std::lock_guard lock(mutex_);
    return metadata.emplace_back(found->second.data(), found->second.size());
  }
  bool prove(grpc::ServerContext& context, const char* method) {
    const std::string shown = text_of(context, debug::authorization_key);
    const std::string answer = proof ? proof(method, shown) : std::string();
    if (!answer.empty()) context.AddInitialMetadata(debug::token_proof_key, answer);
    return !answer.empty();
  }
  bool wants_answer(const proto::Event& event) const {
    if (event.has_log_message()) return true;
    if (event.summary().value_size() > 0) {
      const proto::Summary::Value& value = event.summary().value(0);
      const auto at = [&](const std::string& name) {
        const std::string& json = value.metadata().plugin_data().content();
        return std::stol(json.substr(json.find("\"" + name + "\":") + name.size() + 3));
      };
      return is_breakpoint(value.node_name()) && at("chunkIndex") + 1 == at("numChunks");
    }
    const std::string& graph = event.graph_def();  // <key>|<index>|<count>|
    const std::size_t first = graph.find('|');
    return std::stol(graph.substr(first + 1)) + 1 == std::stol(graph.substr(graph.find('|', first + 1) + 1));
  }

  const std::string address_;
  const Handler handler_;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<proto::EventReply> queued_;
  std::vector<std::vector<proto::Event>> streams_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace crochet::test
