// SPDX-License-Identifier: Apache-2.0
// DumpingDebugHook on a graph, on both executors: the dumped tensors are the run's, of the device that ran it, and the
// training's results are the same as without the hook.
#include <crochet/proto/event.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/crochet.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../executor/device_under_test.hpp"
#include "../../io/temporary_folder.hpp"

namespace on_cpu_dump_test {

namespace cr = crochet;
namespace fs = std::filesystem;
using namespace cr::literals;
using cr::test::TemporaryFolder;
using Names = std::set<std::string>;
using Values = std::vector<float>;

struct Line {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    const auto guess = g.name("guess", dense(x, 1, "line"));
    const auto loss = g.name("loss", reduce_mean(square(guess - y)));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.05}));
  }
};
const Values x{1, 2, 3, -1, 0, 2}, y{1, -1};

template <class... H>
auto session_of(H... hook) {
  return cr::MonitoredSession{cr::DeviceUnderTest{.threads = 2}.compile<Line>(), cr::HookChain{std::move(hook)...}};
}
template <class Session>
float step(Session& session) {
  const auto [loss] = session.run(cr::fetches<"loss">, "train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
  return loss;
}
Values weights(auto& session) {
  const auto kernel = session.executor().variable("line/kernel"_n);
  return {kernel.begin(), kernel.end()};
}

const std::string device = std::string("_tfdbg_device_,job_localhost,replica_0,task_0,device_") +
                           (cr::on_device_under_test ? "GPU_0" : "CPU_0");

std::vector<fs::path> runs_of(const fs::path& root) {
  std::map<int, fs::path> runs;
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    runs[std::stoi(name.substr(name.rfind('_') + 1))] = entry.path();
  }
  std::vector<fs::path> paths;
  paths.reserve(runs.size());
  for (const auto& [number, path] : runs) paths.push_back(path);
  return paths;
}
/// The dumped tensors of floats in the folder of a run, by node.
std::map<std::string, Values> tensors_in(const fs::path& run) {
  std::map<std::string, Values> tensors;
  for (const auto& entry : fs::recursive_directory_iterator(run / device)) {
    const std::string file = entry.path().lexically_relative(run / device).string();
    if (entry.is_directory() || file.starts_with("_tfdbg_graph_")) continue;
    std::ifstream bytes(entry.path(), std::ios::binary);
    cr::proto::Event event;
    EXPECT_TRUE(event.ParseFromIstream(&bytes)) << file;
    const cr::proto::TensorProto& tensor = event.summary().value(0).tensor();
    Values& values = tensors[file.substr(0, file.find("_0_DebugIdentity"))];
    if (tensor.dtype() != cr::proto::DT_FLOAT) continue;
    values.resize(tensor.tensor_content().size() / sizeof(float));
    std::memcpy(values.data(), tensor.tensor_content().data(), tensor.tensor_content().size());
  }
  return tensors;
}

TEST(DumpOfAGraph, HasTheValuesOfTheRun) {
  const TemporaryFolder folder;
  auto plain = session_of();
  auto session = session_of(cr::DumpingDebugHook{folder / "dumps"});
  for (int run = 0; run < 3; ++run) {
    const Values before = weights(session);
    const float loss = step(session);
    EXPECT_FLOAT_EQ(loss, step(plain));
    const auto dumped = tensors_in(runs_of(folder / "dumps").at(static_cast<std::size_t>(run)));
    EXPECT_EQ(dumped.at("loss"), Values{loss});
    EXPECT_EQ(dumped.at("x"), x);
    EXPECT_EQ(dumped.at("line/kernel"), before) << "as of before the run";
    EXPECT_EQ(dumped.at("train/line/kernel/assign"), weights(session)) << "as assigned by the run";
    ASSERT_EQ(dumped.at("guess").size(), 2U);
    const Values& product = dumped.at("line/matmul");
    EXPECT_NEAR(product[0], before[0] + 2 * before[1] + 3 * before[2], 1e-5);
    EXPECT_NEAR(product[1], 2 * before[2] - before[0], 1e-5);
  }
  for (std::size_t k = 0; k < 3; ++k) EXPECT_FLOAT_EQ(weights(session).at(k), weights(plain).at(k));
}

TEST(DumpOfAGraph, HasTheNodesOfTheWatch) {
  const TemporaryFolder folder;
  auto session = session_of(cr::DumpingDebugHook<cr::Watch<"loss|line/kernel$">>{folder / "compiled"},
                            cr::DumpingDebugHook{folder / "chosen", cr::WatchOptions{{}, "guess|line/bias$"}});
  step(session);
  const auto nodes = [&](const char* root) {
    Names names;
    for (const auto& [node, values] : tensors_in(runs_of(folder / root).at(0))) names.insert(node);
    return names;
  };
  EXPECT_EQ(nodes("compiled"), (Names{"loss", "line/kernel"}));
  EXPECT_EQ(nodes("chosen"), (Names{"guess", "line/bias"}));
}

TEST(DumpOfAGraph, IsWrittenOnlyForRunsThatAreNotFinite) {
  const TemporaryFolder folder;
  auto session = session_of(cr::DumpingDebugHook{folder / "dumps", cr::when_not_finite<"loss">});
  step(session);
  for (float& w : session.executor().variable("line/kernel"_n)) w = INFINITY;
  step(session);
  const auto runs = runs_of(folder / "dumps");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(tensors_in(runs[0]).at("line/kernel"), Values(3, INFINITY));
}

/// A run that a hook refuses before its first step does not happen.
TEST(DumpOfAGraph, ARunThatIsRefusedIsNotCounted) {
  const TemporaryFolder folder;
  bool wrong = false;
  auto session = session_of(cr::DumpingDebugHook{folder / "dumps", [&](auto, auto) {
                                                   return cr::WatchOptions{{}, wrong ? "(" : "loss"};
                                                 }});
  step(session);
  wrong = true;
  EXPECT_THROW(step(session), cr::LogicError);
  EXPECT_EQ(session.step(), 1);
  wrong = false;
  step(session);
  EXPECT_EQ(session.step(), 2);
}

}  // namespace on_cpu_dump_test
