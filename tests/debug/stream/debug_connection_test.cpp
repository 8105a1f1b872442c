// SPDX-License-Identifier: Apache-2.0
// DebugConnection notes that its connection was lost, also if the channel has a new one by then.
#include <crochet/proto/debug.pb.h>
#include <crochet/debug/stream/debug_address.hpp>
#include <crochet/debug/stream/debug_connection.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "../test_server.hpp"

namespace debug_connection_test {

namespace debug = crochet::debug;
using crochet::test::TestServer;

/// One minute from now, longer than any wait here on a working machine.
auto soon() { return std::chrono::system_clock::now() + std::chrono::minutes(1); }

class Connection : public ::testing::Test {
 protected:
  /// Calls the server until it answers, over a new connection if need be.
  void call() {
    for (bool answered = false; !answered;) {
      grpc::ClientContext context;
      context.set_wait_for_ready(true);
      crochet::proto::EventReply reply;
      answered = connection->stub().SendTracebacks(&context, {}, &reply).ok();
    }
  }
  const std::string address = "unix:" + crochet::test::socket_path();
  std::unique_ptr<debug::DebugConnection> connection =
      std::make_unique<debug::DebugConnection>(debug::DebugAddress(address), 1 << 20);
};

TEST_F(Connection, IsIntactAsLongAsTheServerIsThere) {
  EXPECT_FALSE(connection->is_intact()) << "not connected yet";
  const TestServer server(address);
  ASSERT_TRUE(connection->wait_until_connected(soon()));
  call();
  EXPECT_TRUE(connection->is_intact());
  EXPECT_FALSE(connection->was_lost());
}

TEST_F(Connection, IsLostIfAnotherServerHasTakenThePlace) {
  auto server = std::make_unique<TestServer>(address);
  ASSERT_TRUE(connection->wait_until_connected(soon()));
  server.reset();
  server = std::make_unique<TestServer>(address);
  call();
  ASSERT_EQ(server->tracebacks.size(), 1U) << "the channel has reconnected by itself";
  EXPECT_TRUE(connection->was_lost());
  EXPECT_TRUE(connection->was_lost()) << "until it is connected on purpose";
  EXPECT_FALSE(connection->is_intact());
  ASSERT_TRUE(connection->wait_until_connected(soon()));
  EXPECT_TRUE(connection->is_intact());
}

TEST_F(Connection, EndsWithoutAServerAndWhileItIsConnected) {
  connection = std::make_unique<debug::DebugConnection>(debug::DebugAddress(address), 1 << 20);
  EXPECT_FALSE(connection->wait_until_connected(std::chrono::system_clock::now()));
  const TestServer server(address);
  ASSERT_TRUE(connection->wait_until_connected(soon()));
  connection.reset();
}

}  // namespace debug_connection_test
