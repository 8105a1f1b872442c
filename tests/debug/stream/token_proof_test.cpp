// SPDX-License-Identifier: Apache-2.0
// The token handshake of a client and a server, and the forgeries that it must reject.
#include <crochet/debug/stream/token_proof.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace token_proof_test {

using crochet::debug::TokenClient;
using crochet::debug::TokenServer;
constexpr const char* method = "/tensorflow.EventListener/SendEvents";

TEST(TokenProof, the_mac_is_hmac_sha256) {
  // python3: hmac.new(b"key", b"crochet debug token 1\nserver hello\na\nb", hashlib.sha256).hexdigest()
  EXPECT_EQ(crochet::debug::detail::token_mac("key", {"server hello", "a", "b"}),
            "d13f30eb530e076b1d0b72bfde1a9a4443dbf07cae5e6c6fa95edbb4f2e94f56");
}

TEST(TokenProof, both_prove_themselves_on_each_call) {
  TokenClient client("secret");
  TokenServer server("secret");
  EXPECT_EQ(client.authorize(method), "") << "no server has proved itself";
  ASSERT_TRUE(client.accept(server.challenge(client.hello())));
  std::string last;
  for (int call = 0; call < 3; ++call) {
    const std::string shown = client.authorize(method);
    EXPECT_NE(shown, last);
    const auto proof = server.check(method, shown);
    ASSERT_TRUE(proof);
    EXPECT_TRUE(client.proves(method, *proof));
    EXPECT_FALSE(client.proves(method, last)) << "a proof of another call";
    EXPECT_FALSE(client.proves("/other", *proof));
    last = *proof;
  }
}

TEST(TokenProof, a_client_is_not_taken_twice_nor_for_another_call_nor_changed) {
  TokenClient client("secret");
  TokenServer server("secret"), other("secret");
  ASSERT_TRUE(client.accept(server.challenge(client.hello())));
  const std::string first = client.authorize(method), second = client.authorize(method);
  EXPECT_FALSE(server.check("/other", second));
  EXPECT_FALSE(other.check(method, second)) << "a session of another server";
  for (std::size_t i = 0; i < second.size(); ++i) {
    std::string changed = second;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_FALSE(server.check(method, changed)) << changed;
    EXPECT_FALSE(server.check(method, second.substr(0, i)));
  }
  EXPECT_FALSE(server.check(method, second + "0"));
  EXPECT_TRUE(server.check(method, second));
  EXPECT_FALSE(server.check(method, second)) << "replayed";
  EXPECT_FALSE(server.check(method, first)) << "older than the last";
  EXPECT_FALSE(server.check(method, "Bearer secret"));
  EXPECT_FALSE(server.check(method, ""));
}

TEST(TokenProof, a_server_needs_the_token_and_the_clients_own_nonce) {
  TokenServer server("secret");
  TokenClient client("secret");
  const std::string earlier = server.challenge(client.hello());
  const std::string hello = client.hello();
  for (const std::string& challenge : {earlier, hello, hello + " " + hello, std::string(" "), std::string(),
                                       std::string("0 ") + hello, TokenServer("other").challenge(hello)}) {
    TokenClient again = client;
    EXPECT_FALSE(again.accept(challenge)) << challenge;
    EXPECT_FALSE(again.accepted());
    EXPECT_FALSE(again.accept(server.challenge(hello))) << "one hello is good for one answer";
  }
  EXPECT_EQ(server.challenge("no nonce"), "");
  EXPECT_EQ(TokenServer("").challenge(hello), "");
}

TEST(TokenProof, who_has_no_token_cannot_push_out_who_has) {
  TokenServer server("secret", 4);
  TokenClient client("secret"), slow("secret");
  ASSERT_TRUE(client.accept(server.challenge(client.hello())));
  ASSERT_TRUE(server.check(method, client.authorize(method)));
  ASSERT_TRUE(slow.accept(server.challenge(slow.hello())));
  for (int i = 0; i < 100; ++i) static_cast<void>(server.challenge(crochet::debug::detail::random_nonce()));
  EXPECT_TRUE(server.check(method, client.authorize(method)));
  EXPECT_FALSE(server.check(method, slow.authorize(method))) << "unfinished handshakes are forgotten, oldest first";
}

}  // namespace token_proof_test
