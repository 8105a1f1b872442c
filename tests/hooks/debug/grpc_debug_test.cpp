// SPDX-License-Identifier: Apache-2.0
// GrpcDebugHook and TensorBoardDebugHook in sessions. Faults of a stream's server:
// tests/debug/stream/event_stream_test.cpp. The original's servicer as receiver: tests/interop/grpc_debug.py.
#include <crochet/crochet.hpp>
#include <crochet/debug/probe/source_path.hpp>
#include <crochet/debug/stream/gates.hpp>
#include <crochet/hooks/debug/grpc_debug.hpp>
#include <crochet/hooks/every_n.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../debug/test_server.hpp"
#include "../../io/temporary_folder.hpp"

namespace grpc_debug_test {

namespace cr = crochet;
namespace debug = crochet::debug;
using namespace cr::literals;
using crochet::test::Change;
using crochet::test::TestServer;
using Keys = std::vector<std::string>;

constexpr double soon = 60;

/// A step function. Its third call throws if `fails` is set.
struct Machine {
  bool fails = false;
  int steps = 0;
  void operator()(auto& out) {
    if (++steps == 3 && fails) throw std::runtime_error("the machine broke");
    out["loss"_n] = 0.5F * static_cast<float>(steps);
    out["net/count"_n] = std::int32_t{steps};
  }
};
template <class... H>
auto session_of(Machine machine, H... hook) {
  return cr::MonitoredSession{
      cr::StepExecutor{machine, cr::output<float, "loss">, cr::output<std::int32_t, "net/count">},
      cr::HookChain{std::move(hook)...}};
}
constexpr auto all = cr::fetches<"loss", "net/count">;

std::string unix_address() {
  const std::string address = "unix:" + crochet::test::socket_path();
  debug::gates_of(address)->clear();
  return address;
}
/// Options for a missing server: the connection times out after 2 seconds, long enough to find a present server on a
/// busy machine. The pause after a failure never ends, since the clock stands still.
/// `connect_seconds`: shorter where no server has to be reached.
cr::GrpcDebugOptions without_server(double connect_seconds = 2) {
  return {
      .stream = {.connect_seconds = connect_seconds, .clock = [] { return 0.0; }, .report = [](std::string_view) {}}};
}
template <class Session>
auto& debugger(Session& session) {
  return session.hooks().template get<cr::GrpcDebugHook<>>();
}

/// The watch keys of a stream's tensors, in order.
Keys keys(const std::vector<crochet::proto::Event>& events) {
  Keys found;
  for (const crochet::proto::Event& event : events) {
    if (event.summary().value_size() > 0) found.push_back(event.summary().value(0).node_name());
  }
  return found;
}
template <class T>
T number(const crochet::proto::Event& event) {
  T value{};
  const std::string& bytes = event.summary().value(0).tensor().tensor_content();
  EXPECT_EQ(bytes.size(), sizeof value);
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

TEST(GrpcDebugHook, StreamsWhatARunMade) {
  const std::string address = unix_address();
  TestServer server(address);
  auto session = session_of({}, cr::GrpcDebugHook<>{address});
  for (int i = 0; i < 2; ++i) session.run(all);
  session.close();
  const auto streams = server.streams();
  ASSERT_EQ(streams.size(), 2U);
  ASSERT_GE(streams[0].size(), 4U);
  EXPECT_FALSE(streams[0][0].graph_def().empty());
  const auto metadata = nlohmann::json::parse(streams[0][1].log_message().message());
  EXPECT_EQ(metadata["output_names"], (nlohmann::json{"loss:0", "net/count:0"}));
  EXPECT_EQ(metadata["executor_step_index"], 0);
  const auto second = nlohmann::json::parse(streams[1][0].log_message().message());  // no graph: the server has it
  EXPECT_EQ(second["executor_step_index"], 1);
  EXPECT_GT(second["session_run_index"], metadata["session_run_index"]);
  int found = 0;
  double last = 0;
  for (const crochet::proto::Event& event : streams[1]) {
    EXPECT_GT(event.wall_time(), last);
    last = event.wall_time();
    if (event.summary().value_size() == 0) continue;
    const std::string& key = event.summary().value(0).node_name();
    if (key == "loss:0:DebugIdentity") found += number<float>(event) == 1.0F;
    if (key == "net/count:0:DebugIdentity") found += number<std::int32_t>(event) == 2;
  }
  EXPECT_EQ(found, 2);
}

TEST(GrpcDebugHook, SeesTheRunsThatItsDecoratorAdmits) {
  const std::string address = unix_address();
  TestServer server(address);
  auto session = session_of({}, cr::EveryN<3, cr::GrpcDebugHook<>>{{address}});
  for (int i = 0; i < 7; ++i) session.run(all);
  session.close();
  EXPECT_EQ(server.streams().size(), 2U);
}

TEST(GrpcDebugHook, EachServerOpensItsOwnGates) {
  const std::string first = unix_address(), second = unix_address();
  TestServer one(first), other(second);
  one.queue({});  // in reply to the graph
  one.queue(cr::test::change(Change::READ_ONLY, "loss", 0, "DebugIdentity"));
  auto session = session_of(
      {}, cr::GrpcDebugHook<>({first, second},
                              debug::WatchOptions{.debug_ops = {"DebugIdentity(gated_grpc=true)", "DebugNanCount"},
                                                  .node_name_regex_allowlist = "loss"}));
  session.run(all);
  ASSERT_TRUE(debugger(session).flush(soon));
  session.run(all);
  session.close();
  EXPECT_EQ(keys(one.streams().at(1)), (Keys{"loss:0:DebugIdentity", "loss:0:DebugNanCount"}));
  for (const auto& stream : other.streams()) EXPECT_EQ(keys(stream), Keys{"loss:0:DebugNanCount"});
}

TEST(GrpcDebugHook, ADeadServerTakesNothingFromTheOthersNorFromTheTraining) {
  const std::string alive = unix_address(), dead = unix_address();
  TestServer server(alive);
  auto session = session_of({}, cr::GrpcDebugHook<>({alive, dead}, without_server()));
  for (int i = 1; i <= 5; ++i) {
    const auto [loss, count] = session.run(all);
    EXPECT_EQ(count, i);
    ASSERT_TRUE(debugger(session).flush(soon));
  }
  EXPECT_EQ(debugger(session).statistics(0).runs, 5U);
  EXPECT_EQ(debugger(session).statistics(1).runs, 0U);
  EXPECT_EQ(debugger(session).statistics(1).failures, 1U);
  EXPECT_EQ(debugger(session).statistics(1).runs_skipped, 4U);
}

TEST(GrpcDebugHook, WithThePolicyFailARunThrows) {
  cr::GrpcDebugOptions options = without_server(0.2);
  options.stream.on_failure = debug::OnStreamFailure::fail;
  auto session = session_of({}, cr::GrpcDebugHook<>(unix_address(), options));
  session.run(all);
  ASSERT_TRUE(debugger(session).flush(soon));
  EXPECT_THROW(session.run(all), cr::IoError);
}

TEST(GrpcDebugHook, WithThePolicyFailTheEndThrowsWhatNoRunCould) {
  cr::GrpcDebugOptions options = without_server(0.2);
  options.stream.on_failure = debug::OnStreamFailure::fail;
  auto session = session_of({}, cr::GrpcDebugHook<>(unix_address(), options));
  session.run(all);
  EXPECT_THROW(session.close(), cr::IoError);
}

// Each reading of this clock is more than half of `close_seconds` after the previous one: the first server uses up the
// time that both share.
TEST(GrpcDebugHook, ServersShareTheTimeThatTheEndGivesThem) {
  const std::string first = unix_address(), stuck = unix_address();
  TestServer server(first);
  TestServer* self = nullptr;
  TestServer other(stuck, [&](grpc::ServerContext& context, auto&) { return self->sit(context); });
  self = &other;
  cr::GrpcDebugOptions options{
      .stream = {.reply_seconds = 1e6, .close_seconds = 1e6, .report = [](std::string_view) {}}};
  options.stream.clock = [seconds = std::make_shared<std::atomic<double>>(0.0)] { return *seconds += 6e5; };
  {
    auto session = session_of({}, cr::GrpcDebugHook<>({first, stuck}, options));
    session.run(all);
    session.close();
  }  // a test that hangs here fails
  EXPECT_EQ(server.streams().size(), 1U);
}

/// Calls a function in on_error.
struct OnError {
  using handles = cr::Phases<cr::phase::on_error>;
  std::function<void()> act;
  void on_error(auto& /*error*/) const { act(); }
};

// If the program does not catch the error, it ends after on_error: no destructor waits, so on_error has to.
TEST(GrpcDebugHook, AnErrorThatEndsTheSessionWaitsForWhatIsQueued) {
  const std::string address = unix_address();
  std::promise<void> failed;
  TestServer* self = nullptr;
  TestServer server(address, [&, slow = failed.get_future().share()](grpc::ServerContext&, auto& stream) {
    slow.wait();
    return self->answer(stream);
  });
  self = &server;
  const cr::GrpcDebugHook<>* hook = nullptr;
  std::uint64_t runs = 0;
  const debug::EventStreamOptions patient{.reply_seconds = soon, .drain_seconds = soon, .close_seconds = soon};
  auto session =
      session_of({.fails = true}, OnError{[&] { failed.set_value(); }},
                 cr::GrpcDebugHook<>(address, {.stream = patient}), OnError{[&] { runs = hook->statistics().runs; }});
  hook = &debugger(session);
  EXPECT_THROW(cr::run_session(session,
                               [](auto& s) {
                                 for (;;) s.run(all);
                               }),
               std::runtime_error);
  EXPECT_GE(runs, 2U);  // the run that failed may be missing
}

TEST(GrpcDebugHook, AnErrorThatEndsTheSessionWaitsOnceForAServerThatIsStuck) {
  const std::string address = unix_address();
  TestServer* self = nullptr;
  TestServer server(address, [&](grpc::ServerContext& context, auto&) { return self->sit(context); });
  self = &server;
  cr::GrpcDebugOptions options{
      .stream = {.reply_seconds = 1e6, .close_seconds = 1e6, .report = [](std::string_view) {}}};
  options.stream.clock = [seconds = std::make_shared<std::atomic<double>>(0.0)] { return *seconds += 2e6; };
  {
    auto session = session_of({.fails = true}, cr::GrpcDebugHook<>(address, options));
    EXPECT_THROW(cr::run_session(session,
                                 [](auto& s) {
                                   for (;;) s.run(all);
                                 }),
                 std::runtime_error);
  }  // a test that hangs here fails
}

// The failure of a server does not replace the error that ends the session.
TEST(GrpcDebugHook, WithThePolicyFailTheErrorThatEndsTheSessionStays) {
  const std::string alive = unix_address();
  TestServer server(alive);
  cr::GrpcDebugOptions options = without_server();
  options.stream.on_failure = debug::OnStreamFailure::fail;
  options.stream.close_seconds = soon;
  auto session = session_of({}, cr::GrpcDebugHook<>({unix_address(), alive}, options));
  EXPECT_THROW(cr::run_session(session,
                               [](auto& s) {
                                 s.run(all);
                                 throw std::out_of_range("the loop");
                               }),
               std::out_of_range);
  EXPECT_EQ(debugger(session).statistics(0).failures, 1U);
  const debug::EventStreamStatistics other = debugger(session).statistics(1);
  EXPECT_EQ(other.runs + other.runs_broken, 1U);  // its run was sent or aborted
}

// After fork() the child has the memory of the streams and none of their threads.
TEST(GrpcDebugHook, AChildOfForkRunsOnWithoutStreams) {
  const std::string address = unix_address();
  TestServer server(address);
  pid_t child = -1;
  {
    auto session = session_of({}, cr::GrpcDebugHook<>{address});
    session.run(all);
    ASSERT_TRUE(debugger(session).flush(soon));
    child = ::fork();
    if (child == 0) session.run(all);
    session.close();
  }
  if (child == 0) ::_exit(7);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  EXPECT_EQ(server.streams().size(), 1U);
}

TEST(GrpcDebugHook, ARunThatFailsLeavesWhatItHadReached) {
  const std::string address = unix_address();
  TestServer server(address);
  auto session = session_of({.fails = true}, cr::GrpcDebugHook<>{address});
  session.run(all);
  session.run(all);
  EXPECT_THROW(session.run(all), std::runtime_error);
  ASSERT_TRUE(debugger(session).flush(soon));
  EXPECT_EQ(debugger(session).statistics().failures, 0U);
  const auto streams = server.streams();
  ASSERT_GE(streams.size(), 2U);
  for (std::size_t i = 2; i < streams.size(); ++i) EXPECT_EQ(keys(streams[i]), Keys{});  // it had produced no value
}

TEST(GrpcDebugHook, OnlyThreadsWithTheNameAreSeen) {
  const std::string address = unix_address();
  TestServer server(address);
  cr::GrpcDebugOptions options{.thread_name_filter = "train"};
  std::string name = "training";
  options.thread_name = [&] { return name; };
  auto session = session_of({}, cr::GrpcDebugHook<>(address, options));
  session.run(all);
  name = "evaluation, not train";
  session.run(all);
  session.close();
  EXPECT_EQ(server.streams().size(), 1U);
}

TEST(GrpcDebugHook, RefusesAtOnceWhatCannotBeUsed) {
  EXPECT_THROW(cr::GrpcDebugHook<>("192.0.2.1:6064"), cr::LogicError);
  EXPECT_THROW(cr::GrpcDebugHook<>(std::vector<std::string>{}), cr::LogicError);
  EXPECT_THROW((cr::GrpcDebugHook<>({"localhost:1", "grpc://localhost:1"})), cr::LogicError);
}

TEST(TensorBoardDebugHook, TellsWhereTheRunIsAndWatchesWhatIsAskedFor) {
  const std::string address = unix_address();
  TestServer server(address);
  server.queue({});
  server.queue(cr::test::change(Change::READ_ONLY, "loss", 0, "DebugIdentity"));
  const std::uint32_t line = __LINE__ + 1;
  auto session = session_of({}, cr::TensorBoardDebugHook<>(address));
  session.run(all);
  ASSERT_TRUE(session.hooks().get<cr::TensorBoardDebugHook<>>().flush(soon));
  session.run(all);
  session.close();
  EXPECT_EQ(keys(server.streams().at(1)), Keys{"loss:0:DebugIdentity"});
  ASSERT_EQ(server.tracebacks.size(), 1U);  // one call: the graph is unchanged
  const crochet::proto::CallTraceback& told = server.tracebacks[0];
  EXPECT_EQ(told.call_type(), crochet::proto::CallTraceback::GRAPH_EXECUTION);
  EXPECT_EQ(told.call_key(), R"([["None"], ["loss:0", "net/count:0"]])");
  ASSERT_GT(told.origin_stack().traces_size(), 1);
  const auto& made = told.origin_stack().traces(told.origin_stack().traces_size() - 1);
  const std::filesystem::path here =
      debug::source_path(__FILE__);  // the compiler's path may be relative, to another folder
  ASSERT_TRUE(here.is_absolute()) << here;
  EXPECT_EQ(told.origin_id_to_string().at(made.file_id()), here);
  EXPECT_EQ(made.lineno(), static_cast<int>(line));
  EXPECT_EQ(told.origin_id_to_string().at(0), "");
  EXPECT_EQ(told.graph_version(), told.graph_traceback().log_entries_size());
  EXPECT_GE(told.graph_traceback().log_entries_size(), 2);
  ASSERT_EQ(server.files.size(), 1U);
  EXPECT_EQ(server.files[0].file_path(), here);
  ASSERT_GT(server.files[0].lines_size(), 0);
  EXPECT_EQ(server.files[0].lines(0), "// SPDX-License-Identifier: Apache-2.0");
  const auto modified = std::chrono::file_clock::to_sys(std::filesystem::last_write_time(here)).time_since_epoch();
  EXPECT_EQ(std::chrono::nanoseconds(server.files[0].last_modified()), modified);
}

TEST(TensorBoardDebugHook, FindsSourcesThatTheCompilerKnewByARelativePath) {
  const crochet::test::TemporaryFolder folder;
  const std::filesystem::path top = std::filesystem::canonical(folder.path());
  std::filesystem::create_directories(top / "build/dev/tests");
  std::filesystem::create_directories(top / "src");
  std::ofstream(top / "src/train.cpp") << "int main() {}\n";
  std::ofstream(top / "build/dev/made.hpp") << "\n";
  const auto found = [&](const char* path) { return debug::source_path(path, top / "build/dev/tests/program"); };
  EXPECT_EQ(found("../../src/train.cpp"), top / "src/train.cpp");  // the compiler ran in build/dev
  EXPECT_EQ(found("src/train.cpp"), top / "src/train.cpp");        // or in the top folder
  EXPECT_EQ(found("./made.hpp"), top / "build/dev/made.hpp");
  EXPECT_EQ(found("src"), "src");  // a folder, not a file
  EXPECT_EQ(found("src/nothing.cpp"), "src/nothing.cpp");
  EXPECT_EQ(found("/no/such/train.cpp"), "/no/such/train.cpp");
  EXPECT_EQ(found(""), "");
  EXPECT_EQ(debug::source_path("src/train.cpp", "program"), "src/train.cpp");

  const std::string address = unix_address();
  TestServer server(address);
  const std::filesystem::path train = (top / "src/train.cpp").lexically_relative(std::filesystem::current_path());
  ASSERT_TRUE(train.is_relative());
  cr::TensorBoardDebugOptions options{.source_files = {"nobody/has/this.cpp"}};
  auto session = session_of({}, cr::TensorBoardDebugHook<>(address, options, {train, "main", 7}));
  session.run(all);
  session.close();
  ASSERT_EQ(server.files.size(), 2U);
  EXPECT_EQ(server.files[0].file_path(), top / "src/train.cpp");
  ASSERT_EQ(server.files[0].lines_size(), 1);
  EXPECT_EQ(server.files[0].lines(0), "int main() {}");
  EXPECT_EQ(server.files[1].file_path(), "nobody/has/this.cpp");  // listed with its name and no lines: it is missing
  EXPECT_EQ(server.files[1].lines_size(), 0);
}

TEST(TensorBoardDebugHook, TellsAServerAgainThatFailed) {
  const std::string address = unix_address();
  cr::TensorBoardDebugOptions options{.stream = without_server().stream};
  double now = 0;
  options.stream.clock = [&] { return now; };  // changed only while the stream's thread waits
  auto session = session_of({}, cr::TensorBoardDebugHook<>(address, options));
  auto& hook = session.hooks().get<cr::TensorBoardDebugHook<>>();
  session.run(all);
  ASSERT_TRUE(hook.flush(soon));
  now = 100;
  TestServer server(address);
  session.run(all);
  session.close();
  EXPECT_EQ(server.tracebacks.size(), 1U);
  EXPECT_EQ(server.streams().size(), 1U);
}

}  // namespace grpc_debug_test
