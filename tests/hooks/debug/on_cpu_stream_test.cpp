// SPDX-License-Identifier: Apache-2.0
// GrpcDebugHook on a graph, on both executors: the streamed tensors are the run's, and from a device only those are
// copied that the server has selected.
#include <crochet/crochet.hpp>
#include <crochet/debug/stream/gates.hpp>
#include <crochet/hooks/debug/grpc_debug.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "../../debug/test_server.hpp"
#include "../../executor/device_under_test.hpp"

namespace on_cpu_stream_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::test::Change;
using cr::test::TestServer;
using Values = std::vector<float>;

constexpr double soon = 60;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {4});
    const auto scaled = g.name("scaled", x * g.variable<float>("scale", {4}, cr::constant_initializer(2)));
    g.name("total", reduce_sum(square(scaled)));
  }
};

/// The tensors of a stream, by node.
std::map<std::string, Values> tensors_of(const std::vector<cr::proto::Event>& events) {
  std::map<std::string, Values> tensors;
  for (const cr::proto::Event& event : events) {
    if (event.summary().value_size() == 0) continue;
    const std::string& key = event.summary().value(0).node_name();
    const std::string& bytes = event.summary().value(0).tensor().tensor_content();
    Values& values = tensors[key.substr(0, key.find(':'))];
    values.resize(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return tensors;
}
/// The values that were copied from the device since the last call; 0 where they are not counted.
int copies([[maybe_unused]] auto& session) {
#if defined(CROCHET_TEST_SOFTWARE_DEVICE)
  return std::exchange(session.executor().device()->counters.downloads, 0);
#else
  return 0;
#endif
}
#if defined(CROCHET_TEST_SOFTWARE_DEVICE)
constexpr bool counts_copies = true;
#else
constexpr bool counts_copies = false;
#endif

TEST(StreamOfAGraph, HasAndCopiesWhatTheServerHasSelected) {
  const std::string address = "unix:" + cr::test::socket_path();
  cr::debug::gates_of(address)->clear();
  TestServer server(address);
  server.queue({});  // in reply to the graph
  server.queue(cr::test::change(Change::READ_ONLY, "scaled", 0, "DebugIdentity"));
  cr::MonitoredSession session{
      cr::DeviceUnderTest{}.compile<Model>(),
      cr::HookChain{cr::GrpcDebugHook<>(address, cr::debug::WatchOptions{{"DebugIdentity(gated_grpc=true)"}})}};
  const auto run = [&](float value) {
    const Values x(4, value);
    (void)session.run(cr::fetches<"total">, cr::feed<"x">(x));
    EXPECT_TRUE(session.hooks().get<cr::GrpcDebugHook<>>().flush(soon));
    return copies(session);
  };
  EXPECT_EQ(run(1), counts_copies ? 1 : 0) << "the total, which the test fetches: no gate is open";
  EXPECT_EQ(run(3), counts_copies ? 2 : 0);
  session.close();
  EXPECT_TRUE(tensors_of(server.streams().at(0)).empty());
  EXPECT_EQ(tensors_of(server.streams().at(1)), (std::map<std::string, Values>{{"scaled", Values(4, 6)}}));
}

}  // namespace on_cpu_stream_test
