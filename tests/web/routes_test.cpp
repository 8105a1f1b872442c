// SPDX-License-Identifier: Apache-2.0
// Which requests are answered, and with what.
#include <crochet/web/routes.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace routes_test {

namespace web = crochet::web;

constexpr std::string_view token = "00112233445566778899aabbccddeeff";

/// The status of the answer; 0 if the request is malformed.
int status(const std::string& line, const std::string& headers = "Host: 127.0.0.1:8080", web::Board* board = nullptr) {
  web::Board other;
  const std::string head = line + " HTTP/1.1\r\n" + headers;
  const auto request = web::parse_request(head);
  return request ? web::answer(*request, token, board != nullptr ? *board : other).status : 0;
}
const std::string with_token = "?token=" + std::string(token);

TEST(Routes, NothingWithoutTheToken) {
  EXPECT_EQ(status("GET /" + with_token), 200);
  EXPECT_EQ(status("GET /data" + with_token), 200);
  EXPECT_EQ(status("GET /data" + with_token + "&since=12"), 200);
  for (const std::string path : {"/", "/data", "/stop", "/secret"}) {
    EXPECT_EQ(status("GET " + path), 403);
    EXPECT_EQ(status("POST " + path + "?token="), 403);
    EXPECT_EQ(status("GET " + path + "?token=00112233445566778899aabbccddeefe"), 403);
    EXPECT_EQ(status("GET " + path + "?token=" + std::string(token.substr(1))), 403);
    EXPECT_EQ(status("GET " + path + "?xtoken=" + std::string(token)), 403);
  }
}

TEST(Routes, AForeignNameOrSiteIsRefusedEvenWithTheToken) {
  const std::string get = "GET /" + with_token;
  for (const std::string host : {"localhost", "localhost:80", "127.0.0.1", "192.168.1.7:4000", "[::1]:80", "[::1]"}) {
    EXPECT_EQ(status(get, "Host: " + host), 200) << host;
  }
  for (const std::string host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "evil:80:90",
                                 "[::1].evil", "[]", "127.0.0.1:80@evil"}) {
    EXPECT_EQ(status(get, "Host: " + host), 403) << host;
  }
  const std::string stop = "POST /stop" + with_token;
  EXPECT_EQ(status(stop, "Host: localhost:80\r\nOrigin: http://localhost:80"), 200);
  EXPECT_EQ(status(stop, "Host: localhost:80\r\nOrigin: http://evil.example"), 403);
  EXPECT_EQ(status(stop, "Host: localhost:80\r\nOrigin: null"), 403);
  EXPECT_EQ(status(stop, "Host: localhost:80\r\nOrigin: http://localhost:81"), 403);
}

TEST(Routes, OnlyAPostStops) {
  web::Board board;
  EXPECT_EQ(status("GET /stop" + with_token, "Host: localhost", &board), 405);
  EXPECT_EQ(status("POST /stop?token=x", "Host: localhost", &board), 403);
  EXPECT_EQ(status("POST /" + with_token, "Host: localhost", &board), 405);
  EXPECT_FALSE(board.stop_requested());
  EXPECT_EQ(status("POST /stop" + with_token, "Host: localhost\r\nContent-Length: 0", &board), 200);
  EXPECT_TRUE(board.stop_requested());
}

TEST(Routes, NoOtherPathAndNoBody) {
  for (const std::string path : {"/../../etc/passwd", "/%2e%2e/etc/passwd", "//", "/data/", "/index.html", "/DATA"}) {
    EXPECT_EQ(status("GET " + path + with_token), 404) << path;
  }
  EXPECT_EQ(status("GET /data" + with_token + "&since=-1"), 400);
  EXPECT_EQ(status("GET /data" + with_token + "&since=99999999999999999999"), 400);
  EXPECT_EQ(status("POST /stop" + with_token, "Host: localhost\r\nContent-Length: 5"), 413);
  EXPECT_EQ(status("POST /stop" + with_token, "Host: localhost\r\nTransfer-Encoding: chunked"), 413);
}

TEST(Routes, MalformedRequestsAreRefused) {
  for (const std::string head : {"",
                                 " ",
                                 "GET",
                                 "GET /",
                                 "GET / HTTP/2.0\r\nHost: a",
                                 "GET http://evil/ HTTP/1.1\r\nHost: a",
                                 "GET / x HTTP/1.1\r\nHost: a",
                                 " / HTTP/1.1\r\nHost: a",
                                 "GET / HTTP/1.1",
                                 "GET / HTTP/1.1\r\nHost:",
                                 "GET / HTTP/1.1\r\nHost: a\r\nHost: b",
                                 "GET / HTTP/1.1\r\nHost:\r\nHost: b",
                                 "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 0",
                                 "GET / HTTP/1.1\r\nHost: a\r\nOrigin: a\r\nOrigin: b",
                                 "GET / HTTP/1.1\r\nHost: a\r\n: x",
                                 "GET / HTTP/1.1\r\nHost: a\r\nno colon",
                                 "GET / HTTP/1.1\r\nHost : a",
                                 "GET / HTTP/1.1\r\nHost: a\nX: y",
                                 "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1",
                                 "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999",
                                 "\x01 / HTTP/1.1\r\nHost: a"}) {
    EXPECT_FALSE(web::parse_request(head)) << head;
  }
  EXPECT_TRUE(web::parse_request("GET / HTTP/1.0\r\nhOST:\t a "));
}

TEST(Routes, TokensDiffer) {
  const std::string one = web::random_token();
  EXPECT_EQ(one.size(), 32U);
  EXPECT_NE(one, web::random_token());
}

TEST(Routes, ThePageLoadsNothingElse) {
  for (const std::string_view foreign : {"http://", "https://", "src=", "href=", "import", "innerHTML", "eval("}) {
    EXPECT_EQ(web::page_text.find(foreign), std::string_view::npos) << foreign;
  }
}

}  // namespace routes_test
