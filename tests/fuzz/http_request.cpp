// SPDX-License-Identifier: Apache-2.0
// Requests to the live page, from a client without the token.
#include <string>
#include <string_view>

#include <crochet/web/routes.hpp>

#include "fuzz_target.hpp"

using namespace crochet::web;

void fuzz(std::string_view input) {
  static Board board;
  const auto request = parse_request(input);
  if (!request) return;
  require(!request->method.empty() && !request->host.empty() && request->path.starts_with("/"));
  require(request->path.find_first_of(" ?\r\n") == std::string_view::npos);
  const HttpReply reply = answer(*request, "a token that no input has, of 32", board);
  require(reply.status == 403 && !board.stop_requested());
  std::string json;
  append_json(json, input);
  require(json.find_first_of("<>&\n") == std::string::npos);
}
