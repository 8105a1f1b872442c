// SPDX-License-Identifier: Apache-2.0
// The directory of a run: its files, their names, the limit of disk space, and failing writes.
#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/base/error.hpp>
#include <crochet/debug/dump/disk_budget.hpp>
#include <crochet/debug/dump/dump_run.hpp>
#include <crochet/debug/dump/dump_writer.hpp>
#include <crochet/debug/event/debug_graph.hpp>
#include <crochet/debug/event/framed_tensor.hpp>
#include <crochet/debug/event/safe_names.hpp>
#include <crochet/debug/event/tensor_event.hpp>
#include <crochet/debug/probe/captured_run.hpp>
#include <crochet/debug/probe/timestamps.hpp>
#include <crochet/debug/server/received_names.hpp>
#include <crochet/storage/data_type.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../io/faulty_files.hpp"
#include "../../io/temporary_folder.hpp"

namespace dump_writer_test {

namespace fs = std::filesystem;
namespace debug = crochet::debug;
using crochet::io::DataType;
using crochet::test::TemporaryFolder;
using Names = std::set<std::string>;

constexpr std::string_view cpu = "/job:localhost/replica:0/task:0/device:CPU:0";
constexpr std::int64_t t0 = 1700000000000000;

/// All files below a folder, as relative paths.
Names files_in(const fs::path& folder) {
  Names names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) names.insert(entry.path().lexically_relative(folder).string());
  }
  return names;
}
std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
crochet::proto::Event event_of(const fs::path& path) {
  crochet::proto::Event event;
  EXPECT_TRUE(event.ParseFromString(bytes_of(path))) << path;
  return event;
}

struct Pair {
  std::vector<float> values{1, 2};
  std::vector<std::int64_t> shape{2};
  debug::DebugEvent debug_event(std::string_view node, std::int64_t microseconds) const {
    return {cpu, node, 0, "DebugIdentity", microseconds, {DataType::float32, shape, std::as_bytes(std::span(values))}};
  }
};

TEST(DumpWriter, WritesTheFilesOfTheOriginal) {
  const TemporaryFolder folder;
  const Pair pair;
  debug::DiskBudget budget{[]() -> const char* { return nullptr; }};
  debug::DumpWriter writer{folder / "run_1700000000000000_0", budget};
  writer.write_fetches("['ns/c_d:0']");
  writer.write_feed_keys("None");
  const std::string graph = "graph";
  writer.write_graph(cpu, graph, t0 - 5);
  writer.write_metadata(debug::CoreMetadata{.session_run_index = 7}, t0 - 3);
  writer.write_tensor(pair.debug_event("ns/a", t0));
  writer.write_tensor(pair.debug_event("ns/c_d", t0 + 2));
  writer.write_tensor(pair.debug_event("ns/c_d", t0 + 2));
  writer.write_tensor(pair.debug_event("top", t0 + 3));
  const std::string device = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0/";
  const std::string graph_name = "_tfdbg_graph_hash" + std::to_string(debug::graph_hash(graph)) + "_1699999999999995";
  EXPECT_EQ(
      files_in(writer.directory()),
      (Names{"_tfdbg_fetches_info_", "_tfdbg_feed_keys_info_",
             "_tfdbg_core_metadata_sessionrun00000000000007_1699999999999997", device + graph_name,
             device + "ns/a_0_DebugIdentity_1700000000000000", device + "ns/c_d_0_DebugIdentity_1700000000000002",
             device + "ns/c_d_0_DebugIdentity_1700000000000002-1", device + "top_0_DebugIdentity_1700000000000003"}));
  EXPECT_EQ(bytes_of(writer.directory() / "_tfdbg_feed_keys_info_"), std::string("\x32\x06\x12\x04None", 8));
  EXPECT_EQ(bytes_of(writer.directory() / "_tfdbg_fetches_info_"), std::string("\x32\x0e\x12\x0c['ns/c_d:0']", 16));
  EXPECT_EQ(event_of(writer.directory() / (device + graph_name)).graph_def(), graph);
  EXPECT_EQ(bytes_of(writer.directory() / (device + "ns/a_0_DebugIdentity_1700000000000000")),
            debug::tensor_event(pair.debug_event("ns/a", t0)).SerializeAsString());
  EXPECT_EQ(writer.tensors(), 4U);
  EXPECT_EQ(writer.tensor_bytes(), 32U);
  EXPECT_EQ(budget.used(), 32U);
}

