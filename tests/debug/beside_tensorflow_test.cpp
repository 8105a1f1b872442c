// SPDX-License-Identifier: Apache-2.0
// crochet::debug in a program that also contains the original's service. A crochet stream reaches a server made of
// TensorFlow's generated code, and TensorFlow's client reaches a crochet server.
#include <crochet/debug/server/event_listener.hpp>
#include <crochet/debug/stream/event_stream.hpp>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tensorflow/core/debug_service.grpc.pb.h>

namespace beside_tensorflow_test {

namespace debug = crochet::debug;
constexpr double soon = 60;  // seconds; longer than any wait here

std::string unix_address() {
  static std::atomic<int> count{0};
  return "unix:/tmp/crochet-beside-" + std::to_string(::getpid()) + "-" + std::to_string(count++) + ".sock";
}

class OriginalServer final : public tensorflow::EventListener::Service {
 public:
  explicit OriginalServer(const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~OriginalServer() override {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }
  grpc::Status SendEvents(grpc::ServerContext*,
                          grpc::ServerReaderWriter<tensorflow::EventReply, tensorflow::Event>* stream) override {
    tensorflow::Event event;
    while (stream->Read(&event)) {
      {
        const std::lock_guard lock(mutex_);
        events_.push_back(event);
      }
      if (!event.has_summary()) stream->Write({});
    }
    return grpc::Status::OK;
  }
  std::vector<tensorflow::Event> events() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  std::mutex mutex_;
  std::vector<tensorflow::Event> events_;
  std::unique_ptr<grpc::Server> server_;
};

TEST(BesideTensorFlow, a_stream_of_ours_reaches_the_originals_service) {
  const std::string address = unix_address();
  OriginalServer server(address);
  debug::EventStream stream{debug::DebugAddress(address), {}};
  ASSERT_TRUE(stream.wants_run());
  const auto graph = std::make_shared<const std::string>("a graph");
  stream.begin_run({.metadata = {.session_run_index = 1},
                    .microseconds = 1'700'000'000'000'000,
                    .combination = 1,
                    .graphs = {{"/job:localhost/replica:0/task:0/device:CPU:0", graph}}});
  stream.end_run();
  ASSERT_TRUE(stream.flush(soon));
  EXPECT_EQ(server.events().size(), 2U);  // the graph and the run's metadata
}

TEST(BesideTensorFlow, the_originals_client_reaches_our_server) {
  const std::string address = unix_address();
  debug::WatchTable watches;
  debug::Breakpoints breakpoints;
  std::atomic<int> tracebacks{0};
  debug::ServerSink sink{.open = nullptr, .traceback = [&](const crochet::proto::CallTraceback&) { ++tracebacks; }};
  debug::EventListener listener({}, sink, watches, breakpoints);
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&listener);
  const auto server = builder.BuildAndStart();
  const auto stub =
      tensorflow::EventListener::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  tensorflow::EventReply reply;
  const grpc::Status status = stub->SendTracebacks(&context, {}, &reply);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(tracebacks, 1);
  server->Shutdown(std::chrono::system_clock::now());
}

}  // namespace beside_tensorflow_test
