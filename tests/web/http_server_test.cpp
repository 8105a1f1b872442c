// SPDX-License-Identifier: Apache-2.0
// HttpServer under hostile clients: none of them keeps others from an answer, and memory stays bounded.
#include <crochet/base/error.hpp>
#include <crochet/web/http_server.hpp>

#include <gtest/gtest.h>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../base/no_threads.hpp"
#include "../io/system_limit.hpp"
#include "raw_client.hpp"

namespace http_server_test {

namespace web = crochet::web;
using raw_client::Client;
using raw_client::exchange;

constexpr std::string_view get = "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n";

web::HttpReply echo(const web::HttpRequest& request) {
  if (request.path == "/throw") throw std::runtime_error("x");
  if (request.path == "/large") return {200, web::HttpReply::plain, std::string(5'000'000, 'a')};
  return {200, web::HttpReply::plain, std::string(request.path)};
}

TEST(HttpServer, AnswersAndEndsTheConnection) {
  web::HttpServer server({}, echo);
  const std::string reply = exchange(server.port(), get);
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 200 OK\r\n")) << reply;
  EXPECT_TRUE(reply.ends_with("\r\n\r\n/x")) << reply;
  EXPECT_NE(reply.find("Content-Security-Policy: default-src 'none';"), std::string::npos);
  EXPECT_NE(reply.find("Content-Length: 2\r\n"), std::string::npos);
}

TEST(HttpServer, TakesARequestInPiecesAndSendsAReplyInPieces) {
  web::HttpServer server({}, echo);
  const Client client(server.port());
  for (const char c : get) client.send({&c, 1});
  EXPECT_TRUE(client.receive().ends_with("/x"));
  EXPECT_GT(exchange(server.port(), "GET /large HTTP/1.1\r\nHost: a\r\n\r\n").size(), 5'000'000U);
}

TEST(HttpServer, RefusesHugeHeadsAndGarbage) {
  web::HttpServer server({}, echo);
  EXPECT_TRUE(exchange(server.port(), "GET /x HTTP/1.1\r\nX: " + std::string(20'000, 'a')).starts_with("HTTP/1.1 431"));
  std::string many = "GET /x HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 5'000; ++i) many += "A: b\r\n";
  EXPECT_TRUE(exchange(server.port(), many + "\r\n").starts_with("HTTP/1.1 431"));
  EXPECT_TRUE(exchange(server.port(), std::string("\0\x16\x03\x01\r\n\r\n", 8)).starts_with("HTTP/1.1 400"));
  EXPECT_TRUE(exchange(server.port(), "\r\n\r\n").starts_with("HTTP/1.1 400"));
  EXPECT_EQ(exchange(server.port(), "GET /throw HTTP/1.1\r\nHost: a\r\n\r\n"), "");
  EXPECT_TRUE(exchange(server.port(), get).ends_with("/x"));
}

TEST(HttpServer, SilentConnectionsMakeRoomForNewOnes) {
  web::HttpServer server({.connections = 4}, echo);
  std::vector<Client> silent;
  for (int i = 0; i < 20; ++i) {
    silent.emplace_back(server.port());
    ASSERT_TRUE(silent.back().connected());
    silent.back().send("GET / HTTP/1.1\r\n");
  }
  EXPECT_TRUE(exchange(server.port(), get).ends_with("/x"));
  EXPECT_EQ(silent.front().receive(), "");  // ended by the server
}

TEST(HttpServer, AConnectionHasALimitedTime) {
  std::atomic<double> now = 0;
  web::HttpServer server({.seconds = 5, .clock = [&] { return now.load(); }}, echo);
  const Client slow(server.port());
  slow.send("GET /x HTTP/1.1\r\n");
  EXPECT_TRUE(exchange(server.port(), get).ends_with("/x"));  // the slow one is accepted by now
  now = 6;
  slow.send("Host");  // at which the server reads its clock
  EXPECT_EQ(slow.receive(), "");
}

TEST(HttpServer, ReportsWhyItCannotListen) {
  web::HttpServer server({}, echo);
  try {
    web::HttpServer second({.port = server.port()}, echo);
    FAIL();
  } catch (const crochet::IoError& error) {
    EXPECT_NE(std::string(error.what()).find("choose another port, or 0 for a free one"), std::string::npos);
  }
  EXPECT_THROW(web::HttpServer({.port = 70000}, echo), crochet::LogicError);
  EXPECT_THROW(web::HttpServer({.address = "example.com"}, echo), crochet::LogicError);
}

TEST(HttpServer, AnInvalidOptionIsNamed) {
  const auto refusal = [](const web::HttpServerOptions& options) -> std::string {
    try {
      const web::HttpServer server(options, echo);
    } catch (const crochet::LogicError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({.port = -1}), "crochet: LivePage: invalid port -1; it has to be 0 (a free one) to 65535");
  EXPECT_EQ(refusal({.port = 65536}), "crochet: LivePage: invalid port 65536; it has to be 0 (a free one) to 65535");
  EXPECT_EQ(refusal({.connections = 0}), "crochet: LivePage: connections = 0; set at least 1");
}

TEST(HttpServer, ReportsThatNoDescriptorIsLeft) {
  const std::string expected = std::generic_category().message(EMFILE);
  std::string why;
  try {
    const crochet::test::SystemLimit no_descriptors(RLIMIT_NOFILE, 0);
    const web::HttpServer server({}, echo);
  } catch (const crochet::IoError& error) {
    why = error.what();
  }
  EXPECT_NE(why.find(expected), std::string::npos) << why;
}

// No thread gets a stack of 2^60 bytes, for which pthread_create returns EAGAIN as at the limit of processes.
TEST(HttpServer, ReportsThatNoThreadCanBeStarted) {
  const crochet::test::NoThreads none;
  std::string why;
  try {
    const web::HttpServer server({}, echo);
  } catch (const crochet::ResourceExhaustedError& error) {
    why = error.what();
  }
  EXPECT_NE(why.find("cannot start a thread"), std::string::npos) << why;
}

TEST(HttpServer, OutlivesAnExceptionOfItsThread) {
  std::atomic<bool> broken = false;
  const auto clock = [&] { return broken ? throw std::bad_alloc() : 0.0; };
  web::HttpServer server({.clock = clock}, echo);
  const Client early(server.port());
  early.send("GET /x HTTP/1.1\r\n");
  EXPECT_TRUE(exchange(server.port(), get).ends_with("/x"));  // the early one is accepted by now
  broken = true;
  early.send("Host");  // at which the server reads its clock
  EXPECT_EQ(early.receive(), "");
  broken = false;
  EXPECT_TRUE(exchange(server.port(), get).ends_with("/x"));
}

// The child has the memory of the server and not its thread.
TEST(HttpServer, AChildOfForkLeavesTheParentsServerAlone) {
  auto server = std::make_unique<web::HttpServer>(web::HttpServerOptions{}, echo);
  EXPECT_TRUE(exchange(server->port(), get).ends_with("/x"));
  const pid_t child = ::fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    ::alarm(60);  // ends a child that waits for ever
    server.reset();
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  const Client client(server->port());
  client.limit_wait();
  client.send(get);
  EXPECT_TRUE(client.receive().ends_with("/x"));
}

}  // namespace http_server_test
