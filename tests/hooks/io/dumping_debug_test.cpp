// SPDX-License-Identifier: Apache-2.0
// DumpingDebugHook: which runs and tensors it dumps, into which files, and its errors. The original's reader of these
// files: tests/interop/dump.py.
#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/crochet.hpp>
#include <crochet/debug/event/safe_names.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>
#include <crochet/hooks/nan_tensor.hpp>

#include <gtest/gtest.h>
#include <pthread.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "../../io/faulty_files.hpp"
#include "../../io/temporary_folder.hpp"

namespace dumping_debug_test {

namespace cr = crochet;
namespace fs = std::filesystem;
namespace debug = crochet::debug;
using namespace cr::literals;
using crochet::test::TemporaryFolder;
using Names = std::set<std::string>;
using Lines = std::vector<std::string>;

const std::string device = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0";

/// A step function with one output of each kind. The test sets the values of `loss`.
struct Machine {
  std::shared_ptr<std::vector<float>> losses = std::make_shared<std::vector<float>>();
  std::shared_ptr<std::vector<float>> field = std::make_shared<std::vector<float>>(6, 0.0F);
  int steps = 0;

  void operator()(auto& out) {
    ++steps;
    for (float& x : *field) x += 0.5F;
    const auto i = static_cast<std::size_t>(steps - 1);
    out["net/field"_n] = cr::TensorView<float, 2>(field->data(), {2, 3});
    out["loss"_n] = i < losses->size() ? (*losses)[i] : 1.0F;
    out["count"_n] = std::int32_t{7} * steps;
    out["good"_n] = steps % 2 == 0;
    (void)out.input("dt"_n, 0.1);
  }
};
auto machine(std::vector<float> losses = {}) {
  Machine step;
  *step.losses = std::move(losses);
  return cr::StepExecutor{step,
                          cr::output<cr::TensorView<float, 2>, "net/field">,
                          cr::output<float, "loss">,
                          cr::output<std::int32_t, "count">,
                          cr::output<bool, "good">,
                          cr::input<double, "dt">};
}
template <class... H>
auto session_of(H... hook) {
  return cr::MonitoredSession{machine(), cr::HookChain{std::move(hook)...}};
}
/// Every output of the machine.
constexpr auto all = cr::fetches<"net/field", "loss", "count", "good">;

std::vector<fs::path> runs_of(const fs::path& root) {
  std::set<std::pair<int, fs::path>> runs;
  if (fs::exists(root)) {
    for (const auto& entry : fs::directory_iterator(root)) {
      const std::string name = entry.path().filename().string();
      runs.emplace(std::stoi(name.substr(name.rfind('_') + 1)), entry.path());
    }
  }
  std::vector<fs::path> paths;
  paths.reserve(runs.size());
  for (const auto& [n, path] : runs) paths.push_back(path);
  return paths;
}
Names files_in(const fs::path& folder) {
  Names names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) names.insert(entry.path().lexically_relative(folder).string());
  }
  return names;
}
/// The watch keys of the tensors of a run.
Names keys_in(const fs::path& run) {
  Names keys;
  for (const std::string& file : files_in(run / device)) {
    if (file.starts_with("_tfdbg_graph_")) continue;
    const std::size_t time = file.rfind('_'), op = file.rfind('_', time - 1), slot = file.rfind('_', op - 1);
    keys.insert(file.substr(0, slot) + ":" + file.substr(slot + 1, op - slot - 1) + ":" +
                file.substr(op + 1, time - op - 1));
  }
  return keys;
}
crochet::proto::Event event_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  crochet::proto::Event event;
  EXPECT_TRUE(event.ParseFromIstream(&file)) << path;
  return event;
}
/// The only file of the run whose name has this prefix.
fs::path file_of(const fs::path& run, const std::string& begin) {
  for (const std::string& file : files_in(run)) {
    if (file.starts_with(begin)) return run / file;
  }
  ADD_FAILURE() << "no file " << begin << " in " << run;
  return {};
}
crochet::proto::TensorProto tensor_of(const fs::path& run, const std::string& node,
                                      const std::string& op = "DebugIdentity") {
  return event_of(file_of(run, device + "/" + node + "_0_" + op + "_")).summary().value(0).tensor();
}
nlohmann::json metadata_of(const fs::path& run) {
  return nlohmann::json::parse(event_of(file_of(run, "_tfdbg_core_metadata_")).log_message().message());
}

/// The nodes of a run's graph, each with the result of `describe`.
template <class Describe>
std::map<std::string, std::string> graph_of(const fs::path& run, Describe describe) {
  crochet::proto::GraphDef graph;
  EXPECT_TRUE(graph.ParseFromString(event_of(file_of(run, device + "/_tfdbg_graph_")).graph_def()));
  std::map<std::string, std::string> nodes;
  for (const crochet::proto::NodeDef& node : graph.node()) nodes[node.name()] = describe(node);
  return nodes;
}
std::string urls_in(const crochet::proto::NodeDef& node) {
  const auto found = node.attr().find("debug_urls");
  return found == node.attr().end() ? "" : found->second.list().s(0);
}