TEST(DumpWriter, RefusesADirectoryThatIsThere) {
  const TemporaryFolder folder;
  EXPECT_THROW(debug::DumpWriter{folder.path()}, crochet::IoError);
  EXPECT_THROW(debug::DumpWriter{folder / "no/such"}, crochet::IoError);
}

TEST(DumpWriter, WritesAnEventOfSomebodyElse) {
  const TemporaryFolder folder;
  debug::DumpWriter writer{folder / "run"};
  crochet::proto::Event event;
  event.mutable_summary()->add_value()->mutable_tensor()->add_string_val("text");
  writer.write_tensor(event, {cpu, "a/b", 3, "DebugIdentity", t0}, 4);
  const auto name =
      "run/_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0/a/b_3_DebugIdentity_1700000000000000";
  EXPECT_EQ(bytes_of(folder / name), event.SerializeAsString());
  EXPECT_THROW(writer.write_tensor(event, {cpu, "../b", 3, "DebugIdentity", t0}, 4), crochet::LogicError);
  EXPECT_THROW(writer.write_tensor(event, {cpu, "b", 3, "../Debug", t0}, 4), crochet::LogicError);
  EXPECT_THROW(writer.write_tensor(event, {cpu, "b", 3, "A_B", t0}, 4), crochet::LogicError);
  EXPECT_THROW(writer.write_tensor(event, {cpu, "b", -1, "DebugIdentity", t0}, 4), crochet::LogicError);
  EXPECT_THROW(writer.write_tensor(event, {"/../x", "b", 0, "", t0}, 4), crochet::LogicError);
}

TEST(DumpWriter, ATensorThatNoReaderOpensIsRefused) {
  const TemporaryFolder folder;
  debug::DiskBudget budget{[]() -> const char* { return nullptr; }};
  debug::DumpWriter writer{folder / "run", budget};
  // Pages that nothing touches: no memory is used.
  constexpr std::size_t bytes = std::size_t{1} << 31;
  void* const pages = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const std::vector<std::int64_t> shape{std::int64_t{1} << 31};
  const std::span content(static_cast<const std::byte*>(pages), bytes);
  EXPECT_THROW(writer.write_tensor({cpu, "w", 0, "DebugIdentity", t0, {DataType::uint8, shape, content}}),
               crochet::IoError);
  ::munmap(pages, bytes);
  EXPECT_EQ(files_in(writer.directory()), Names{});
  EXPECT_EQ(budget.used(), 0U);
}

TEST(DumpWriter, ANodeOfManyPartsIsFoundByReaders) {
  const TemporaryFolder folder;
  const Pair pair;
  std::string deep = "a", deepest = "a";
  for (int i = 0; i < 59; ++i) deep += "/a";
  for (int i = 0; i < 70; ++i) deepest += "/a";
  EXPECT_EQ(debug::safe_node_name(deep), deep);
  EXPECT_FALSE(debug::is_safe_node_name(deepest));
  EXPECT_TRUE(debug::is_safe_node_name(debug::safe_node_name(deepest)));
  debug::DumpWriter writer{folder / "run"};
  writer.write_tensor(pair.debug_event(deep, t0));
  writer.write_tensor(pair.debug_event(deepest, t0 + 1));
  const debug::DumpRun run{folder / "run"};
  EXPECT_EQ(run.tensors().size(), 2U);
  EXPECT_TRUE(run.problems().empty());
}

