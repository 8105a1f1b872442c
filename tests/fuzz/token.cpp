// SPDX-License-Identifier: Apache-2.0
// The messages of the token handshake. The lines of the input are a client's hello, a server's challenge, an
// authorization, and a server's proof. None of them comes from a peer with the token.
#include <algorithm>
#include <string>
#include <string_view>

#include <crochet/debug/stream/token_proof.hpp>

#include "fuzz_target.hpp"

using namespace crochet::debug;

void fuzz(std::string_view input) {
  const auto line = [&] {
    const std::string_view text = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), text.size() + 1));
    return text;
  };
  constexpr const char* method = "/tensorflow.EventListener/SendEvents";
  TokenServer server("a token");
  TokenClient honest("a token"), client("a token");
  require(honest.accept(server.challenge(honest.hello())));
  const std::string shown = honest.authorize(method);

  const std::string_view hello = line(), challenge = line(), authorization = line(), proof = line();
  const std::string answer = server.challenge(hello);
  require(answer.empty() != (detail::is_nonce(hello)));
  client.hello();
  require(!client.accept(challenge) && !client.accepted() && client.authorize(method).empty());
  require(!server.check(method, authorization));
  require(!server.check(method, shown.substr(0, shown.size() / 2) + std::string(authorization)));
  require(!honest.proves(method, proof));
  require(server.check(method, shown).has_value() && !server.check(method, shown));
}