TEST(DumpingDebugHook, DumpsEveryTensorOfEveryRun) {
  const TemporaryFolder folder;
  std::int64_t now = 1700000000000000;
  auto session = session_of(cr::DumpingDebugHook{folder / "dumps", {.microseconds = [&] { return now += 10; }}});
  session.run(all, cr::feed<"dt">(0.5));
  session.run(cr::fetches<"loss">);
  const std::vector<fs::path> runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].filename(), "run_1700000000000010_0");
  EXPECT_TRUE(runs[1].filename().string().ends_with("_1"));
  EXPECT_EQ(keys_in(runs[0]), (Names{"net/field:0:DebugIdentity", "loss:0:DebugIdentity", "count:0:DebugIdentity",
                                     "good:0:DebugIdentity"}));
  EXPECT_EQ(keys_in(runs[1]), Names{"loss:0:DebugIdentity"}) << "what was not computed is not computed for the hook";

  const crochet::proto::TensorProto field = tensor_of(runs[0], "net/field");
  EXPECT_EQ(field.dtype(), crochet::proto::DT_FLOAT);
  ASSERT_EQ(field.tensor_shape().dim_size(), 2);
  EXPECT_EQ(field.tensor_shape().dim(1).size(), 3);
  float first = 0;
  ASSERT_EQ(field.tensor_content().size(), 6 * sizeof(float));
  std::memcpy(&first, field.tensor_content().data(), sizeof first);
  EXPECT_EQ(first, 0.5F);
  EXPECT_EQ(tensor_of(runs[0], "count").dtype(), crochet::proto::DT_INT32);
  EXPECT_EQ(tensor_of(runs[0], "good").tensor_content(), std::string(1, '\0'));

  EXPECT_EQ(event_of(runs[0] / "_tfdbg_fetches_info_").log_message().message(),
            "['net/field:0', 'loss:0', 'count:0', 'good:0']");
  EXPECT_EQ(event_of(runs[0] / "_tfdbg_feed_keys_info_").log_message().message(), "dict_keys(['dt:0'])");
  EXPECT_EQ(event_of(runs[1] / "_tfdbg_feed_keys_info_").log_message().message(), "None");

  crochet::proto::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(event_of(file_of(runs[1], device + "/_tfdbg_graph_")).graph_def()));
  Names nodes;
  for (const crochet::proto::NodeDef& node : graph.node()) nodes.insert(node.name());
  EXPECT_TRUE(nodes.contains("net/field") && nodes.contains("__dbg_loss:0_0_DebugIdentity"));
}

TEST(DumpingDebugHook, MetadataHaveTheGlobalStep) {
  const TemporaryFolder folder;
  auto session = session_of(cr::DumpingDebugHook{folder / "dumps"});
  for (int i = 0; i < 3; ++i) session.run(cr::fetches<"loss">, cr::feed<"dt">(0.5));
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 3U);
  const nlohmann::json first = metadata_of(runs[0]), last = metadata_of(runs[2]);
  EXPECT_EQ(first["global_step"], 0);
  EXPECT_EQ(last["global_step"], 2);
  EXPECT_EQ(last["session_run_index"].get<int>(), first["session_run_index"].get<int>() + 2);
  EXPECT_EQ(last["executor_step_index"], 0);
  EXPECT_EQ(last["input_names"], nlohmann::json{"dt:0"});
  EXPECT_EQ(last["output_names"], nlohmann::json{"loss:0"});
  EXPECT_TRUE(last["target_nodes"].empty());
}

TEST(DumpingDebugHook, TimesGrowWhateverTheClockDoes) {
  const TemporaryFolder folder;
  auto session = session_of(
      cr::DumpingDebugHook{folder / "dumps", {.microseconds = [] { return std::int64_t{1700000000000000}; }}});
  session.run(all);
  session.run(all);
  std::set<double> times;
  for (const fs::path& run : runs_of(folder / "dumps")) {
    for (const char* node : {"net/field", "loss", "count", "good"}) {
      times.insert(event_of(file_of(run, device + "/" + node + "_0_")).wall_time());
    }
  }
  EXPECT_EQ(times.size(), 8U);
}