TEST(DumpWriter, WritesStringsThatTheReaderHandsBack) {
  const TemporaryFolder folder;
  debug::DiskBudget budget{[]() -> const char* { return nullptr; }};
  debug::DumpWriter writer{folder / "run", budget};
  const std::vector<std::string> strings{"ab", "", std::string("\0\xff", 2), std::string(5'000'000, 'x')};
  const std::vector<std::int64_t> shape{2, 2};
  writer.write_tensor({cpu, "words", 0, "DebugIdentity", t0, {DataType::string, shape, {}, true, strings}});
  EXPECT_EQ(writer.tensor_bytes(), 5'000'004U);
  EXPECT_EQ(budget.used(), 5'000'004U);

  const debug::DumpRun run{folder / "run"};
  ASSERT_EQ(run.tensors().size(), 1U);
  const debug::DumpedTensor tensor = run.open(run.tensors()[0]);
  EXPECT_EQ(tensor.dtype(), DataType::string);
  EXPECT_EQ(tensor.state(), debug::TensorState::values);
  EXPECT_EQ(std::vector(tensor.shape().begin(), tensor.shape().end()), shape);
  std::vector<std::string> read;
  tensor.for_each_string([&](const std::string& text) { read.push_back(text); });
  EXPECT_EQ(read, strings);
}
TEST(CapturedRun, KeepsStringsUntilItIsWritten) {
  debug::CapturedRun captured;
  captured.begin({});
  const std::vector<std::int64_t> shape{2};
  {
    const std::vector<std::string> strings{"ab", ""};
    captured.add({cpu, "words", 0, "DebugIdentity", t0, {DataType::string, shape, {}, true, strings}});
  }
  int debug_events = 0;
  captured.each([&](const debug::DebugEvent& debug_event) {
    ++debug_events;
    EXPECT_EQ(std::vector(debug_event.tensor.strings.begin(), debug_event.tensor.strings.end()),
              (std::vector<std::string>{"ab", ""}));
  });
  EXPECT_EQ(debug_events, 1);
}

TEST(FramedTensor, IsTheEventWithoutACopy) {
  for (const std::size_t size : std::vector<std::size_t>{0, 1, 2, 100, 127, 128, 20000, 70000}) {
    const std::vector<std::byte> content(size, std::byte{7});
    const std::vector<std::int64_t> shape{static_cast<std::int64_t>(size)};
    const debug::DebugEvent debug_event{
        cpu, "node/with/a/name", 2, "DebugIdentity", t0, {DataType::uint8, shape, content}};
    const debug::FramedTensor frame = debug::framed(debug_event);
    EXPECT_EQ(frame.content.data(), content.data());
    const std::string joined = frame.head + std::string(size, '\7') + frame.tail;
    EXPECT_EQ(joined, debug::tensor_event(debug_event).SerializeAsString()) << size;
  }
}

