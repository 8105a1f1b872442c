// SPDX-License-Identifier: Apache-2.0
// Requests to the live page, from a client without the token, and from one with it.
#include <string>
#include <string_view>

#include <crochet/web/routes.hpp>

#include "fuzz_target.hpp"

using namespace crochet::web;

namespace {

/// A client with the token is admitted where its request is local, and stops the training by a POST only.
void require_admitted(const HttpRequest& request) {
  static Board board;
  board.scalar("loss", 1, 0.5);
  board.line("a line");
  board.begin();
  const HttpReply reply = answer(request, std::string(request.parameter("token")), board);
  const bool right = reply.status == 200;
  require(right || (reply.status >= 400 && reply.status < 500));
  require(!right || (is_local_name(request.host) && request.content_length == 0 && !request.has_transfer_encoding));
  require(board.stop_requested() == (right && request.path == "/stop" && request.method == "POST"));
}

}  // namespace

void fuzz(std::string_view input) {
  static Board board;
  const auto request = parse_request(input);
  if (!request) return;
  require(!request->method.empty() && !request->host.empty() && request->path.starts_with("/"));
  require(request->path.find_first_of(" ?\r\n") == std::string_view::npos);
  const HttpReply reply = answer(*request, "a token that no input has, of 32", board);
  require(reply.status == 403 && !board.stop_requested());
  require_admitted(*request);
  std::string json;
  append_json(json, input);
  require(json.find_first_of("<>&\n") == std::string::npos);
}