TEST(DumpingDebugHook, WatchesChosenByTheCompiler) {
  const TemporaryFolder folder;
  auto session = session_of(cr::DumpingDebugHook<debug::Watch<"net/.*|count$">>{folder / "dumps"});
  session.run(all);
  EXPECT_EQ(keys_in(runs_of(folder / "dumps").at(0)), (Names{"net/field:0:DebugIdentity", "count:0:DebugIdentity"}));
}
TEST(DumpingDebugHook, WatchesChosenByTypeOfElementAndAFunctionBoth) {
  const TemporaryFolder folder;
  auto session = session_of(
      cr::DumpingDebugHook<debug::Watch<"", "", "float32">>{folder / "dumps", debug::WatchOptions{{}, "l|c"}});
  session.run(all);
  EXPECT_EQ(keys_in(runs_of(folder / "dumps").at(0)), Names{"loss:0:DebugIdentity"});
}

TEST(WatchFn, IsAskedBeforeEachRunWithTheCallersFetchesAndFeeds) {
  const TemporaryFolder folder;
  Lines calls;
  auto session = session_of(cr::DumpingDebugHook{folder / "dumps",
                                                 [&](debug::NameList fetches, debug::NameList feeds) {
                                                   std::string call;
                                                   for (const auto name : fetches) call += std::string(name) + " ";
                                                   for (const auto name : feeds) call += "<" + std::string(name);
                                                   calls.push_back(call);
                                                   debug::WatchOptions options;
                                                   if (calls.size() == 1) options.node_name_regex_allowlist = "loss";
                                                   return options;
                                                 }},
                            cr::NanTensor<"count", "good">{});
  session.run(cr::fetches<"loss">, cr::feed<"dt">(1.0));
  session.run(cr::fetches<"net/field">);
  EXPECT_EQ(calls, (Lines{"loss <dt", "net/field "}));
  const auto runs = runs_of(folder / "dumps");
  EXPECT_EQ(keys_in(runs.at(0)), Names{"loss:0:DebugIdentity"});
  EXPECT_EQ(keys_in(runs.at(1)), (Names{"net/field:0:DebugIdentity", "count:0:DebugIdentity", "good:0:DebugIdentity"}))
      << "what hooks asked for is computed, and dumped, too";
}
TEST(WatchFn, TheLegacyTupleIsTheSame) {
  const TemporaryFolder folder;
  auto session = session_of(cr::DumpingDebugHook{
      folder / "dumps", [](auto, auto) {
        return std::tuple{Lines{"DebugNumericSummary(lower_bound=-1)", "DebugIdentity"}, ".*", nullptr, "float"};
      }});
  session.run(all);
  const fs::path run = runs_of(folder / "dumps").at(0);
  EXPECT_EQ(keys_in(run), (Names{"net/field:0:DebugNumericSummary", "net/field:0:DebugIdentity",
                                 "loss:0:DebugNumericSummary", "loss:0:DebugIdentity"}));
  const crochet::proto::TensorProto summary = tensor_of(run, "net/field", "DebugNumericSummary");
  EXPECT_EQ(summary.dtype(), crochet::proto::DT_DOUBLE);
  EXPECT_EQ(summary.tensor_shape().dim(0).size(), 16);
}
TEST(WatchFn, MutedOperationsLeaveNoFile) {
  const TemporaryFolder folder;
  auto session = cr::MonitoredSession{
      machine({1, std::numeric_limits<float>::quiet_NaN()}),
      cr::HookChain{cr::DumpingDebugHook{folder / "dumps",
                                         debug::WatchOptions{{"DebugNumericSummary(mute_if_healthy=true)"}, "loss"}}}};
  session.run(all);
  session.run(all);
  const auto runs = runs_of(folder / "dumps");
  EXPECT_EQ(keys_in(runs.at(0)), Names{});
  EXPECT_EQ(keys_in(runs.at(1)), Names{"loss:0:DebugNumericSummary"});
}
TEST(WatchFn, SaysWhatIsWrongWithItsOptions) {
  const auto refusal = [](debug::WatchOptions options) {
    const TemporaryFolder folder;
    auto session = session_of(cr::DumpingDebugHook{folder / "dumps", std::move(options)});
    try {
      session.run(all);
      return std::string();
    } catch (const cr::LogicError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(refusal({{"DebugIdentiti"}}).find("there is no debug operation"), std::string::npos);
  EXPECT_NE(refusal({{}, "(net"}).find("a parenthesis is not closed"), std::string::npos);
  const std::string bools = refusal({{"DebugNanCount"}});
  EXPECT_NE(bools.find("DebugNanCount cannot be had for good, which is bool"), std::string::npos) << bools;
  EXPECT_NE(bools.find("tolerate_debug_op_creation_failures"), std::string::npos) << bools;
}
TEST(WatchFn, OperationsThatThereAreNotCanBeTolerated) {
  const TemporaryFolder folder;
  Lines said;
  auto session = session_of(
      cr::DumpingDebugHook{folder / "dumps",
                           {.watch_fn = debug::WatchOptions{{"DebugNanCount", "DebugIdentity"}, "", "", "", true},
                            .sink = [&](std::string_view line) { said.emplace_back(line); }}});
  session.run(cr::fetches<"good", "loss">);
  session.run(cr::fetches<"good", "loss">);
  EXPECT_EQ(keys_in(runs_of(folder / "dumps").at(1)),
            (Names{"good:0:DebugIdentity", "loss:0:DebugIdentity", "loss:0:DebugNanCount"}));
  EXPECT_EQ(said, Lines{"crochet: DebugNanCount cannot be had for good, which is bool; left out"});
}

TEST(Watch, OneThatFitsNothingIsSaidOnceWithASimilarName) {
  const TemporaryFolder folder;
  Lines said;
  const auto sink = [&](std::string_view line) { said.emplace_back(line); };
  auto session =
      session_of(cr::DumpingDebugHook{folder / "a", {.watch_fn = debug::WatchOptions{{}, "losss"}, .sink = sink}},
                 cr::DumpingDebugHook{folder / "b", {.watch_fn = debug::WatchOptions{{}, "netto/field"}, .sink = sink}},
                 cr::DumpingDebugHook<debug::Watch<"loss">>{folder / "c", {.sink = sink}});
  session.run(all);
  session.run(all);
  const std::string what =
      "crochet: a debug hook watches nothing: none of the 5 nodes of the model fits its Watch and its watch_fn, node "
      "names ";
  EXPECT_EQ(said, (Lines{what + "\"losss\"; did you mean loss?", what + "\"netto/field\"; did you mean net/field?"}));
}

TEST(SessionRoot, IsLookedAtInTheFirstRun) {
  const TemporaryFolder folder;
  const auto refusal = [&](const fs::path& root) {
    auto session = session_of(cr::DumpingDebugHook{root});  // the constructor does not throw
    try {
      session.run(all);
      return std::string();
    } catch (const cr::FailedPreconditionError& error) {
      return std::string(error.what());
    }
  };
  std::ofstream(folder / "file") << "x";
  fs::create_directories(folder / "full/inside");
  EXPECT_NE(refusal(folder / "file").find("is not a folder"), std::string::npos);
  EXPECT_NE(refusal(folder / "full").find("is not empty: give each session"), std::string::npos);
  EXPECT_NE(refusal("").find("is no path"), std::string::npos);
  for (const char* pattern : {"a*", "a?", "a[b]"}) {
    EXPECT_NE(refusal(folder / pattern).find("must not contain"), std::string::npos) << pattern;
  }
  fs::create_directories(folder / "empty");
  EXPECT_EQ(refusal(folder / "empty"), "");
  EXPECT_EQ(refusal(folder / "made/with/parents"), "");
  EXPECT_EQ(runs_of(folder / "made/with/parents").size(), 1U);
}
TEST(SessionRoot, TildeIsAHome) {
  const TemporaryFolder folder;
  const char* const old = std::getenv("HOME");
  const std::string before = old != nullptr ? old : "";
  ::setenv("HOME", folder.path().c_str(), 1);
  EXPECT_EQ(debug::expand_user("~"), folder.path());
  EXPECT_EQ(debug::expand_user("~/a/b"), folder / "a/b");
  EXPECT_EQ(debug::expand_user("~no such user/a"), "~no such user/a");
  EXPECT_EQ(debug::expand_user("a/~"), "a/~");
  EXPECT_TRUE(debug::expand_user("~root/x").is_absolute());
  auto session = session_of(cr::DumpingDebugHook{"~/dumps"});
  session.run(all);
  EXPECT_EQ(runs_of(folder / "dumps").size(), 1U);
  before.empty() ? ::unsetenv("HOME") : ::setenv("HOME", before.c_str(), 1);
}
TEST(SessionRoot, IsKeptByASecondSessionOfTheSameHook) {
  const TemporaryFolder folder;
  cr::HookChain chain{cr::DumpingDebugHook{folder / "dumps"}};
  {
    cr::MonitoredSession<decltype(machine()), decltype(chain)&> session{machine(), chain};
    session.run(all);
    session.close();
  }
  cr::MonitoredSession<decltype(machine()), decltype(chain)&> session{machine(), chain};
  session.run(all);
  EXPECT_EQ(runs_of(folder / "dumps").size(), 2U);
}

TEST(ThreadNameFilter, IsThePatternOfTheThreadsThatAreDumped) {
  const TemporaryFolder folder;
  std::string name = "trainer-1";
  auto session = session_of(
      cr::DumpingDebugHook{folder / "dumps", {.thread_name_filter = "train", .thread_name = [&] { return name; }}});
  session.run(all);
  name = "a trainer";
  session.run(all);
  EXPECT_EQ(runs_of(folder / "dumps").size(), 1U);
}
TEST(ThreadNameFilter, NamesAreThoseOfTheSystem) {
  const TemporaryFolder folder;
  auto session = session_of(cr::DumpingDebugHook{folder / "dumps", {}, "dumped$", false});
  std::thread([&] {
    ::pthread_setname_np(::pthread_self(), "dumped");
    EXPECT_EQ(debug::thread_name(), "dumped");
    session.run(all);
    ::pthread_setname_np(::pthread_self(), "other");
    session.run(all);
  }).join();
  EXPECT_EQ(runs_of(folder / "dumps").size(), 1U);
}

TEST(DumpingDebugHook, DecoratorsSayWhichRunsItSees) {
  const TemporaryFolder folder;
  auto session = session_of(cr::EveryN<3, cr::DumpingDebugHook<>>{{folder / "dumps"}});
  for (int i = 0; i < 7; ++i) session.run(all);
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(metadata_of(runs[1])["global_step"], 5) << "the run that makes step 6";
}

TEST(KeepRuns, RemovesTheOldest) {
  const TemporaryFolder folder;
  debug::DiskBudget budget{[] { return "200"; }};
  auto session = session_of(cr::DumpingDebugHook{folder / "dumps", {.keep_runs = 2, .budget = &budget}});
  for (int i = 0; i < 20; ++i) session.run(all);
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_TRUE(runs[0].filename().string().ends_with("_18"));
  EXPECT_EQ(budget.used(), 2U * 33) << "bytes that are gone do not count";
}

TEST(DiskLimit, EndsDumpsAndNotTheLoop) {
  const TemporaryFolder folder;
  debug::DiskBudget budget{[] { return "40"; }};
  Lines said;
  auto session = session_of(cr::DumpingDebugHook{
      folder / "dumps", {.sink = [&](std::string_view line) { said.emplace_back(line); }, .budget = &budget}});
  for (int i = 0; i < 5; ++i) session.run(all);
  EXPECT_EQ(session.step(), 5);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("33 of 40 are used. Set TFDBG_DISK_BYTES_LIMIT"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("the loop goes on"), std::string::npos);
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 1U) << "a directory without a tensor is removed again";
  EXPECT_EQ(keys_in(runs[0]).size(), 4U);
}
TEST(DiskLimit, CanEndTheLoopAsInTheOriginal) {
  const TemporaryFolder folder;
  debug::DiskBudget budget{[] { return "10"; }};
  auto session =
      session_of(cr::DumpingDebugHook{folder / "dumps", {.on_failure = debug::OnDumpFailure::fail, .budget = &budget}});
  EXPECT_THROW(session.run(all), cr::ResourceExhaustedError);
}

TEST(DiskLimit, IsCountedAnewFromAHooksFirstRunOn) {
  const TemporaryFolder folder;
  debug::DiskBudget budget{[] { return "40"; }};
  for (const char* name : {"a", "b"}) {
    auto session =
        session_of(cr::DumpingDebugHook{folder / name, {.on_failure = debug::OnDumpFailure::fail, .budget = &budget}});
    session.run(all);
    EXPECT_EQ(budget.used(), 33U);
  }
}

/// Three runs of a step function. The second run throws.
void dump_three_of_which_one_fails(const fs::path& root) {
  int steps = 0;
  cr::StepExecutor executor{[&](auto& out) {
                              if (++steps == 2) throw std::runtime_error("overflow");
                              out["loss"_n] = 1.0F;
                            },
                            cr::output<float, "loss">};
  cr::MonitoredSession session{std::move(executor), cr::HookChain{cr::DumpingDebugHook{root}}};
  session.run(cr::fetches<"loss">);
  EXPECT_THROW(session.run(cr::fetches<"loss">), std::runtime_error);
  session.run(cr::fetches<"loss">);
}

TEST(DumpingDebugHook, ARunThatFailsLeavesWhatItHadReached) {
  const TemporaryFolder folder;
  dump_three_of_which_one_fails(folder / "dumps");
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(keys_in(runs[1]), Names{}) << "a step function has reached nothing when it throws";
  EXPECT_EQ(metadata_of(runs[1])["global_step"], 1);
  EXPECT_EQ(keys_in(runs[2]), Names{"loss:0:DebugIdentity"});
}

TEST(DumpingDebugHook, TakesAnOutputOfAStepFunctionAboveTheHighestRankOfModels) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2, 3, 4};
  cr::StepExecutor executor{[&](auto& out) {
                              out["deep"_n] = cr::TensorView<float, 7>(values.data(), {1, 2, 1, 1, 1, 1, 2});
                            },
                            cr::output<cr::TensorView<float, 7>, "deep">};
  cr::MonitoredSession session{std::move(executor), cr::HookChain{cr::DumpingDebugHook{folder / "dumps"}}};
  session.run(cr::fetches<"deep">);
  session.close();
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(tensor_of(runs[0], "deep").tensor_shape().dim_size(), 7);
  EXPECT_EQ(tensor_of(runs[0], "deep").tensor_shape().dim(1).size(), 2);
  const auto shapes = graph_of(runs[0], [](const crochet::proto::NodeDef& node) {
    const auto found = node.attr().find("_output_shapes");
    return found == node.attr().end() ? "" : found->second.list().shape(0).ShortDebugString();
  });
  EXPECT_EQ(shapes.at("deep"), "unknown_rank: true");
}