TEST(SafeNames, AreThoseThatLeadNowhereElse) {
  for (const char* name :
       {"a", "a/b_c/d.e-f", "Text>Split", ".hidden", "a..b", "_internal", "...", "_tfdbg_device", "a/__copy_b"}) {
    EXPECT_TRUE(debug::is_safe_node_name(name)) << name;
    EXPECT_EQ(debug::safe_node_name(name), name);
  }
  const std::vector<std::string> bad{"",
                                     "/",
                                     "/etc/passwd",
                                     "a/",
                                     "a//b",
                                     "..",
                                     "../../x",
                                     "a/../b",
                                     ".",
                                     "a/./b",
                                     "a\\b",
                                     "a b",
                                     "a:0",
                                     "a\nb",
                                     "\xc3\xa9",
                                     "a,b",
                                     "a/_tfdbg_graph_hash1_2",
                                     "__copy_a_0",
                                     "__dbg_a",
                                     "__dbg:a",
                                     "__copy_/a",
                                     std::string("a\0b", 3),
                                     std::string(300, 'a'),
                                     std::string(3000, '/'),
                                     "a/" + std::string(151, 'b') + "/c"};
  Names safe_names;
  for (const std::string& name : bad) {
    EXPECT_FALSE(debug::is_safe_node_name(name)) << name;
    const std::string safe = debug::safe_node_name(name);
    EXPECT_TRUE(debug::is_safe_node_name(safe)) << name << " " << safe;
    EXPECT_EQ(debug::safe_node_name(name), safe);
    safe_names.insert(safe);
  }
  EXPECT_EQ(safe_names.size(), bad.size()) << "two names became one";
  std::string long_name = "x";
  while (long_name.size() < 5000) long_name += "/" + std::string(100, 'y');
  EXPECT_TRUE(debug::is_safe_node_name(debug::safe_node_name(long_name)));
}
TEST(SafeNames, HaveEveryCharacterThatAServerTakes) {
  for (int c = 0; c < 128; ++c) {
    const std::string name = std::string("a") + static_cast<char>(c) + "b";
    EXPECT_EQ(debug::is_safe_node_name(name), c == '/' || debug::is_name_character(static_cast<char>(c))) << c;
  }
}
TEST(SafeNames, KeepADumpInItsDirectory) {
  const TemporaryFolder folder;
  debug::DumpWriter writer{folder / "run"};
  const Pair pair;
  for (const char* name : {"../../escaped", "/escaped", "..", "a/../../escaped", "ok"}) {
    writer.write_tensor(pair.debug_event(name, t0));
  }
  EXPECT_EQ(files_in(folder.path()).size(), 5U);
  for (const std::string& file : files_in(folder.path()))
    EXPECT_TRUE(file.starts_with("run/_tfdbg_device_,job_")) << file;
  EXPECT_EQ(fs::exists("/escaped_0_DebugIdentity_1700000000000000"), false);
}
TEST(SafeNames, OfDevices) {
  EXPECT_EQ(debug::device_folder(cpu), "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0");
  EXPECT_EQ(debug::device_folder("/job:a/cpu:0"), "_tfdbg_device_,job_a,cpu_0");
  EXPECT_EQ(debug::device_folder("/.."), "_tfdbg_device_,..");
  for (const std::string& bad :
       {std::string(), std::string("/a,b"), std::string("a|b"), std::string("a\0b", 3), std::string(201, 'a')}) {
    EXPECT_THROW((void)debug::device_folder(bad), crochet::LogicError) << bad;
  }
}

TEST(DiskBudget, IsStrict) {
  debug::DiskBudget budget{[] { return " 100 "; }};
  EXPECT_TRUE(budget.take(0));
  EXPECT_TRUE(budget.take(60));
  EXPECT_FALSE(budget.take(40)) << "as much as the limit is too much";
  EXPECT_TRUE(budget.take(39));
  EXPECT_FALSE(budget.take(1));
  EXPECT_TRUE(budget.take(0));
  EXPECT_FALSE(budget.take(UINT64_MAX));
  budget.give_back(60);
  EXPECT_EQ(budget.used(), 39U);
  EXPECT_TRUE(budget.take(60));
  budget.reset();
  EXPECT_EQ(budget.used(), 0U);
}
TEST(DiskBudget, ReadsItsVariable) {
  const char* text = nullptr;
  debug::DiskBudget budget{[&] { return text; }};
  EXPECT_EQ(budget.limit(), 107374182400U);
  EXPECT_EQ((debug::DiskBudget{[] { return ""; }}.limit()), 107374182400U);
  for (const char* zero : {"0", "12 kB", "-1", "1e9", "0x10", " ", "99999999999999999999"}) {
    text = zero;
    EXPECT_FALSE(budget.take(1)) << zero;
    EXPECT_TRUE(budget.take(0)) << zero;
  }
  text = "10";
  EXPECT_TRUE(budget.take(1)) << "a limit of 0 is read again";
  text = "1000";
  EXPECT_EQ(budget.limit(), 10U) << "another is not";
}

