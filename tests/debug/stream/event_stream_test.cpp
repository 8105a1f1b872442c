// SPDX-License-Identifier: Apache-2.0
// EventStream with correct and with failing servers.
#include <crochet/proto/event.pb.h>
#include <crochet/debug/event/graph_event.hpp>
#include <crochet/debug/stream/debug_channel.hpp>
#include <crochet/debug/stream/event_stream.hpp>
#include <crochet/debug/stream/gates.hpp>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../test_server.hpp"

/// For LeakSanitizer. gRPC frees what a failed TLS handshake took in a thread of its own, on a busy machine after the
/// end of the program.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libcrypto.so\nleak:libssl.so\n"; }

namespace event_stream_test {

namespace debug = crochet::debug;
using crochet::test::Change;
using crochet::test::TestServer;

constexpr const char* device = "/job:localhost/replica:0/task:0/device:CPU:0";
constexpr double soon = 60;    // longer than any wait here on a working machine
constexpr double a_while = 2;  // a wait that must time out; still long enough for a busy machine

/// A clock that stands still until the test moves it. Any thread may read it.
struct StillClock {
  std::shared_ptr<std::atomic<double>> seconds = std::make_shared<std::atomic<double>>(0.0);
  double operator()() const { return *seconds; }
};

/// Collects the reports of a stream.
class Reports {
 public:
  auto sink() {
    return [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    };
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  int with(std::string_view part) const {
    int count = 0;
    for (const std::string& line : lines()) count += line.find(part) != std::string::npos;
    return count;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// A program under debugging: runs with one tensor of the given size in bytes.
class Program {
 public:
  explicit Program(debug::DebugAddress address, debug::EventStreamOptions options = {}) {
    options.clock = clock;
    options.report = reports.sink();
    debug::gates_of(address.url())->clear();
    stream = std::make_unique<debug::EventStream>(std::move(address), std::move(options));
  }
  /// False if the stream rejected the run.
  bool begin(std::uint64_t combination = 1) {
    if (!stream->wants_run()) return false;
    const auto graph = std::make_shared<const std::string>("a graph of " + std::to_string(combination));
    stream->begin_run({.metadata = {.session_run_index = ++runs},
                       .microseconds = 1'700'000'000'000'000 + 1'000 * runs,
                       .combination = combination,
                       .graphs = {{device, graph}}});
    return true;
  }
  void tensor(const std::string& node, std::size_t bytes = 4, bool gated = false) {
    if (!stream->wants(node + ":0:DebugIdentity", gated)) return;
    const std::vector<std::byte> data(bytes, std::byte{7});
    const std::int64_t extent = static_cast<std::int64_t>(bytes);
    stream->publish({.device = device,
                     .node = node,
                     .slot = 0,
                     .op = "DebugIdentity",
                     .microseconds = 1'700'000'000'000'000 + 1'000 * runs + 1,
                     .tensor = {crochet::io::DataType::uint8, {&extent, 1}, data}});
  }
  bool run(std::size_t bytes = 4) {
    if (!begin()) return false;
    tensor("x", bytes);
    stream->end_run();
    return true;
  }
  bool flush() { return stream->flush(soon); }
  debug::EventStreamStatistics statistics() const { return stream->statistics(); }

  StillClock clock;
  Reports reports;
  std::unique_ptr<debug::EventStream> stream;
  std::int64_t runs = 0;
};

std::string unix_address() { return "unix:" + crochet::test::socket_path(); }
std::vector<std::string> kinds(const std::vector<crochet::proto::Event>& events) {
  std::vector<std::string> all;
  all.reserve(events.size());
  for (const crochet::proto::Event& event : events) {
    all.push_back(event.has_log_message() ? "metadata" : event.graph_def().empty() ? "tensor" : "graph");
  }
  return all;
}
using Kinds = std::vector<std::string>;

TEST(EventStream, SendsAGraphOnceThenMetadataAndTensors) {
  const std::string address = unix_address();
  TestServer server(address);
  Program program(address);
  ASSERT_TRUE(program.run());
  ASSERT_TRUE(program.run());
  ASSERT_TRUE(program.begin(2));
  program.stream->end_run();
  ASSERT_TRUE(program.flush());
  const auto streams = server.streams();
  ASSERT_EQ(streams.size(), 3U);
  EXPECT_EQ(kinds(streams[0]), (Kinds{"graph", "metadata", "tensor"}));
  EXPECT_EQ(kinds(streams[1]), (Kinds{"metadata", "tensor"}));
  EXPECT_EQ(kinds(streams[2]), (Kinds{"graph", "metadata"}));
  EXPECT_EQ(streams[0][0].graph_def().substr(streams[0][0].graph_def().rfind('|')), "|a graph of 1");
  EXPECT_NE(streams[0][1].log_message().message().find("\"grpc_path\":\"\""), std::string::npos);
  EXPECT_EQ(program.statistics().runs, 3U);
  EXPECT_EQ(program.statistics().replies, 5U);
  EXPECT_EQ(program.reports.lines(), std::vector<std::string>{});
}

TEST(EventStream, ATensorInChunksArrivesWhole) {
  const std::string address = unix_address();
  TestServer server(address);  // gRPC's default limit of 4 MiB per message
  Program program(address);
  program.begin();
  for (const std::size_t bytes : {std::size_t{0}, debug::chunk_bytes, debug::chunk_bytes + 1})
    program.tensor("big", bytes);
  program.stream->end_run();
  ASSERT_TRUE(program.flush());
  const auto events = server.streams().at(0);
  std::vector<std::size_t> sizes;
  for (std::size_t i = 2; i < events.size(); ++i) {
    sizes.push_back(events[i].summary().value(0).tensor().tensor_content().size());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{0, debug::chunk_bytes, debug::chunk_bytes, 1}));
  EXPECT_EQ(program.statistics().queued_bytes, 0U);
}

TEST(EventStream, RepliesOpenAndCloseGatesBetweenRuns) {
  for (const std::string path : {"", "/some/path"}) {  // the original loses the replies of an address with a path
    TestServer server("127.0.0.1:0");
    Program program("grpc://127.0.0.1:" + std::to_string(server.port()) + path);
    const auto gated_run = [&] {
      ASSERT_TRUE(program.begin());
      program.tensor("w", 4, true);
      program.stream->end_run();
      ASSERT_TRUE(program.flush());
    };
    gated_run();  // closed: no server has enabled the watch
    server.queue(crochet::test::change(Change::READ_ONLY, "w", 0, "DebugIdentity"));
    gated_run();  // opened by the reply to the metadata of this run
    gated_run();
    server.queue(crochet::test::change(Change::DISABLED, "w", 0, "DebugIdentity"));
    gated_run();
    gated_run();
    std::vector<std::size_t> tensors;
    for (const auto& stream : server.streams()) tensors.push_back(stream.size() - 1);
    tensors[0] -= 1;  // without the graph
    // A run does not wait for the reply to its metadata before it sends the tensor: the results of runs 1 and 3 are
    // undetermined.
    ASSERT_EQ(tensors.size(), 5U);
    EXPECT_EQ(tensors[0], 0U);
    EXPECT_EQ(tensors[2], 1U);
    EXPECT_EQ(tensors[4], 0U);
  }
}

bool can_listen(const std::string& address) {
  TestServer server(address);
  return server.port() > 0;
}

TEST(EventStream, LocalhostIsBothOfItsAddressesAndNoQuestionToAResolver) {
  int reached = 0;
  for (const std::string listens_on : {"127.0.0.1:0", "[::1]:0"}) {
    if (!can_listen(listens_on)) continue;  // a machine may lack IPv6
    TestServer server(listens_on);
    Program program("localhost:" + std::to_string(server.port()), {.connect_seconds = soon});
    EXPECT_TRUE(program.run());
    ASSERT_TRUE(program.flush());
    EXPECT_EQ(program.statistics().runs, 1U) << listens_on;
    ++reached;
  }
  EXPECT_GE(reached, 1);
  EXPECT_EQ(debug::detail::connection_target("localhost:6064/path"), "ipv6:%5B::ffff:127.0.0.1%5D:6064,%5B::1%5D:6064");
  for (const std::string own : {"127.0.0.1:6064", "[::1]:6064", "unix:/localhost"}) {
    EXPECT_EQ(debug::detail::connection_target(own), own);
  }
  const debug::InsecureRemote other{"localhost.example.org:1"};
  EXPECT_EQ(debug::detail::connection_target(other), other.address);
}

TEST(EventStream, InLockstepAReplyIsObeyedInItsOwnRun) {
  const std::string address = unix_address();
  TestServer server(address);
  server.is_breakpoint = [](const std::string& key) { return key == "w:0:DebugIdentity"; };
  server.queue({});  // in reply to the graph
  server.queue(crochet::test::change(Change::READ_WRITE, "w", 0, "DebugIdentity"));
  server.queue(crochet::test::change(Change::DISABLED, "w", 0, "DebugIdentity"));  // in reply to the tensor
  Program program(address, {.lockstep_seconds = soon});
  ASSERT_TRUE(program.begin());
  program.tensor("w", 4, true);  // a breakpoint: waits for its reply, which closes the gate
  program.tensor("w", 4, true);
  program.stream->end_run();
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(kinds(server.streams().at(0)), (Kinds{"graph", "metadata", "tensor"}));
  EXPECT_EQ(program.statistics().replies, 3U);
}

// Two hooks may stream to one server, which replies to a tensor only where it has set the breakpoint on that stream.
TEST(EventStream, ABreakpointOfAnotherStreamIsOneFromTheNextRunOn) {
  const std::string address = unix_address();
  TestServer server(address);
  Program program(address, {.lockstep_seconds = soon});
  ASSERT_TRUE(program.begin());
  debug::gates_of(debug::DebugAddress(address).url())
      ->apply(crochet::test::change(Change::READ_WRITE, "x", 0, "DebugIdentity"));
  program.tensor("x");
  program.stream->end_run();
  ASSERT_TRUE(program.stream->flush(a_while)) << "it waits for no reply";
  EXPECT_EQ(program.statistics().runs, 1U);

  server.is_breakpoint = [](const std::string&) { return true; };
  EXPECT_TRUE(program.run());
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(program.statistics().runs, 2U);
  EXPECT_EQ(program.statistics().replies, 4U) << "to a graph, two beginnings and a tensor";
}

TEST(EventStream, ABreakpointIsAnsweredOnceATensorAlsoInChunks) {
  const std::string address = unix_address();
  TestServer server(address);
  server.is_breakpoint = [](const std::string&) { return true; };
  server.queue(crochet::test::change(Change::READ_WRITE, "x", 0, "DebugIdentity"));
  Program program(address);
  program.run(2 * debug::chunk_bytes);
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(program.statistics().replies, 3U);
  EXPECT_EQ(program.statistics().runs, 1U);
}

TEST(EventStream, WithoutAServerRunsAreSkippedAndItIsTriedAgainAfterAPause) {
  const std::string address = unix_address();
  Program program(address, {.connect_seconds = 0.05, .backoff_seconds = 1, .max_backoff_seconds = 3});
  for (const double pause : {1.0, 2.0, 3.0, 3.0}) {
    EXPECT_TRUE(program.run());
    ASSERT_TRUE(program.flush());
    *program.clock.seconds += pause - 0.01;
    EXPECT_FALSE(program.run()) << pause;
    *program.clock.seconds += 0.02;
  }
  EXPECT_EQ(program.reports.lines().size(), 1U);
  EXPECT_EQ(program.reports.with("nobody could be reached within 0.05 s"), 1);
  EXPECT_EQ(program.statistics().failures, 4U);
  EXPECT_EQ(program.statistics().runs_skipped, 4U);
  EXPECT_EQ(program.statistics().dropped, 4U);

  TestServer server(address);  // the server starts late
  EXPECT_TRUE(program.run());
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(kinds(server.streams().at(0)), (Kinds{"graph", "metadata", "tensor"}));
  EXPECT_EQ(program.reports.with("it is there again"), 1);
  EXPECT_TRUE(program.run());  // the backoff was reset: no pause
}

TEST(EventStream, AReportThatThrowsEndsNothing) {
  debug::EventStreamOptions options{.connect_seconds = 0.05};
  options.report = [](std::string_view) { throw std::runtime_error("the log is full"); };
  debug::EventStream stream(debug::DebugAddress(unix_address()), options);
  ASSERT_TRUE(stream.wants_run());
  stream.begin_run({});
  stream.end_run();
  EXPECT_TRUE(stream.flush(soon));
  EXPECT_EQ(stream.statistics().failures, 1U);
}

TEST(EventStream, AServerThatComesWhileItIsWaitedForGetsTheFirstRun) {
  const std::string address = unix_address();
  Program program(address, {.connect_seconds = soon});
  EXPECT_TRUE(program.run());
  TestServer server(address);
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(kinds(server.streams().at(0)), (Kinds{"graph", "metadata", "tensor"}));
  EXPECT_EQ(program.reports.lines(), std::vector<std::string>{});
}

// While a stream waits for a server to connect, its queue can fill up without any failure.
TEST(EventStream, RunsThatFindNoRoomAreReportedOnceTheServerHasTheOthers) {
  const std::string address = unix_address();
  Program program(address, {.connect_seconds = soon, .queue_bytes = 10'000});
  EXPECT_TRUE(program.run(6'000));
  EXPECT_FALSE(program.run(6'000));
  TestServer server(address);
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(server.streams().size(), 1U);
  EXPECT_EQ(program.statistics().failures, 0U);
  EXPECT_EQ(program.reports.lines().size(), 1U);
  EXPECT_EQ(program.reports.with("away or is slow; it missed 1 runs, and 0 tensors"), 1);
  EXPECT_TRUE(program.run());
  ASSERT_TRUE(program.flush());
  program.stream.reset();
  EXPECT_EQ(program.reports.lines().size(), 1U);  // no new report
}

TEST(EventStream, AServerThatIsAlwaysTooSlowIsReportedNowAndThen) {
  const std::string address = unix_address();
  TestServer server(address);
  Program program(address, {.backoff_seconds = 1, .max_backoff_seconds = 3, .queue_bytes = 10'000});
  const auto run_without_room = [&] {
    ASSERT_TRUE(program.run(20'000));
    ASSERT_TRUE(program.flush());
  };
  std::size_t reports = 0;
  for (const double pause : {1.0, 2.0, 3.0, 3.0}) {
    run_without_room();
    EXPECT_EQ(program.reports.lines().size(), ++reports);
    *program.clock.seconds += pause - 0.01;
    run_without_room();
    EXPECT_EQ(program.reports.lines().size(), reports) << pause;
    *program.clock.seconds += 0.02;
  }
  EXPECT_EQ(program.reports.with("it missed 0 runs, and 1 tensors"), 1);
  EXPECT_EQ(program.reports.with("it missed 0 runs, and 2 tensors"), 3);  // since the last report
  program.stream.reset();
  EXPECT_EQ(program.reports.with("in all it missed 0 runs, and 8 tensors"), 1);
}

TEST(EventStream, RunsThatNobodyGotAreReportedAtTheEnd) {
  Program program(unix_address(), {.connect_seconds = 0.05});
  EXPECT_TRUE(program.run());
  ASSERT_TRUE(program.flush());
  EXPECT_FALSE(program.run());
  EXPECT_EQ(program.statistics().runs_broken, 1U);
  program.stream.reset();
  EXPECT_EQ(program.reports.lines().size(), 2U);
  EXPECT_EQ(program.reports.with("in all it missed 2 runs, and 1 tensors"), 1);
}

TEST(EventStream, AStuckServerCostsTheQueueAndNoMore) {
  const std::string address = unix_address();
  TestServer* self = nullptr;
  TestServer server(address, [&](grpc::ServerContext& context, auto&) { return self->sit(context); });
  self = &server;
  constexpr std::size_t limit = 1'000'000;
  Program program(address, {.reply_seconds = a_while, .queue_bytes = limit});
  program.begin();
  for (int i = 0; i < 100; ++i) program.tensor("x", 100'000);
  program.stream->end_run();
  EXPECT_FALSE(program.run());  // the queue is half full: the run is rejected
  program.tensor("x", 10 * limit);
  EXPECT_LE(program.statistics().max_queued_bytes, limit);
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(program.reports.with("the server did not answer within 2 s"), 1);
  EXPECT_EQ(program.statistics().dropped, 101U);
  EXPECT_EQ(program.statistics().queued_bytes, 0U);
  EXPECT_FALSE(program.run());  // in the pause after the failure
}

TEST(EventStream, AServerThatReadsNothingIsBrokenOff) {
  const std::string address = unix_address();
  TestServer* self = nullptr;
  TestServer server(address, [&](grpc::ServerContext& context, auto& stream) {
    crochet::proto::Event event;
    for (int i = 0; i < 2; ++i) {
      stream.Read(&event);
      stream.Write({});
    }
    return self->sit(context);
  });
  self = &server;
  Program program(address, {.reply_seconds = a_while});
  program.begin();
  for (int i = 0; i < 10; ++i) program.tensor("x", debug::chunk_bytes);  // more than all buffers in between
  program.stream->end_run();
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(program.reports.with("the server did not take an event within 2 s"), 1);
}

TEST(EventStream, AServerKilledInTheMiddleIsNoticedAndFoundAgain) {
  const std::string address = unix_address();
  Program program(address, {.connect_seconds = soon});
  {
    TestServer server(address);
    EXPECT_TRUE(program.run());
    ASSERT_TRUE(program.begin());
    ASSERT_TRUE(program.flush());  // the stream is open
  }
  program.tensor("x");
  program.stream->end_run();
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(program.statistics().runs, 1U);
  EXPECT_EQ(program.statistics().failures, 1U);
  EXPECT_EQ(program.reports.with("Training goes on"), 1);
  *program.clock.seconds += 1;
  TestServer another(address);
  EXPECT_TRUE(program.run());
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(kinds(another.streams().at(0)), (Kinds{"graph", "metadata", "tensor"}));  // the new server has no graph
}

TEST(EventStream, AServerThatStartsAgainWithoutItsBreakpointMissesOneRun) {
  const std::string address = unix_address();
  Program program(address, {.connect_seconds = soon, .breakpoint_seconds = 0.05});
  {
    TestServer server(address);
    server.is_breakpoint = [](const std::string&) { return true; };
    server.queue(crochet::test::change(Change::READ_WRITE, "x", 0, "DebugIdentity"));
    EXPECT_TRUE(program.run());
    ASSERT_TRUE(program.flush());
  }
  *program.clock.seconds += 1'000;
  TestServer again(address);  // sends no replies to tensors
  std::uint64_t before = 0;
  for (int run = 0; run < 4; ++run) {
    program.run();
    ASSERT_TRUE(program.flush());
    *program.clock.seconds += 1'000;
    if (run == 1) before = program.statistics().runs;
  }
  EXPECT_EQ(program.statistics().runs, before + 2) << "the server has the other runs";
}

// Data that is written into a dead connection is lost, unless gRPC has noticed it by then. Each run either arrived or
// is in a report.
TEST(EventStream, AServerThatIsAnotherOneInTheNextRunMissesNothingInSilence) {
  const std::string address = unix_address();
  Program program(address, {.connect_seconds = soon});
  std::uint64_t arrived = 0;
  for (int i = 0; i < 5; ++i) {
    TestServer server(address);
    for (int j = 0; j < 2; ++j) {
      EXPECT_TRUE(program.run());
      ASSERT_TRUE(program.flush());
      const debug::EventStreamStatistics statistics = program.statistics();
      EXPECT_EQ(statistics.runs + statistics.runs_broken, static_cast<std::uint64_t>(program.runs));
      EXPECT_EQ(program.reports.with("Training goes on"), static_cast<int>(statistics.runs_broken));
      *program.clock.seconds += 1'000;
    }
    EXPECT_GE(program.statistics().runs, arrived + 1);
    const auto streams = server.streams();
    ASSERT_EQ(streams.size(), program.statistics().runs - std::exchange(arrived, program.statistics().runs));
    EXPECT_EQ(kinds(streams[0]), (Kinds{"graph", "metadata", "tensor"}));  // also if gRPC has reconnected by itself
  }
  const int missed = static_cast<int>(program.statistics().runs_broken);
  EXPECT_EQ(program.reports.with("it is there again; it missed 1 runs"), missed);
}

TEST(EventStream, AServerThatClosesStreamsIsReportedWithItsReason) {
  const std::string address = unix_address();
  for (const bool well : {true, false}) {
    TestServer* self = nullptr;
    TestServer server(address, [&](grpc::ServerContext&, auto& stream) {
      self->answer(stream, 2);
      return well ? grpc::Status::OK : grpc::Status(grpc::StatusCode::UNKNOWN, "no such watch");
    });
    self = &server;
    Program program(address);
    program.begin();
    ASSERT_TRUE(program.flush());
    for (int i = 0; i < 20; ++i) program.tensor("x", debug::chunk_bytes);
    program.stream->end_run();
    ASSERT_TRUE(program.flush());
    EXPECT_EQ(program.reports.with(well ? "the server ended the stream early" : "no such watch"), 1) << well;
    EXPECT_EQ(program.statistics().runs, 0U);
  }
}

TEST(EventStream, AFloodOfRepliesIsBrokenOff) {
  const std::string address = unix_address();
  TestServer server(address, [](grpc::ServerContext& context, auto& stream) {
    const auto reply = crochet::test::change(Change::READ_ONLY, "x", 0, "DebugIdentity");
    while (!context.IsCancelled() && stream.Write(reply)) {
    }
    return grpc::Status::OK;
  });
  Program program(address, {.replies = 1'000});
  program.run();
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(program.reports.with("replies without end"), 1);
  EXPECT_EQ(program.statistics().replies, 1'000U);
}

TEST(EventStream, ATooLargeReplyEndsTheStreamAndNothingElse) {
  const std::string address = unix_address();
  TestServer server(address, [](grpc::ServerContext&, auto& stream) {
    stream.Write(crochet::test::change(Change::READ_ONLY, std::string(10'000, 'x'), 0, "DebugIdentity"));
    crochet::proto::Event event;
    while (stream.Read(&event)) {
    }
    return grpc::Status::OK;
  });
  Program program(address, {.reply_bytes = 5'000});
  program.run();
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(program.statistics().failures, 1U);
  EXPECT_EQ(program.statistics().replies, 0U);
  EXPECT_EQ(program.reports.with("gRPC status 8"), 1) << program.reports.lines().at(0);  // RESOURCE_EXHAUSTED
}

/// Replies with bytes that are not a message.
class RawServer final
    : public crochet::proto::EventListener::WithRawCallbackMethod_SendEvents<crochet::proto::EventListener::Service> {
 public:
  explicit RawServer(const std::string& address) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~RawServer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* SendEvents(grpc::CallbackServerContext*) override {
    struct Answer final : grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
      Answer() : slice(std::string("\x0a\xff\xff\xff\xff\x0f garbage")), bytes(&slice, 1) { StartWrite(&bytes); }
      void OnWriteDone(bool) override { Finish(grpc::Status::OK); }
      void OnDone() override { delete this; }
      grpc::Slice slice;
      grpc::ByteBuffer bytes;
    };
    return new Answer;
  }

 private:
  std::unique_ptr<grpc::Server> server_;
};

TEST(EventStream, GarbageInsteadOfAReplyIsAFailureOfTheStream) {
  const std::string address = unix_address();
  RawServer server(address);
  Program program(address);
  program.run();
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(program.statistics().failures, 1U);
  EXPECT_EQ(program.statistics().replies, 0U);
  EXPECT_EQ(program.reports.lines().size(), 1U);
}

TEST(EventStream, SomethingThatIsNoGrpcServerIsNotReached) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof any;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&any), size), 0);
  ASSERT_EQ(::listen(listener, 16), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&any), &size), 0);
  std::thread speaker([listener] {
    for (int peer = 0; (peer = ::accept(listener, nullptr, nullptr)) >= 0; ::close(peer)) {
      const std::string text = "HTTP/1.0 400 what?\r\n\r\n" + std::string(1'000, 'z');
      (void)!::send(peer, text.data(), text.size(), MSG_NOSIGNAL);
    }
  });
  {
    Program program("127.0.0.1:" + std::to_string(ntohs(any.sin_port)), {.connect_seconds = 0.3, .reply_seconds = 0.3});
    program.run();
    ASSERT_TRUE(program.flush());
    EXPECT_EQ(program.statistics().failures, 1U);
    EXPECT_EQ(program.reports.lines().size(), 1U);
  }
  ::shutdown(listener, SHUT_RDWR);
  ::close(listener);
  speaker.join();
}

TEST(EventStream, WithThePolicyFailTheNextRunThrows) {
  const std::string address = unix_address();
  Program program(address, {.on_failure = debug::OnStreamFailure::fail, .connect_seconds = 0.05});
  EXPECT_TRUE(program.run());
  ASSERT_TRUE(program.flush());
  try {
    program.run();
    FAIL() << "nothing was thrown";
  } catch (const crochet::IoError& error) {
    EXPECT_NE(std::string(error.what()).find(address + ": nobody could be reached"), std::string::npos) << error.what();
  }
}

// In so short a time gRPC may not have tried to connect: the test repeats until it has.
TEST(EventStream, SaysWhyNobodyIsReachedWhereGrpcKnows) {
  Program program(unix_address(), {.on_failure = debug::OnStreamFailure::fail, .connect_seconds = 0.05});
  for (std::string why; why.find("No such file or directory") == std::string::npos;) {
    *program.clock.seconds += 1'000;
    try {
      program.run();
      ASSERT_TRUE(program.flush());
      program.stream->throw_failure();
      FAIL() << "there is nobody";
    } catch (const crochet::IoError& error) {
      why = error.what();
    }
    ASSERT_NE(why.find("nobody could be reached within 0.05 s"), std::string::npos) << why;
  }
}

TEST(EventStream, ItsEndWaitsForNoServer) {
  const std::string address = unix_address();
  TestServer* self = nullptr;
  TestServer server(address, [&](grpc::ServerContext& context, auto&) { return self->sit(context); });
  self = &server;
  Program program(address, {.reply_seconds = 1e6, .close_seconds = 0.05});
  program.run();
  program.stream.reset();  // a test that hangs here fails
  EXPECT_EQ(program.reports.with("in all it missed 1 runs, and 1 tensors"), 1);
}

TEST(EventStream, ItsEndDoesNotWaitAgainForWhatWasWaitedForInVain) {
  const std::string address = unix_address();
  TestServer* self = nullptr;
  TestServer server(address, [&](grpc::ServerContext& context, auto&) { return self->sit(context); });
  self = &server;
  Program program(address, {.reply_seconds = 1e6, .close_seconds = 1e6});
  program.run();
  EXPECT_FALSE(program.stream->flush(0.01));
  program.stream.reset();  // a test that hangs here fails
}

TEST(EventStream, WithThePolicyFailAFailureThatNoCallThrowsIsReportedAtTheEnd) {
  const std::string address = unix_address();
  Program program(address, {.on_failure = debug::OnStreamFailure::fail, .connect_seconds = 0.05});
  program.run();
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(program.reports.with("nobody could be reached"), 0);
  program.stream.reset();
  EXPECT_EQ(program.reports.with("nobody could be reached"), 1);
}

TEST(EventStream, ASocketWithAnOddNameIsReached) {
  const std::string path = crochet::test::socket_path() + " 100%41?x#y";
  const std::string encoded = debug::DebugAddress("unix:" + path).target();
  TestServer server(encoded);
  ASSERT_TRUE(std::filesystem::exists(path));
  Program program("unix:" + path);
  program.run();
  ASSERT_TRUE(program.flush());
  EXPECT_EQ(program.statistics().runs, 1U);
  std::filesystem::remove(path);
}

/// A server with its own answer to a client's token, which then enables a watch.
struct TokenCase {
  const char* name;
  std::function<std::string(const std::string& hello)> challenge{};
  std::function<std::string(const std::string& method, const std::string& authorization)> proof{};
};
constexpr const char* secret = "open sesame";

TokenCase honest(const char* name, const std::string& token) {
  const auto server = std::make_shared<debug::TokenServer>(token);
  return {name, [server](const std::string& hello) { return server->challenge(hello); },
          [server](const std::string& method, const std::string& shown) {
            return server->check(method, shown).value_or("");
          }};
}
/// Sends two runs to such a server. Returns whether the stream obeyed it.
bool is_obeyed(const TokenCase& kind) {
  const std::string address = unix_address();
  TestServer server(address);
  server.challenge = kind.challenge, server.proof = kind.proof;
  server.queue(crochet::test::change(Change::READ_ONLY, "w", 0, "DebugIdentity"));
  Program program(address, {.token = secret});
  EXPECT_TRUE(program.run());
  EXPECT_TRUE(program.run());
  EXPECT_TRUE(program.flush());
  EXPECT_EQ(program.statistics().runs, 2U) << "it gets runs, whoever it is: " << kind.name;
  const bool obeyed = program.stream->wants("w:0:DebugIdentity", true);
  EXPECT_EQ(program.reports.with("did not prove that it has the token"), obeyed ? 0 : 1) << kind.name;
  server.stop();
  EXPECT_FALSE(server.metadata.empty());
  for (const std::string& text : server.metadata) {
    EXPECT_EQ(text.find(secret), std::string::npos) << kind.name << ": the token is on the wire: " << text;
  }
  return obeyed;
}

TEST(EventStream, OnlyAServerThatKnowsTheTokenIsObeyed) {
  std::string challenge;
  std::vector<std::string> proofs;
  const TokenCase good = honest("honest", secret);
  const TokenCase recorded{"honest, recorded",
                           [&](const std::string& hello) { return challenge = good.challenge(hello); },
                           [&](const std::string& method, const std::string& shown) {
                             return proofs.emplace_back(good.proof(method, shown));
                           }};
  EXPECT_TRUE(is_obeyed(recorded));
  ASSERT_EQ(proofs.size(), 2U);
  EXPECT_NE(proofs[0], proofs[1]);
  EXPECT_FALSE(is_obeyed(honest("of another token", "open sesamf")));
  EXPECT_FALSE(is_obeyed({"without a token"}));
  const auto last_word = [](const std::string& text) { return text.substr(text.rfind(' ') + 1); };
  EXPECT_FALSE(is_obeyed({"echoing", [](const std::string& hello) { return hello + " " + hello; },
                          [](const std::string&, const std::string& shown) { return shown; }}));
  EXPECT_FALSE(is_obeyed({"replaying", [&](const std::string&) { return challenge; },
                          [&](const std::string&, const std::string&) { return proofs[0]; }}));
  EXPECT_FALSE(is_obeyed({"relaying the handshake, and replaying", good.challenge,
                          [&](const std::string&, const std::string&) { return proofs[0]; }}));
  EXPECT_FALSE(is_obeyed({"relaying the handshake, and echoing", good.challenge,
                          [&](const std::string&, const std::string& shown) { return last_word(shown); }}));
}

TEST(EventStream, AServerThatStartsAgainProvesItselfAgain) {
  const std::string address = unix_address();
  Program program(address, {.token = secret, .backoff_seconds = 0});
  for (const char* node : {"a", "b"}) {
    const TokenCase kind = honest("honest", secret);
    TestServer server(address);
    server.challenge = kind.challenge, server.proof = kind.proof, server.refuses_without_proof = true;
    server.queue(crochet::test::change(Change::READ_ONLY, node, 0, "DebugIdentity"));
    for (int attempt = 0; attempt < 100 && !program.stream->wants(std::string(node) + ":0:DebugIdentity", true);
         ++attempt) {
      program.run();
      ASSERT_TRUE(program.flush());
    }
    EXPECT_TRUE(program.stream->wants(std::string(node) + ":0:DebugIdentity", true));
  }
}

TEST(EventStream, AServerThatForgetsTheHandshakeProvesItselfAgain) {
  const std::string address = unix_address();
  TestServer server(address);
  Program program(address, {.token = secret});
  const auto obeys = [&](const char* node) {
    server.queue(crochet::test::change(Change::READ_ONLY, node, 0, "DebugIdentity"));
    EXPECT_TRUE(program.run());
    EXPECT_TRUE(program.flush());
    return program.stream->wants(std::string(node) + ":0:DebugIdentity", true);
  };
  const TokenCase before = honest("before", secret), after = honest("after", secret);
  server.challenge = before.challenge, server.proof = before.proof;
  EXPECT_TRUE(obeys("a"));
  server.challenge = after.challenge, server.proof = after.proof;
  EXPECT_FALSE(obeys("b")) << "it serves a run whose authorization it does not know";
  EXPECT_TRUE(obeys("c"));
}

TEST(EventStream, ACallDuringARunTakesNothingFromTheProofOfItsStream) {
  const std::string address = unix_address();
  const TokenCase kind = honest("honest", secret);
  TestServer server(address);
  server.challenge = kind.challenge, server.proof = kind.proof;
  server.is_breakpoint = [](const std::string& key) { return key == "w:0:DebugIdentity"; };
  server.queue({});  // in reply to the graph
  server.queue(crochet::test::change(Change::READ_WRITE, "w", 0, "DebugIdentity"));
  server.queue(crochet::test::change(Change::READ_ONLY, "v", 0, "DebugIdentity"));  // in reply to the tensor
  Program program(address, {.token = secret, .lockstep_seconds = soon});
  ASSERT_TRUE(program.begin());
  program.stream->tell(crochet::proto::CallTraceback{});
  program.tensor("w", 4, true);
  program.stream->end_run();
  ASSERT_TRUE(program.flush());
  EXPECT_TRUE(program.stream->wants("v:0:DebugIdentity", true)) << "the reply behind the call is obeyed";
  EXPECT_EQ(program.reports.with("did not prove"), 0);
}

TEST(EventStream, SaysThatAnOldGrpcShouldNotMeetANetwork) {
  const debug::InsecureRemote remote{"192.0.2.1:6064"};
  for (const char* old : {"1.51.1", "1.58.2", "0.99", "1.6", ""}) {
    EXPECT_NE(debug::grpc_version_note(remote, old).find("1.58.3"), std::string::npos) << old;
    EXPECT_EQ(debug::grpc_version_note("localhost:6064", old), "") << old;
  }
  for (const char* good : {"1.58.3", "1.59.0-dev", "1.83.0", "2.0"}) {
    EXPECT_EQ(debug::grpc_version_note(remote, good), "") << good;
  }
}

TEST(EventStream, ATokenDoesNotCrossTheNetworkInTheClear) {
  EXPECT_THROW(debug::EventStream(debug::InsecureRemote{"192.0.2.1:6064"}, {.token = "secret"}), crochet::LogicError);
}

/// Keys and certificates, made by the openssl program for this test. The source tree contains no key that could be
/// mistaken for a real one, and no certificate that can expire.
class Certificates {
 public:
  Certificates() {
    std::filesystem::create_directory(folder_);
    make("server", "localhost"), make("client", "client"), make("other", "localhost");
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string text(const std::string& name) const { return debug::detail::pem_file(file(name)); }

 private:
  void make(const std::string& name, const std::string& host) const {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout " + file(name) +
        ".key -out " + file(name) + ".pem -subj /CN=" + host + " -addext subjectAltName=DNS:" + host + " 2>/dev/null";
    if (std::system(command.c_str()) != 0) ADD_FAILURE() << "is openssl there? " << command;
  }
  const std::string folder_ = crochet::test::socket_path() + ".certificates";
};

TEST(EventStream, TlsServersAreReachedByThoseTheyTrust) {
  const Certificates made;
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = made.text("client.pem");
  options.pem_key_cert_pairs.push_back({made.text("server.key"), made.text("server.pem")});
  TestServer server("127.0.0.1:0", nullptr, grpc::SslServerCredentials(options));
  const std::string port = ":" + std::to_string(server.port());
  struct Case {
    const char* what;
    debug::Tls tls;
    std::uint64_t runs;
  };
  const auto tls = [&](const char* roots, bool client) {
    return debug::tls_from_files(made.file(roots), client ? made.file("client.key") : "",
                                 client ? made.file("client.pem") : "");
  };
  for (Case c : {Case{"both know each other", tls("server.pem", true), 1},
                 Case{"no client certificate", tls("server.pem", false), 0},
                 Case{"another server's certificate is trusted", tls("other.pem", true), 0}}) {
    for (const std::string host : {"localhost", "127.0.0.1"}) {
      c.tls.server_name = host == "localhost" ? "" : "localhost";  // the name in the certificate
      Program program(debug::TlsServer{host + port, c.tls}, {.connect_seconds = c.runs ? soon : 0.5});
      program.run();
      ASSERT_TRUE(program.flush());
      EXPECT_EQ(program.statistics().runs, c.runs) << c.what << ", as " << host;
    }
  }
  EXPECT_THROW(debug::tls_from_files(made.file("nobody.pem")), crochet::IoError);
}

TEST(EventStream, TellsOfDropsWhenAsked) {
  const std::string address = unix_address();
  TestServer server(address);
  Program program(address, {.queue_bytes = 10'000, .tell_drops = true});
  program.run(20'000);
  program.run();
  ASSERT_TRUE(program.flush());
  const auto streams = server.streams();
  EXPECT_NE(streams.at(0).at(1).log_message().message().find("\"dropped\":0"), std::string::npos);
  EXPECT_NE(streams.at(1).at(0).log_message().message().find("\"dropped\":1"), std::string::npos);
}

TEST(EventStream, CallsOutsideOfStreamsArriveInOrder) {
  const std::string address = unix_address();
  TestServer server(address);
  Program program(address);
  crochet::proto::CallTraceback traceback;
  traceback.set_call_key("key");
  program.stream->tell(traceback);
  crochet::proto::DebuggedSourceFiles files;
  files.add_source_files()->set_file_path("model.hpp");
  program.stream->tell(files);
  program.run();
  ASSERT_TRUE(program.flush());
  ASSERT_EQ(server.tracebacks.size(), 1U);
  EXPECT_EQ(server.tracebacks[0].call_key(), "key");
  ASSERT_EQ(server.files.size(), 1U);
  EXPECT_EQ(server.files[0].file_path(), "model.hpp");
}

// A server may implement only the streams of the service, or reject other calls.
TEST(EventStream, AServerThatTakesNoCallsOutsideOfStreamsGetsItsRuns) {
  const std::string address = unix_address();
  TestServer server(address);
  int calls = 0;
  server.refusal = [&calls] {
    ++calls;
    return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "not here");
  };
  Program program(address);
  for (int i = 0; i < 3; ++i) {
    program.stream->tell(crochet::proto::CallTraceback{});
    crochet::proto::DebuggedSourceFiles files;
    files.add_source_files()->set_file_path("model.hpp");
    program.stream->tell(files);
    EXPECT_TRUE(program.run());
    ASSERT_TRUE(program.flush());
  }
  EXPECT_EQ(program.statistics().runs, 3U);
  EXPECT_EQ(program.statistics().failures, 0U);
  EXPECT_EQ(calls, 1);  // not repeated, since the reply would be the same
  EXPECT_EQ(program.reports.with("source files: not here"), 1);
}

TEST(EventStream, AServerThatIsStuckInACallDoesNotHoldUpTheEnd) {
  const std::string address = unix_address();
  TestServer server(address);
  std::mutex stuck;
  stuck.lock();
  server.refusal = [&stuck] {
    const std::lock_guard lock(stuck);
    return grpc::Status::OK;
  };
  Program program(address, {.reply_seconds = 1e6, .close_seconds = 0.05});
  crochet::proto::CallTraceback traceback;
  traceback.set_call_key("key");
  program.stream->tell(traceback);
  program.stream.reset();  // a test that hangs here fails
  stuck.unlock();
}

}  // namespace event_stream_test