TEST(DumpingDebugHook, ADeviceWhoseNameIsNoneEndsTheLoopAsOtherMisuseDoes) {
  const TemporaryFolder folder;
  auto session = session_of(cr::DumpingDebugHook{folder / "dumps", {.device = "the fast one"}});
  EXPECT_THROW(session.run(all), cr::LogicError);
  EXPECT_EQ(runs_of(folder / "dumps").size(), 0U);
}

TEST(FullDisk, IsReportedOnceAndLeavesWholeFilesOnly) {
  for (std::size_t budget = 0; budget < 6000; budget += 331) {
    const TemporaryFolder folder;
    Lines said;
    crochet::test::FaultyFiles files{budget, std::make_error_code(std::errc::no_space_on_device)};
    auto session = session_of(cr::DumpingDebugHook{
        folder / "dumps", {.sink = [&](std::string_view line) { said.emplace_back(line); }, .files = &files}});
    for (int i = 0; i < 3; ++i) session.run(all);
    EXPECT_EQ(session.step(), 3);
    ASSERT_EQ(said.size(), 1U) << budget;
    EXPECT_NE(said[0].find("No space left on device; the loop goes on"), std::string::npos) << said[0];
    for (const fs::path& run : runs_of(folder / "dumps")) {
      EXPECT_FALSE(fs::exists(run / ".writing"));
      for (const std::string& file : files_in(run)) (void)event_of(run / file);
    }
  }
}
TEST(FullDisk, CanEndTheLoop) {
  const TemporaryFolder folder;
  crochet::test::FaultyFiles files{100, std::make_error_code(std::errc::no_space_on_device)};
  auto session =
      session_of(cr::DumpingDebugHook{folder / "dumps", {.on_failure = debug::OnDumpFailure::fail, .files = &files}});
  EXPECT_THROW(session.run(all), cr::IoError);
}
TEST(FullDisk, DumpsGoOnWhenThereIsRoomAgain) {
  const TemporaryFolder folder;
  const char* limit = "0";
  debug::DiskBudget budget{[&] { return limit; }};
  Lines said;
  auto session = session_of(cr::DumpingDebugHook{
      folder / "dumps", {.sink = [&](std::string_view line) { said.emplace_back(line); }, .budget = &budget}});
  session.run(all);
  limit = "50";
  session.run(all);
  session.run(all);
  EXPECT_EQ(said.size(), 2U) << "reported again after it had worked";
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_TRUE(runs[0].filename().string().ends_with("_0")) << "runs are numbered without gaps";
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(WhenNotFinite, DumpsTheRunThatWentWrong) {
  const TemporaryFolder folder;
  auto session =
      cr::MonitoredSession{machine({1, 2, nan, 4}),
                           cr::HookChain{cr::DumpingDebugHook{folder / "dumps", {}, debug::when_not_finite<"loss">}}};
  for (int i = 0; i < 4; ++i) session.run(cr::fetches<"net/field">);
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(metadata_of(runs[0])["global_step"], 2);
  EXPECT_EQ(keys_in(runs[0]), (Names{"net/field:0:DebugIdentity", "loss:0:DebugIdentity"}));
  float loss = 0, field = 0;
  std::memcpy(&loss, tensor_of(runs[0], "loss").tensor_content().data(), sizeof loss);
  std::memcpy(&field, tensor_of(runs[0], "net/field").tensor_content().data(), sizeof field);
  EXPECT_TRUE(std::isnan(loss));
  EXPECT_EQ(field, 1.5F) << "as it was in that run";
}
TEST(WhenNotFinite, DumpsARunThatAHookInFrontEndedWithAnError) {
  const TemporaryFolder folder;
  auto session = cr::MonitoredSession{
      machine({1, nan}), cr::HookChain{cr::NanTensor<"loss">{},
                                       cr::DumpingDebugHook{folder / "dumps", {}, debug::when_not_finite<"loss">}}};
  EXPECT_THROW(cr::run_session(session,
                               [](auto& s) {
                                 while (!s.should_stop()) s.run(all);
                               }),
               cr::NanLossError);
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(metadata_of(runs[0])["global_step"], 1);
}
TEST(WhenNotFinite, DumpsARunThatAHookInFrontEndedAlsoInALoopOfOnesOwn) {
  const TemporaryFolder folder;
  const auto hooks = [&](const char* root) {
    return cr::HookChain{cr::NanTensor<"loss">{}, cr::DumpingDebugHook{folder / root, cr::when_not_finite<"loss">}};
  };
  const auto step_of_last = [&](const char* root) {
    const auto runs = runs_of(folder / root);
    return runs.size() == 1 ? metadata_of(runs[0])["global_step"].get<int>() : -1;
  };
  {
    cr::MonitoredSession session{machine({1, nan}), hooks("left")};
    session.run(all);
    EXPECT_THROW(session.run(all), cr::NanLossError);
    const auto copied = session.hooks();
    const auto moved = std::move(session.hooks());
    EXPECT_EQ(runs_of(folder / "left").size(), 0U);
  }  // without close()
  EXPECT_EQ(step_of_last("left"), 1);

  cr::MonitoredSession session{machine({1, nan, 3}), hooks("went on")};
  session.run(all);
  EXPECT_THROW(session.run(all), cr::NanLossError);
  session.run(all);
  EXPECT_EQ(step_of_last("went on"), 1);
  const fs::path run = runs_of(folder / "went on").at(0);
  EXPECT_EQ(graph_of(run, urls_in).at("__dbg_loss:0_0_DebugIdentity"), "file://" + run.string());
  session.close();
}
TEST(WhenNotFinite, ARunWhoseWritingFailedIsNotWrittenAgain) {
  const TemporaryFolder folder;
  const char* limit = "0";
  debug::DiskBudget budget{[&] { return limit; }};
  auto session = cr::MonitoredSession{
      machine({1, nan, 3}),
      cr::HookChain{cr::DumpingDebugHook{folder / "dumps",
                                         {.on_failure = debug::OnDumpFailure::fail, .budget = &budget},
                                         cr::when_not_finite<"loss">}}};
  session.run(all);
  EXPECT_THROW(session.run(all), cr::ResourceExhaustedError);
  EXPECT_NO_THROW(session.run(all));
  limit = "1000";
  session.run(all);
  session.close();
  EXPECT_EQ(runs_of(folder / "dumps").size(), 0U);
}
TEST(When, AFunctionOfWhatWasFetchedDecides) {
  const TemporaryFolder folder;
  auto session = cr::MonitoredSession{
      machine({1, 20, 3}),
      cr::HookChain{cr::DumpingDebugHook{folder / "dumps", {}, debug::when<"loss", "count">([](float loss, int count) {
                                           return loss > 10 && count == 14;
                                         })}}};
  for (int i = 0; i < 3; ++i) session.run(cr::fetches<"loss">);
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(metadata_of(runs[0])["global_step"], 1);
}

TEST(DumpingDebugHook, IsWrittenAsShortAsThis) {
  const TemporaryFolder folder;
  auto session = cr::MonitoredSession{
      machine({1, nan, 3}),
      cr::HookChain{
          cr::DumpingDebugHook{folder / "a", cr::when_not_finite<"loss">},
          cr::DumpingDebugHook{folder / "b", cr::Watch<"lo">{}},
          cr::DumpingDebugHook{folder / "c", cr::Watch<"net">{}, cr::when_not_finite<"loss">},
          cr::DumpingDebugHook<cr::Watch<"lo">>{folder / "d"}, cr::DumpingDebugHook{folder / "e", nullptr},
          cr::DumpingDebugHook{folder / "f", cr::WatchOptions{{}, "good"}},
          cr::DumpingDebugHook{folder / "g", debug::when<"loss">([](float x) { return x > 2; })},
          cr::DumpingDebugHook{folder / "h", std::function<cr::WatchOptions(debug::NameList, debug::NameList)>{}},
          cr::DumpingDebugHook{folder / "i", cr::WatchAll{}, debug::when<"loss">([&](float) { return false; })},
          cr::DumpingDebugHook{folder / "j", cr::Watch<"lo">{}, {.keep_runs = 2}},
          cr::DumpingDebugHook{folder / "k", cr::Watch<"net">{}, {.keep_runs = 2}, cr::when_not_finite<"loss">}}};
  for (int i = 0; i < 3; ++i) session.run(all);
  const Names every{"net/field:0:DebugIdentity", "loss:0:DebugIdentity", "count:0:DebugIdentity",
                    "good:0:DebugIdentity"};
  const auto dumped = [&](const char* root) {
    std::vector<Names> keys;
    for (const fs::path& run : runs_of(folder / root)) keys.push_back(keys_in(run));
    return keys;
  };
  using Runs = std::vector<Names>;
  const Names loss{"loss:0:DebugIdentity"}, good{"good:0:DebugIdentity"};
  EXPECT_EQ(dumped("a"), Runs{every});
  EXPECT_EQ(dumped("b"), (Runs{loss, loss, loss}));
  EXPECT_EQ(dumped("c"), Runs{Names{"net/field:0:DebugIdentity"}});
  EXPECT_EQ(dumped("d"), (Runs{loss, loss, loss}));
  EXPECT_EQ(dumped("e"), (Runs{every, every, every}));
  EXPECT_EQ(dumped("f"), (Runs{good, good, good}));
  EXPECT_EQ(dumped("g"), Runs{every});
  EXPECT_EQ(dumped("h"), (Runs{every, every, every})) << "an empty function is no function";
  EXPECT_EQ(dumped("i"), Runs{});
  EXPECT_EQ(dumped("j"), (Runs{loss, loss})) << "with options";
  EXPECT_EQ(dumped("k"), Runs{Names{"net/field:0:DebugIdentity"}});
}

TEST(DumpingDebugHook, TheGraphNamesItsOwnDirectoryAlsoBehindARunThatFailed) {
  const TemporaryFolder folder;
  dump_three_of_which_one_fails(folder / "dumps");
  for (const fs::path& run : runs_of(folder / "dumps")) {
    EXPECT_EQ(graph_of(run, urls_in).at("__dbg_loss:0_0_DebugIdentity"), "file://" + run.string());
  }
}

/// A step function whose output names and types are not valid file names.
TEST(DumpingDebugHook, NamesAreThoseOfTheGraphEverywhere) {
  const TemporaryFolder folder;
  cr::StepExecutor executor{[](auto& out) {
                              out["a b"_n] = 1.0F;
                              out["../up"_n] = 2.0F;
                              out["\xff\xfe"_n] = 3.0F;
                              (void)out.input("x\xff y"_n, 1.0F);
                            },
                            cr::output<float, "a b">, cr::output<float, "../up">, cr::output<float, "\xff\xfe">,
                            cr::input<float, "x\xff y">};
  cr::MonitoredSession session{std::move(executor), cr::HookChain{cr::DumpingDebugHook{folder / "dumps"}}};
  session.run(cr::fetches<"a b", "../up", "\xff\xfe">, cr::feed<"x\xff y">(1.0F));
  const fs::path run = runs_of(folder / "dumps").at(0);
  const auto nodes = graph_of(run, [](const crochet::proto::NodeDef&) { return std::string(); });
  const nlohmann::json metadata = metadata_of(run);
  ASSERT_EQ(metadata["output_names"].size(), 3U);
  Names keys;
  for (const std::string name : metadata["output_names"]) {
    EXPECT_TRUE(nodes.contains(name.substr(0, name.size() - 2))) << name;
    keys.insert(name + ":DebugIdentity");
  }
  EXPECT_EQ(keys_in(run), keys);
  EXPECT_EQ(event_of(run / "_tfdbg_fetches_info_").log_message().message(),
            "['a_b:0', '" + debug::safe_node_name("../up") + ":0', '__:0']");
  EXPECT_EQ(metadata["input_names"], nlohmann::json{debug::safe_node_name("x\xff y") + ":0"});
}

TEST(DumpingDebugHook, WhatIsNoTensorIsNeitherWatchedNorGivenAType) {
  struct Report {
    int rows = 0;
  };
  const TemporaryFolder folder;
  cr::StepExecutor executor{[](auto& out) {
                              out["loss"_n] = 1.0F;
                              out["text"_n] = std::string("all is well");
                              out["short"_n] = std::int16_t{3};
                              out["report"_n] = Report{5};
                            },
                            cr::output<float, "loss">, cr::output<std::string, "text">,
                            cr::output<std::int16_t, "short">, cr::output<Report, "report">};
  cr::MonitoredSession session{std::move(executor), cr::HookChain{cr::DumpingDebugHook{folder / "dumps"}}};
  session.run(cr::fetches<"loss", "text", "short", "report">);
  const fs::path run = runs_of(folder / "dumps").at(0);
  EXPECT_EQ(keys_in(run), Names{"loss:0:DebugIdentity"});
  const auto types = graph_of(run, [](const crochet::proto::NodeDef& node) {
    const auto found = node.attr().find("T");
    return found == node.attr().end() ? "none" : crochet::proto::DataType_Name(found->second.type());
  });
  const std::map<std::string, std::string> expected{{"step_function", "none"},
                                                    {"loss", "DT_FLOAT"},
                                                    {"text", "none"},
                                                    {"short", "none"},
                                                    {"report", "none"},
                                                    {"__copy_loss_0", "DT_FLOAT"},
                                                    {"__dbg_loss:0_0_DebugIdentity", "DT_FLOAT"}};
  EXPECT_EQ(types, expected);
}

TEST(PythonRepr, IsPythons) {
  EXPECT_EQ(debug::python_repr("a"), "'a'");
  EXPECT_EQ(debug::python_repr("it's"), "\"it's\"");
  EXPECT_EQ(debug::python_repr("'\""), "'\\'\"'");
  EXPECT_EQ(debug::python_repr("a\\b\n\x01"), "'a\\\\b\\n\\x01'");
  EXPECT_EQ(debug::python_repr(Lines{}), "[]");
  EXPECT_EQ(debug::python_repr(Lines{"a", "b"}), "['a', 'b']");
}

}  // namespace dumping_debug_test