TEST(DumpWriter, StopsAtTheBudgetWithNothingHalfWritten) {
  const TemporaryFolder folder;
  debug::DiskBudget budget{[] { return "17"; }};
  debug::DumpWriter writer{folder / "run", budget};
  const Pair pair;
  writer.write_tensor(pair.debug_event("a", t0));
  writer.write_tensor(pair.debug_event("b", t0 + 1));
  try {
    writer.write_tensor(pair.debug_event("c", t0 + 2));
    FAIL();
  } catch (const crochet::ResourceExhaustedError& error) {
    EXPECT_NE(std::string(error.what()).find("16 of 17 are used. Set TFDBG_DISK_BYTES_LIMIT"), std::string::npos);
  }
  EXPECT_EQ(files_in(folder.path()).size(), 2U);
}

TEST(DumpWriter, AFileIsThereInWholeOrNotAtAllWhereverWritingFails) {
  const Pair pair;
  const std::size_t whole = debug::tensor_event(pair.debug_event("a", t0)).ByteSizeLong();
  bool done = false;
  for (std::size_t budget = 0; !done; ++budget) {
    const TemporaryFolder folder;
    crochet::test::FaultyFiles files{budget, std::make_error_code(std::errc::no_space_on_device)};
    debug::DiskBudget bytes;
    debug::DumpWriter writer{folder / "run", bytes, files};
    try {
      writer.write_tensor(pair.debug_event("a", t0));
      done = true;
      EXPECT_EQ(bytes.used(), 8U);
      const Names names = files_in(folder.path());
      ASSERT_EQ(names.size(), 1U);
      EXPECT_EQ(fs::file_size(folder / *names.begin()), whole);
    } catch (const crochet::IoError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("a_0_DebugIdentity_1700000000000000 cannot be written: No space left"), std::string::npos)
          << text;
      EXPECT_EQ(files_in(folder.path()), Names{}) << "nothing half-written, and nothing temporary";
      EXPECT_EQ(bytes.used(), 0U);
    }
    ASSERT_LT(budget, 2 * whole);
  }
}
TEST(DumpWriter, AMachineThatStopsLeavesNoHalfTensorWhereReadersLook) {
  const Pair pair;
  for (std::size_t budget = 0; budget < 400; budget += 7) {
    const TemporaryFolder folder;
    crochet::test::FaultyFiles files{budget};
    try {
      debug::DumpWriter writer{folder / "run", debug::disk_budget(), files};
      writer.write_tensor(pair.debug_event("a", t0));
      writer.write_tensor(pair.debug_event("b", t0 + 1));
    } catch (const crochet::test::MachineStopped&) {
    }
    for (const std::string& name : files_in(folder.path())) {
      EXPECT_TRUE(name == "run/.writing" || name.starts_with("run/_tfdbg_device_")) << name;
    }
  }
}

TEST(Timestamps, NeverGoBackNorStandStill) {
  std::int64_t now = 100;
  debug::Timestamps stamps{[&] { return now; }};
  EXPECT_EQ(stamps.next(), 100);
  EXPECT_EQ(stamps.next(), 101);
  now = 50;
  EXPECT_EQ(stamps.next(), 102);
  now = 200;
  EXPECT_EQ(stamps.next(), 200);
  EXPECT_GT(debug::Timestamps{}.next(), 1700000000000000) << "microseconds";
}

