// SPDX-License-Identifier: Apache-2.0
// Missing memory while a server starts: std::bad_alloc, and the program goes on.
#include <gtest/gtest.h>

#include <cstddef>
#include <new>
#include <string>

#include <crochet/testing/counting_new.hpp>
#include <crochet/web/http_server.hpp>

#include "raw_client.hpp"

namespace {

TEST(HttpServerMemory, ThatIsNotThereAtTheStartIsAnError) {
  const auto answer = [](const crochet::web::HttpRequest&) {
    return crochet::web::HttpReply{200, crochet::web::HttpReply::plain, "x"};
  };
  int failures = 0;
  for (std::size_t at = 0;; ++at, ++failures) {
    const std::size_t before = crochet::testing::allocations();
    try {
      const crochet::testing::FailingAllocations failing(at);
      const crochet::web::HttpServer server({}, answer);
    } catch (const std::bad_alloc&) {
    }
    if (crochet::testing::allocations() - before <= at) break;
  }
  EXPECT_GT(failures, 2);
  const crochet::web::HttpServer server({}, answer);
  EXPECT_TRUE(raw_client::exchange(server.port(), "GET /x HTTP/1.1\r\nHost: a\r\n\r\n").ends_with("x"));
}

}  // namespace
