// SPDX-License-Identifier: Apache-2.0
// crochet-debugd within this process, with correct and with misbehaving clients.
#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/stat.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/base/error.hpp>
#include <crochet/debug/dump/dump_reader.hpp>
#include <crochet/debug/server/event_listener.hpp>
#include <crochet/debug/stream/debug_channel.hpp>
#include <crochet/testing/counting_new.hpp>

#include "../debug/stream_events.hpp"
#include "../io/temporary_folder.hpp"
#include "debug_client.hpp"
#include "lines.hpp"
#include "run_recorder.hpp"
#include "server.hpp"
#include "source_store.hpp"
#include "version_note.hpp"

namespace {

using namespace crochet::test;
using namespace crochet::debugd;
using crochet::debug::DumpReader;
using crochet::debug::DumpRun;
using Texts = std::vector<std::string>;

constexpr auto ok = grpc::StatusCode::OK;

struct Debugd {
  explicit Debugd(Options options = {}) : server(prepared(std::move(options)), lines, [this] { ++finished; }) {}

  static Options prepared(Options options) {
    if (options.listen == Options{}.listen)
      options.listen = "127.0.0.1:0";  // not a name: its address depends on the machine
    options.json = true;
    return options;
  }
  const std::string& address() const { return server.address(); }

  Lines lines;
  std::atomic<int> finished{0};
  Server server;
};

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

/// Sends a run in the order of TensorFlow, with the given tensors.
grpc::Status send_run(DebugClient& client, bool with_graph, const std::vector<crochet::proto::Event>& tensors) {
  if (with_graph) {
    client.send(graph_events(small_graph(), 100));
    EXPECT_TRUE(client.reply()) << "after the last chunk of a graph";
  }
  client.send(run_event());
  EXPECT_TRUE(client.reply()) << "after the metadata";
  client.send(tensors);
  return client.finish();
}

// ---- dumps

TEST(Debugd, a_run_becomes_a_dump_that_opens) {
  const TemporaryFolder folder;
  Debugd debugd({.dump = folder / "dumps"});
  const std::vector<float> large = ramp(3'000'000);  // 12 MB
  std::vector<crochet::proto::Event> tensors = chunk_events({.node = "net/a"}, large, 4'096'000);
  std::swap(tensors[0], tensors[2]);
  tensors.push_back(whole_event({.node = "net/b", .time = first_time + 1}, {1, NAN, 3}));
  DebugClient client(debugd.address());
  ASSERT_EQ(send_run(client, true, tensors).error_code(), ok);
  EXPECT_EQ(client.late_replies(), 0) << "nothing else is answered";

  const auto line = debugd.lines.next("run");
  EXPECT_EQ(line.at("tensors"), 2);
  EXPECT_EQ(line.at("graphs"), 1);
  EXPECT_EQ(line.at("run"), 7);
  EXPECT_EQ(line.at("first_nan"), "net/b:0:DebugIdentity");
  EXPECT_EQ(line.at("error"), nullptr);
  const DumpRun run(line.at("directory").get<std::string>());
  EXPECT_TRUE(run.problems().empty());
  EXPECT_TRUE(run.complete());
  EXPECT_FALSE(std::filesystem::exists(run.directory() / ".incomplete"));
  ASSERT_EQ(run.tensors().size(), 2u);
  EXPECT_EQ(run.tensors()[0].name.node, "net/a");
  EXPECT_EQ(run.tensors()[0].name.time, 1'700'000'000'000'000u);
  ASSERT_EQ(run.devices().size(), 1u);
  EXPECT_EQ(run.devices()[0].name, cpu0);
  EXPECT_TRUE(run.devices()[0].has_graph);
  ASSERT_EQ(run.metadata().size(), 1u);
  EXPECT_EQ(run.metadata()[0].session_run_index, 7);
  ASSERT_EQ(run.fetches().size(), 1u);
  EXPECT_EQ(run.fetches()[0], "['net/b:0']");
  EXPECT_EQ(run.feeds()[0], "dict_keys(['x:0'])");
  std::ifstream file(run.directory() / run.tensors()[0].file, std::ios::binary);
  crochet::proto::Event event;
  ASSERT_TRUE(event.ParseFromIstream(&file));
  EXPECT_EQ(event.summary().value(0).tensor().tensor_content(), bytes_of(large));
  EXPECT_EQ(event.summary().value(0).metadata().plugin_data().content(), plugin_json(cpu0, 0, 1, 0));
  EXPECT_EQ(debugd.server.exit_status(), 0);
}

TEST(Debugd, runs_without_a_graph_get_that_of_their_kind_if_it_fits) {
  const TemporaryFolder folder;
  Debugd debugd({.dump = folder / "dumps"});
  const auto has_graph = [&](bool with_graph, const std::string& node) {
    DebugClient client(debugd.address());
    EXPECT_EQ(send_run(client, with_graph, {whole_event({.node = node}, {1})}).error_code(), ok);
    return DumpRun(debugd.lines.next("run").at("directory").get<std::string>()).devices()[0].has_graph;
  };
  EXPECT_FALSE(has_graph(false, "net/a")) << "there was none yet";
  EXPECT_TRUE(has_graph(true, "net/a"));
  EXPECT_TRUE(has_graph(false, "net/b"));
  EXPECT_FALSE(has_graph(false, "other")) << "readers refuse a dump with a tensor of a node that its graph has not";
}

TEST(Debugd, what_the_disk_does_not_take_is_counted_and_ends_nothing) {
  const TemporaryFolder folder;
  // Blocks: two for the folder of the run and its mark, two for the graph and its folder, three for the run's
  // description, two for the first tensor and the folder net, one for the other small tensor. The total must be below
  // the limit.
  Debugd debugd({.dump = folder / "dumps", .disk_bytes = 10 * 4096 + 1});
  DebugClient client(debugd.address());
  EXPECT_EQ(send_run(client, true,
                     {whole_event({.node = "net/a"}, ramp(10)), whole_event({.node = "x"}, ramp(2'000)),
                      whole_event({.node = "net/b"}, ramp(5))})
                .error_code(),
            ok);
  const auto line = debugd.lines.next("run");
  EXPECT_EQ(line.at("tensors"), 3);
  EXPECT_EQ(line.at("not_written"), 1);
  EXPECT_EQ(line.at("why_not_written"), "the limit of --max-dump-bytes");
  EXPECT_EQ(DumpRun(line.at("directory").get<std::string>()).tensors().size(), 2u);
  EXPECT_EQ(debugd.server.exit_status(), 3);
}

TEST(Debugd, the_disk_limit_is_for_graphs_metadata_and_empty_tensors_too) {
  const TemporaryFolder folder;
  Debugd debugd({.dump = folder / "dumps", .disk_bytes = 20 * 4096});
  for (int i = 0; i < 6; ++i) {
    DebugClient client(debugd.address());
    EXPECT_EQ(send_run(client, true, {whole_event({.node = "net/a"}, {})}).error_code(), ok);
    debugd.lines.next("run");
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    files += entry.is_regular_file();
  EXPECT_LT(files, 20u);
  EXPECT_GT(files, 8u);
}

TEST(Debugd, names_that_are_too_long_for_a_file_are_counted_and_end_nothing) {
  const TemporaryFolder folder;
  Debugd debugd({.dump = folder / "dumps"});
  DebugClient client(debugd.address());
  EXPECT_EQ(
      send_run(client, false, {whole_event({.node = std::string(300, 'a')}, {1}), whole_event({}, {1})}).error_code(),
      ok);
  const auto line = debugd.lines.next("run");
  EXPECT_EQ(line.at("not_written"), 1);
  EXPECT_EQ(DumpRun(line.at("directory").get<std::string>()).tensors().size(), 1u);
}

TEST(Debugd, ends_after_the_runs_that_were_asked_for) {
  Debugd debugd({.runs = 2});
  for (const int wanted : {0, 1}) {
    DebugClient client(debugd.address());
    EXPECT_EQ(send_run(client, false, {whole_event({}, {1})}).error_code(), ok);
    EXPECT_EQ(debugd.finished, wanted);
  }
  EXPECT_EQ(debugd.server.exit_status(), 0);
}

// ---- gates and breakpoints

TEST(Debugd, gates_are_said_with_the_next_reply_and_again_on_each_stream) {
  Debugd debugd({.watch = {"net/a"}});
  {
    DebugClient client(debugd.address());
    client.send(graph_events(small_graph()));
    EXPECT_EQ(client.changes(), Texts{"2 net/a:0:DebugIdentity"});
    EXPECT_TRUE(debugd.server.command("watch net/b:1:DebugNanCount"));
    client.send(run_event());
    EXPECT_EQ(client.changes(), Texts{"2 net/b:1:DebugNanCount"}) << "only what is new";
    EXPECT_TRUE(client.finish().ok());
  }
  EXPECT_TRUE(debugd.server.command("unwatch net/a"));
  for (int i = 0; i < 3; ++i) {
    DebugClient client(debugd.address());
    client.send(run_event());
    EXPECT_EQ(client.changes(), (Texts{"1 net/a:0:DebugIdentity", "2 net/b:1:DebugNanCount"}))
        << "each may be another program, which has to hear what is off";
    EXPECT_TRUE(client.finish().ok());
  }
}

TEST(Debugd, list_shows_what_is_on_and_what_could_be) {
  Debugd debugd({.breakpoints = {"net/b"}});
  DebugClient client(debugd.address());
  send_run(client, true, {});
  debugd.lines.next("run");
  EXPECT_TRUE(debugd.server.command("list"));
  const auto keys = debugd.lines.next("list").at("keys");
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].at("key"), "net/b:0:DebugIdentity");
  EXPECT_EQ(keys[0].at("state"), "break");
  EXPECT_EQ(keys[1].at("key"), "net/a:0:DebugIdentity");
  EXPECT_EQ(keys[1].at("state"), "gated");
}

TEST(Debugd, a_breakpoint_holds_the_answer_until_continue) {
  Debugd debugd({.breakpoints = {"net/a"}});
  DebugClient client(debugd.address());
  client.send(run_event());
  EXPECT_EQ(client.changes(), Texts{"3 net/a:0:DebugIdentity"});
  for (int debug_event = 0; debug_event < 2; ++debug_event) {
    client.send(chunk_events({}, {1, 2, 3, 4}, 8));
    auto reply = std::async(std::launch::async, [&] { return client.reply().has_value(); });
    EXPECT_EQ(debugd.lines.next("held").at("key"), "net/a:0:DebugIdentity");
    EXPECT_EQ(reply.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    EXPECT_TRUE(debugd.server.command("continue"));
    EXPECT_EQ(debugd.lines.next("continue").at("streams"), 1);
    EXPECT_TRUE(reply.get());
  }
  EXPECT_TRUE(debugd.server.command("watch net/a"));
  client.send(whole_event({}, {1}));
  EXPECT_EQ(client.changes(), Texts{"2 net/a:0:DebugIdentity"}) << "not held, but the client still waits for an answer";
  EXPECT_TRUE(client.finish().ok());
}

TEST(Debugd, holds_and_answers_only_where_a_breakpoint_was_sent_on_the_stream) {
  Debugd debugd({.breakpoints = {"net/a"}});
  EXPECT_TRUE(debugd.server.command("unwatch net/a"));
  EXPECT_TRUE(debugd.server.command("break net/b"));
  DebugClient client(debugd.address());
  client.send(run_event());
  EXPECT_EQ(client.changes(), (Texts{"1 net/a:0:DebugIdentity", "3 net/b:0:DebugIdentity"}));
  client.send(whole_event({}, {1}));  // net/a, which was a breakpoint: no answer
  EXPECT_TRUE(debugd.server.command("break net/c"));
  client.send(whole_event({.node = "net/c"}, {1}));  // the client has not heard of it
  client.send(whole_event({.node = "net/b"}, {1}));
  EXPECT_EQ(debugd.lines.next("held").at("key"), "net/b:0:DebugIdentity");
  EXPECT_TRUE(debugd.server.command("continue"));
  EXPECT_EQ(client.changes(), Texts{"3 net/c:0:DebugIdentity"});
  EXPECT_TRUE(client.finish().ok());
  EXPECT_EQ(client.late_replies(), 0);
}

TEST(Debugd, a_breakpoint_does_not_hold_for_longer_than_it_may) {
  Debugd never({.breakpoints = {"net/a"}, .limits = {.hold_seconds = 0}});
  Debugd shortly({.breakpoints = {"net/a"}, .limits = {.hold_seconds = 0.05}});
  for (Debugd* debugd : {&never, &shortly}) {
    DebugClient client(debugd->address());
    EXPECT_TRUE(send_run(client, false, {whole_event({}, {1})}).ok());
    EXPECT_EQ(client.late_replies(), 1);
  }
}

TEST(Debugd, stopping_frees_what_is_held) {
  Debugd debugd({.breakpoints = {"net/a"}});
  DebugClient client(debugd.address());
  client.send(run_event());
  EXPECT_TRUE(client.reply());
  client.send(whole_event({}, {1}));
  debugd.lines.next("held");
  debugd.server.stop(0.2);
  EXPECT_FALSE(client.finish().ok()) << "broken off: it had not said that it was at its end";
  EXPECT_NE(debugd.lines.next("run").at("error"), nullptr);
}

TEST(Debugd, commands_that_make_no_sense_are_answered) {
  Debugd debugd;
  for (const char* line :
       {"watch", "watch a b", "stop", "continue now", "watch ../../a", "watch a:b:c:d", "break a:0:x_y"}) {
    EXPECT_TRUE(debugd.server.command(line));
    EXPECT_NE(debugd.lines.next("error").at("why").get<std::string>().find("crochet: "), std::string::npos) << line;
  }
  const auto answer = [&](const std::string& line) {
    EXPECT_TRUE(debugd.server.command(line));
    return debugd.lines.next("error").at("why").get<std::string>();
  };
  EXPECT_EQ(answer("watch"), "crochet: what is wanted is `watch KEY`; a KEY is node, node:slot or node:slot:DebugOp");
  EXPECT_EQ(answer("break a b"),
            "crochet: what is wanted is `break KEY`; a KEY is node, node:slot or node:slot:DebugOp");
  EXPECT_EQ(answer("quit now"), "crochet: what is wanted is `quit`, and nothing behind it");
  EXPECT_EQ(answer("stop a"), "crochet: there is no command \"stop\"; `help` shows those there are");
  EXPECT_EQ(answer("\x1b[2J").find('\x1b'), std::string::npos) << "it goes back to a terminal";
  EXPECT_TRUE(debugd.server.command(""));
  EXPECT_TRUE(debugd.server.command("  help \t\r"));
  debugd.lines.next("help");
  EXPECT_FALSE(debugd.server.command(" quit "));
}

TEST(Debugd, graphs_that_were_not_used_for_long_are_forgotten) {
  GraphMemory memory(100'000);
  const auto graphs = [](std::size_t bytes) {
    crochet::debug::ReceivedGraph graph;
    graph.graph_def.assign(bytes, 'x');
    return std::make_shared<const std::vector<crochet::debug::ReceivedGraph>>(1, graph);
  };
  memory.remember("a", graphs(20'000));
  memory.remember("b", graphs(20'000));
  EXPECT_TRUE(memory.recall("a"));
  memory.remember("c", graphs(20'000));
  EXPECT_TRUE(memory.recall("a"));
  EXPECT_FALSE(memory.recall("b"));
  memory.remember("c", graphs(60'000));
  EXPECT_FALSE(memory.recall("c")) << "larger than all that may be kept";
  EXPECT_TRUE(memory.recall("a"));
}

TEST(Debugd, the_memory_for_graphs_counts_all_that_is_kept_with_them) {
  GraphMemory memory(100'000);
  crochet::debug::ReceivedGraph graph;
  graph.graph_def = "x";
  const auto recalled = [&](const std::string& kind) {
    memory.remember(kind, std::make_shared<const std::vector<crochet::debug::ReceivedGraph>>(1, graph));
    return memory.recall(kind) != nullptr;
  };
  EXPECT_TRUE(recalled("a"));
  EXPECT_FALSE(recalled(std::string(100'000, 'a'))) << "the names of feeds and fetches come from the sender, too";
  for (int i = 0; i < 1'000; ++i) recalled(std::to_string(i));
  EXPECT_EQ(memory.recall("0"), nullptr) << "an entry without names needs memory, too";
  graph.nodes.assign(5'000, "a");  // 5 bytes each in the graph
  EXPECT_FALSE(recalled("b"));
  graph.nodes.clear();
  graph.gated.assign(2'000, {"a", 0, "b"});
  EXPECT_FALSE(recalled("c"));
}

// ---- misbehaving clients

grpc::Status status_of(const Debugd& debugd, const std::string& bytes) {
  DebugClient client(debugd.address());
  client.send_bytes(bytes);
  return client.finish();
}

TEST(DebugdHostile, what_is_wrong_ends_its_stream_with_the_reason_and_no_other) {
  const TemporaryFolder folder;
  Debugd debugd({.dump = folder / "dumps", .limits = {.message_bytes = 1 << 20}});
  DebugClient good(debugd.address());
  good.send(run_event());
  EXPECT_TRUE(good.reply());
  const auto refused = [&](const std::string& bytes, grpc::StatusCode code, const std::string& reason) {
    const grpc::Status status = status_of(debugd, bytes);
    EXPECT_EQ(status.error_code(), code) << reason;
    EXPECT_NE(status.error_message().find(reason), std::string::npos) << status.error_message();
    EXPECT_NE(debugd.lines.next("run").at("error"), nullptr);
  };
  using grpc::StatusCode;
  refused("this is no message", StatusCode::INVALID_ARGUMENT, "no Event");
  refused(whole_event({.node = "../../../tmp/x"}, {1}).SerializeAsString(), StatusCode::INVALID_ARGUMENT,
          "name of a node");
  refused(whole_event({.device = "../../x,y"}, {1}).SerializeAsString(), StatusCode::INVALID_ARGUMENT,
          "name of a device");
  refused(chunk_event({}, {2}, "xxxx", 2'000'000'000, 0).SerializeAsString(), StatusCode::RESOURCE_EXHAUSTED, "chunks");
  refused(whole_event({}, ramp(300'000)).SerializeAsString(), StatusCode::RESOURCE_EXHAUSTED,
          "1048576 bytes in one message");
  const grpc::Status far_too_large = status_of(debugd, whole_event({}, ramp(1 << 20)).SerializeAsString());
  EXPECT_EQ(far_too_large.error_code(), StatusCode::RESOURCE_EXHAUSTED) << "gRPC itself does not take that";
  debugd.lines.next("run");
  EXPECT_TRUE(good.send(whole_event({}, {1})));
  EXPECT_TRUE(good.finish().ok());
  EXPECT_EQ(debugd.lines.next("run").at("tensors"), 1);
  EXPECT_EQ(debugd.server.listener().pending_bytes(), 0u);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    const std::string path = entry.path().string();
    EXPECT_TRUE(path.starts_with((folder / "dumps").string())) << path;
  }
}

TEST(DebugdHostile, a_flood_of_streams_is_refused_and_then_there_is_room_again) {
  Debugd debugd({.limits = {.streams = 2}});
  auto first = std::make_unique<DebugClient>(debugd.address());
  DebugClient second(debugd.address());
  for (DebugClient* client : {first.get(), &second}) {
    client->send(run_event());
    EXPECT_TRUE(client->reply());
  }
  for (int i = 0; i < 30; ++i) {
    DebugClient more(debugd.address());
    EXPECT_EQ(more.finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  EXPECT_TRUE(first->finish().ok());
  DebugClient third(debugd.address());
  EXPECT_EQ(send_run(third, true, {whole_event({}, {1})}).error_code(), ok);
  EXPECT_TRUE(second.finish().ok()) << "who was there was not disturbed";
}

TEST(DebugdHostile, memory_for_the_incomplete_is_shared_and_bounded) {
  Debugd debugd({.limits = {.pending_bytes = 1'500'000}});
  DebugClient one(debugd.address()), two(debugd.address());
  one.send(run_event());
  EXPECT_TRUE(one.reply());
  one.send(chunk_events({}, ramp(300'000), 600'000)[0]);
  while (debugd.server.listener().pending_bytes() < 600'000) std::this_thread::yield();
  two.send(chunk_events({}, ramp(300'000), 1'000'000)[0]);
  const grpc::Status status = two.finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(status.error_message().find("with all other streams"), std::string::npos);
  one.send(chunk_events({}, ramp(300'000), 600'000)[1]);
  EXPECT_TRUE(one.finish().ok());
  EXPECT_EQ(debugd.server.listener().pending_bytes(), 0u);
}

TEST(DebugdHostile, streams_on_which_nothing_comes_are_ended) {
  std::atomic<double> now{0};
  crochet::debug::WatchTable watches;
  crochet::debug::Breakpoints breakpoints;
  std::promise<std::string> ended;
  struct Sink : crochet::debug::StreamSink {
    explicit Sink(std::promise<std::string>& to) : ended(to) {}
    void end(const crochet::debug::StreamEnd& end) noexcept override { ended.set_value(end.error); }
    std::promise<std::string>& ended;
  };
  crochet::debug::EventListener listener({.idle_seconds = 60},
                                         {[&](const std::string&) { return std::make_unique<Sink>(ended); }}, watches,
                                         breakpoints, [&] { return now.load(); });
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port).RegisterService(&listener);
  const auto server = builder.BuildAndStart();
  DebugClient client("127.0.0.1:" + std::to_string(port));
  client.send(run_event());
  EXPECT_TRUE(client.reply());
  now = 60;
  EXPECT_EQ(listener.end_idle_streams(), 0u);
  now = 61;
  EXPECT_EQ(listener.end_idle_streams(), 1u);
  EXPECT_EQ(listener.end_idle_streams(), 0u) << "once";
  EXPECT_EQ(client.finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_NE(ended.get_future().get().find("too long"), std::string::npos);
  server->Shutdown();
}

TEST(DebugdHostile, a_client_that_goes_away_costs_its_own_run) {
  Debugd debugd;
  {
    DebugClient client(debugd.address());
    client.send(run_event());
    EXPECT_TRUE(client.reply());
    client.send(chunk_events({}, ramp(100), 200)[0]);
  }  // disconnects without closing the stream
  const auto line = debugd.lines.next("run");
  EXPECT_NE(line.at("error"), nullptr);
  EXPECT_EQ(debugd.server.exit_status(), 3);
  DebugClient next(debugd.address());
  EXPECT_TRUE(send_run(next, false, {}).ok());
}

/// The text after "is incomplete: " in the only problem of the only run of a dump.
std::string why_incomplete(const std::filesystem::path& root) {
  const DumpRun run = DumpReader(root).open(0);
  EXPECT_FALSE(run.complete());
  EXPECT_EQ(run.problems().size(), 1u);
  const std::string problem = run.problems().empty() ? "" : run.problems()[0], before = " is incomplete: ";
  const std::size_t at = problem.find(before);
  return at == std::string::npos ? problem : problem.substr(at + before.size());
}

TEST(Debugd, a_run_whose_client_was_killed_is_marked_in_its_folder) {
  const TemporaryFolder folder;
  Debugd debugd({.dump = folder / "dumps"});
  {
    DebugClient client(debugd.address());
    client.send(run_event());
    EXPECT_TRUE(client.reply());
    EXPECT_EQ(why_incomplete(folder / "dumps"), "its stream had not ended when crochet-debugd was stopped")
        << "this is what a killed server leaves";
    client.send(whole_event({}, ramp(100)));
  }  // disconnects without closing the stream
  const auto line = debugd.lines.next("run");
  EXPECT_EQ(why_incomplete(folder / "dumps"), "its stream ended early: " + line.at("error").get<std::string>());
}
TEST(Debugd, a_run_of_which_chunks_are_missing_is_marked_in_its_folder) {
  const TemporaryFolder folder;
  Debugd debugd({.dump = folder / "dumps"});
  DebugClient client(debugd.address());
  (void)send_run(client, false, {chunk_events({}, ramp(100), 200)[0]});
  const auto line = debugd.lines.next("run");
  EXPECT_EQ(why_incomplete(folder / "dumps"), line.at("error").is_null()
                                                  ? "chunks of 1 tensors or graphs did not come"
                                                  : "its stream ended early: " + line.at("error").get<std::string>());
}

// ---- authentication

TEST(Debugd, a_token_is_proved_by_both) {
  const TemporaryFolder folder;
  std::ofstream(folder / "token") << "secret-42\nnot this\n";
  Debugd debugd({.token_file = folder / "token"});
  for (const char* token : {"", "secret-4", "secret-43", "secret-42x"}) {
    DebugClient client(debugd.address(), token);
    EXPECT_EQ(client.finish().error_code(), grpc::StatusCode::UNAUTHENTICATED) << token;
  }
  EXPECT_EQ(debugd.lines.next("refused").at("so_far"), 1);
  DebugClient client(debugd.address(), "secret-42");
  EXPECT_TRUE(client.server_proves_token());
  EXPECT_EQ(send_run(client, true, {}).error_code(), ok);
  const auto stub = crochet::proto::EventListener::NewStub(channel_to(debugd.address()));
  grpc::ClientContext context;
  crochet::proto::EventReply reply;
  EXPECT_EQ(stub->SendTracebacks(&context, {}, &reply).error_code(), grpc::StatusCode::UNAUTHENTICATED);
  grpc::ClientContext in_the_clear;
  in_the_clear.AddMetadata("authorization", "Bearer secret-42");
  EXPECT_EQ(stub->SendTracebacks(&in_the_clear, {}, &reply).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST(Debugd, a_unix_socket_is_its_owners) {
  const TemporaryFolder folder;
  const std::string path = folder / "100%41 ?#.sock";  // with special characters of URIs
  Debugd debugd({.listen = "unix:" + path});
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0077, 0u);
  DebugClient client(crochet::debug::unix_target(path));
  EXPECT_EQ(send_run(client, true, {}).error_code(), ok);
  EXPECT_EQ(debugd.address(), "unix:" + path);
}

TEST(Debugd, localhost_is_where_it_listens_and_where_clients_go) {
  addrinfo* found = nullptr;
  if (getaddrinfo("localhost", nullptr, nullptr, &found) != 0) GTEST_SKIP() << "this machine does not know localhost";
  freeaddrinfo(found);
  Debugd debugd({.listen = "localhost:0"});
  EXPECT_TRUE(debugd.address().starts_with("localhost:")) << debugd.address();
  DebugClient client(crochet::debug::make_debug_channel(debugd.address(), 1 << 20));
  EXPECT_EQ(send_run(client, true, {}).error_code(), ok);
}

TEST(Debugd, addresses_of_others_need_a_word) {
  for (const char* local : {"localhost:1", "127.0.0.1:1", "127.8.9.1:0", "[::1]:5", "unix:/x", "unix-abstract:x"}) {
    EXPECT_TRUE(is_local(local)) << local;
  }
  for (const char* other :
       {"0.0.0.0:1", "[::]:1", "127.example.org:1", "localhost.example.org:1", "10.0.0.1:5", ":5", ""}) {
    EXPECT_FALSE(is_local(other)) << other;
    EXPECT_THROW(Debugd({.listen = other}), crochet::LogicError) << other;
  }
  for (const char* none : {"localhost", "localhost:", "localhost:65536", "localhost:1x", "localhost:-1", ":0",
                           "unix:", "unix://host/x", "unix:/a\nb"}) {
    EXPECT_THROW(Debugd({.listen = none, .insecure_remote = true}), crochet::LogicError) << none;
  }
  EXPECT_NO_THROW(Debugd({.listen = "0.0.0.0:0", .insecure_remote = true}));
  EXPECT_THROW(Debugd({.tls_certificate = "only"}), crochet::LogicError);
  EXPECT_THROW(Debugd({.tls_client_authority = "only"}), crochet::LogicError);
  EXPECT_THROW(Debugd({.tls_certificate = "/no/such", .tls_key = "/no/such"}), crochet::IoError);
  EXPECT_THROW(Debugd({.token_file = "/no/such"}), crochet::IoError);
  EXPECT_THROW(Debugd({.keep_sources = true}), crochet::LogicError);
  EXPECT_THROW(Debugd({.dump = "/dev/null/x"}), crochet::IoError);
  EXPECT_THROW(Debugd({.watch = {"a b"}}), crochet::LogicError);
  EXPECT_TRUE(is_old_grpc("1.51.1"));
  EXPECT_FALSE(is_old_grpc("1.58.3"));
}

/// Makes a key and a certificate for that name, for this test only.
void make_certificate(const TemporaryFolder& folder, const std::string& name) {
  const std::string file = folder / name;
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout " + file +
      ".key -out " + file + ".pem -subj /CN=" + name + " -addext subjectAltName=DNS:localhost 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << "is openssl there? " << command;
}

TEST(Debugd, tls_lets_in_those_with_the_right_certificate) {
  const TemporaryFolder folder;
  for (const char* name : {"server", "client", "other"}) make_certificate(folder, name);
  Debugd debugd({.tls_certificate = folder / "server.pem",
                 .tls_key = folder / "server.key",
                 .tls_client_authority = folder / "client.pem"});
  using Connect = DebugClient::Connect;
  const auto code = [&](const std::string& client, Connect connect = Connect::once) {
    if (client.empty()) return DebugClient(channel_to(debugd.address())).finish().error_code();
    crochet::debug::Tls tls =
        crochet::debug::tls_from_files(folder / "server.pem", folder / (client + ".key"), folder / (client + ".pem"));
    tls.server_name = "localhost";  // the name in the certificate
    const crochet::debug::TlsServer server{debugd.address(), tls};
    return DebugClient(crochet::debug::make_debug_channel(server, 1 << 20), connect).finish().error_code();
  };
  EXPECT_EQ(code("client", Connect::again_after_failures), ok);
  EXPECT_EQ(code("other"), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(code(""), grpc::StatusCode::UNAVAILABLE);
}

TEST(Debugd, an_address_belongs_to_one_server) {
  Debugd first;
  EXPECT_THROW(Debugd({.listen = first.address()}), crochet::UnavailableError);
}

// ---- sources

TEST(Debugd, sources_are_kept_on_request_and_within_their_folder) {
  const TemporaryFolder folder;
  Debugd debugd({.dump = folder / "dumps", .keep_sources = true, .source_bytes = 3 * 4096});
  const auto stub = crochet::proto::EventListener::NewStub(channel_to(debugd.address()));
  crochet::proto::DebuggedSourceFiles files;
  auto& file = *files.add_source_files();
  file.set_host("host");
  file.set_file_path("../../../../etc/pass\nwd");
  file.add_lines("line 1");
  const auto send = [&] {
    grpc::ClientContext context;
    crochet::proto::EventReply reply;
    return stub->SendSourceFiles(&context, files, &reply);
  };
  EXPECT_TRUE(send().ok());
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) found.push_back(entry.path());
  }
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].parent_path(), folder / "dumps/sources");
  EXPECT_TRUE(found[0].filename().string().ends_with("_pass_wd"));
  std::string first_line;
  std::getline(std::ifstream(found[0]), first_line);
  EXPECT_EQ(first_line, "# host:../../../../etc/pass?wd");
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(send().ok()) << "the same file again takes no more room";
  file.add_lines(std::string(2 * 4096, 'x'));
  EXPECT_EQ(send().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST(Debugd, made_up_messages_are_refused_before_they_cost_memory) {
  Debugd debugd;
  const std::string empty_values = [] {  // an Event with a Summary of eight million empty values: 16 MiB
    std::string bytes("\x2a\xf0\xff\xff\x07", 5);
    for (std::size_t i = 0; i < ((std::size_t{16} << 20) - 16) / 2; ++i) bytes += std::string_view("\x0a\x00", 2);
    return bytes;
  }();
  const auto send_six = [&] {
    std::vector<std::thread> clients;
    for (int i = 0; i < 6; ++i) {
      clients.emplace_back([&] {
        DebugClient client(debugd.address());
        client.send_bytes(empty_values);
        const grpc::Status status = client.finish();
        EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
        EXPECT_NE(status.error_message().find("bytes of memory for one message"), std::string::npos);
      });
    }
    for (std::thread& client : clients) client.join();
  };
  EXPECT_LT(crochet::testing::peak_bytes_of(send_six), std::size_t{128} << 20)
      << "six times their bytes; as messages they take 600 MB each";

  crochet::proto::CallTraceback traceback;  // calls outside of streams, too
  for (int i = 0; i < 1'000'000; ++i) traceback.mutable_origin_stack()->add_traces();
  const auto stub = crochet::proto::EventListener::NewStub(channel_to(debugd.address()));
  grpc::ClientContext context;
  crochet::proto::EventReply reply;
  EXPECT_EQ(stub->SendTracebacks(&context, traceback, &reply).error_code(), ok) << "it is not kept, so it is not read";
  const TemporaryFolder folder;
  Debugd keeping({.dump = folder / "dumps", .keep_sources = true});
  const auto other = crochet::proto::EventListener::NewStub(channel_to(keeping.address()));
  grpc::ClientContext again;
  const auto send_traceback = [&] {
    EXPECT_EQ(other->SendTracebacks(&again, traceback, &reply).error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  };
  EXPECT_LT(crochet::testing::peak_bytes_of(send_traceback), std::size_t{16} << 20);
}

TEST(Debugd, messages_that_are_parsed_share_a_budget) {
  Debugd debugd({.limits = {.message_memory = 1 << 20, .messages_memory = 100}});
  DebugClient client(debugd.address());
  client.send(whole_event({.node = "net/a"}, ramp(10)));
  const grpc::Status status = client.finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(status.error_message().find("with the messages of other streams"), std::string::npos);
}

/// The number of files and folders below this folder.
std::size_t entries_below(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::recursive_directory_iterator(folder)) ++count;
  return count;
}

TEST(Debugd, the_limit_of_sources_counts_blocks) {
  for (const std::uint64_t blocks : {0U, 1U, 2U, 10U}) {
    const TemporaryFolder folder;
    SourceStore store(folder.path(), blocks * 4096);
    crochet::proto::DebuggedSourceFiles files;
    std::size_t taken = 0;
    const auto attempt = [&](auto act) {
      try {
        act();
        ++taken;
      } catch (const crochet::ResourceExhaustedError&) {
      }
    };
    for (int i = 0; i < 300; ++i) {
      attempt([&] { store.traceback({}); });  // an empty message
      crochet::proto::DebuggedSourceFiles one;
      one.add_source_files()->set_file_path("f" + std::to_string(i));
      attempt([&] { store.sources(one); });
    }
    EXPECT_EQ(taken, blocks > 1 ? blocks - 1 : 0);
    EXPECT_EQ(entries_below(folder.path()), blocks > 1 ? blocks : 0) << "with the folder";
  }
}

TEST(Debugd, sources_that_cannot_be_written_are_an_io_error) {
  const TemporaryFolder folder;
  std::ofstream(folder / "sources") << "a file in the place of the folder";
  SourceStore store(folder.path(), 1 << 20);
  EXPECT_THROW(store.traceback({}), crochet::IoError);
}

TEST(Debugd, what_cannot_be_written_counts_no_disk_space) {
  const TemporaryFolder folder;
  crochet::debug::DiskBudget disk{[]() -> const char* { return "1000000"; }};
  std::ostringstream lines;
  crochet::debugd::Output output{lines, false};
  RunReport report;
  {
    std::ofstream(folder / "dumps") << "a file in the place of the folder";
    crochet::debugd::Recorders shared{
        .root = folder / "dumps", .disk = disk, .output = output, .ended = [&](const RunReport& r) { report = r; }};
    crochet::debugd::RunRecorder recorder{shared};
    for (int i = 0; i < 100; ++i) {
      crochet::debug::ReceivedGraph graph;
      graph.device = "/job:localhost/replica:0/task:0/device:CPU:0";
      recorder.graph(std::move(graph));
    }
    recorder.end({});
  }
  EXPECT_EQ(report.not_written, 100U);
  EXPECT_EQ(disk.used(), 0U);
}

TEST(Debugd, the_disk_limit_counts_folders) {
  const TemporaryFolder folder;
  Debugd debugd({.dump = folder / "dumps", .disk_bytes = 40 * 4096});
  std::string node = "a";
  for (int i = 0; i < 30; ++i) node += "/a";
  DebugClient client(debugd.address());
  EXPECT_EQ(
      send_run(client, true, {whole_event({.node = node}, {}), whole_event({.node = "b" + node}, {})}).error_code(),
      ok);
  debugd.lines.next("run");
  EXPECT_LT(entries_below(folder.path()), 40u);
}

TEST(Debugd, the_disk_limit_counts_fetches_and_feeds) {
  const TemporaryFolder folder;
  constexpr std::uintmax_t limit = 100 * 4096;
  Debugd debugd({.dump = folder / "dumps", .disk_bytes = limit});
  DebugClient client(debugd.address());
  crochet::proto::Event run = run_event();
  std::string& text = *run.mutable_log_message()->mutable_message();
  text.insert(text.find("net/b:0"), 300'000, 'x');
  client.send(run);
  EXPECT_TRUE(client.reply());
  EXPECT_EQ(client.finish().error_code(), ok);
  EXPECT_EQ(debugd.lines.next("run").at("not_written"), 1);
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_LE(bytes, limit);
}

// ---- NaN

crochet::debug::ReceivedTensor published(const std::string& op, crochet::proto::DataType type,
                                         const std::string& bytes) {
  crochet::debug::ReceivedTensor tensor{{"a", 0, op}, cpu0, 0, 1, whole_event({.op = op}, {})};
  tensor.event.mutable_summary()->mutable_value(0)->mutable_tensor()->set_dtype(type);
  tensor.event.mutable_summary()->mutable_value(0)->mutable_tensor()->set_tensor_content(bytes);
  return tensor;
}
template <class T>
std::string raw(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(Debugd, nan_and_infinities_by_what_each_op_publishes) {
  const auto bad = [](const std::string& op, crochet::proto::DataType type, const std::string& bytes) {
    const BadNumbers found = bad_numbers(published(op, type, bytes));
    return std::string(found.nan ? "nan " : "") + (found.infinite ? "inf" : "");
  };
  constexpr double inf = std::numeric_limits<double>::infinity();
  using namespace crochet::proto;
  EXPECT_EQ(bad("DebugIdentity", DT_FLOAT, raw<float>({1, NAN})), "nan ");
  EXPECT_EQ(bad("DebugIdentity", DT_DOUBLE, raw<double>({-inf, 1})), "inf");
  EXPECT_EQ(bad("DebugIdentity", DT_HALF, raw<std::uint16_t>({0x7e00, 0x7c00})), "nan inf");
  EXPECT_EQ(bad("DebugIdentity", DT_COMPLEX64, raw<float>({1, NAN})), "nan ");
  EXPECT_EQ(bad("DebugIdentity", DT_INT32, raw<std::uint32_t>({0x7fc00000})), "");
  EXPECT_EQ(bad("DebugNanCount", DT_INT64, raw<std::int64_t>({3})), "nan ");
  EXPECT_EQ(bad("DebugNanCount", DT_INT64, raw<std::int64_t>({0})), "");
  EXPECT_EQ(bad("DebugNumericSummary", DT_DOUBLE, raw<double>({1, 9, 2, 0, 0, 0, 0, 1, inf, -inf, 0, 0, 1, 0})),
            "nan inf");
  EXPECT_EQ(bad("DebugNumericSummary", DT_DOUBLE, raw<double>({1, 0, 0, 0, 0, 0, 0, 0, inf, -inf, 0, 0, 1, 0})), "");
  EXPECT_EQ(bad("DebugNumericSummary", DT_DOUBLE, raw<double>({1, 2, 3})), "");
}

TEST(Debugd, a_line_for_people) {
  RunReport report;
  report.run.emplace();
  report.run->global_step = 120;
  report.run->session_run_index = 7;
  report.run->dropped = 2;
  report.tensors = 34;
  report.bytes = 1'234'567;
  report.first_nan = crochet::debug::WatchKey{"net/ratio", 0, "DebugIdentity"};
  report.directory = "/somewhere/run_17_0";
  EXPECT_EQ(
      to_text(report),
      "step 120 (run 7): 34 tensors, 1.2 MB, first NaN in net/ratio:0:DebugIdentity, 2 dropped by the sender so far "
      "-> run_17_0");
  const auto step = [](std::int64_t global_step) {
    RunReport of_a_step;
    of_a_step.run.emplace();
    of_a_step.run->global_step = global_step;
    of_a_step.run->session_run_index = 1;
    return to_text(of_a_step);
  };
  EXPECT_EQ(step(0), "step 0 (run 1): 0 tensors, 0 B") << "the run before which nothing had been done";
  EXPECT_EQ(step(-1), "run 1: 0 tensors, 0 B") << "not known";
}

}  // namespace