crochet::proto::GraphDef small_graph() {
  crochet::proto::GraphDef graph;
  const auto add = [&](const char* name, const char* op, std::vector<std::string> inputs) {
    crochet::proto::NodeDef& node = *graph.add_node();
    node.set_name(name);
    node.set_op(op);
    node.set_device(std::string(cpu));
    (*node.mutable_attr())["T"].set_type(crochet::proto::DT_FLOAT);
    for (std::string& input : inputs) node.add_input(std::move(input));
  };
  add("x", "Placeholder", {});
  add("w", "VariableV2", {});
  add("y", "MatMul", {"x", "w"});
  add("z", "Relu", {"y"});
  return graph;
}
std::vector<std::string> inputs_of(const crochet::proto::GraphDef& graph, const std::string& name) {
  for (const crochet::proto::NodeDef& node : graph.node()) {
    if (node.name() == name) return {node.input().begin(), node.input().end()};
  }
  return {"no such node"};
}

TEST(DebugGraph, HasTheNodesOfTheOriginal) {
  crochet::proto::GraphDef graph = small_graph();
  const std::vector<debug::GraphWatch> watches{
      {0,
       0,
       {debug::DebugOp::parse("DebugIdentity"),
        debug::DebugOp::parse("DebugNumericSummary(gated_grpc=1;lower_bound=-2)")}},
      {1, 0, {debug::DebugOp{}}}};
  const std::vector<std::string> urls{"file:///d/run_1_0", "grpc://h:1"};
  debug::insert_debug_nodes(graph, watches, urls);
  using Inputs = std::vector<std::string>;
  EXPECT_EQ(graph.node_size(), 9);
  EXPECT_EQ(inputs_of(graph, "__copy_x_0"), Inputs{"x"});
  EXPECT_EQ(inputs_of(graph, "__dbg_x:0_0_DebugIdentity"), Inputs{"__copy_x_0"});
  EXPECT_EQ(inputs_of(graph, "__dbg_x:0_1_DebugNumericSummary"), Inputs{"__copy_x_0"});
  EXPECT_EQ(inputs_of(graph, "__dbg_w:0_0_DebugIdentity"), Inputs{"__copy_w_0"});
  EXPECT_EQ(inputs_of(graph, "y"), (Inputs{"__copy_x_0", "w", "^__dbg_x:0_0_DebugIdentity",
                                           "^__dbg_x:0_1_DebugNumericSummary", "^__dbg_w:0_0_DebugIdentity"}));
  EXPECT_EQ(inputs_of(graph, "z"), Inputs{"y"});
  const auto& attr = graph.node(6).attr();
  ASSERT_EQ(graph.node(6).name(), "__dbg_x:0_1_DebugNumericSummary");
  EXPECT_TRUE(attr.at("gated_grpc").b());
  EXPECT_EQ(attr.at("lower_bound").f(), -2);
  EXPECT_EQ(attr.at("tensor_name").s(), "x:0");
  EXPECT_EQ(attr.at("device_name").s(), cpu);
  EXPECT_EQ(attr.at("debug_urls").list().s(1), "grpc://h:1");
  EXPECT_EQ(attr.at("T").type(), crochet::proto::DT_FLOAT);
  EXPECT_EQ(graph.node(4).attr().at("debug_ops_spec").list().s(0), "DebugIdentity;file:///d/run_1_0;0");
  EXPECT_EQ(graph.node(4).attr().at("debug_ops_spec").list().s(3), "DebugNumericSummary;grpc://h:1;1");
}
TEST(DebugGraph, NamesAreMadeSafeEverywhere) {
  crochet::proto::GraphDef graph = small_graph();
  graph.mutable_node(0)->set_name("../x");
  graph.mutable_node(2)->set_input(0, "../x");
  graph.mutable_node(3)->add_input("^../x");
  debug::make_names_safe(graph);
  const std::string safe = debug::safe_node_name("../x");
  EXPECT_EQ(graph.node(0).name(), safe);
  EXPECT_EQ(inputs_of(graph, "y"), (std::vector<std::string>{safe, "w"}));
  EXPECT_EQ(inputs_of(graph, "z"), (std::vector<std::string>{"y", "^" + safe}));
}

}  // namespace dump_writer_test
