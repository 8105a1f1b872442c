// SPDX-License-Identifier: Apache-2.0
// The answers of the live page to requests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/web/access.hpp>
#include <crochet/web/board.hpp>
#include <crochet/web/board_json.hpp>
#include <crochet/web/http_reply.hpp>
#include <crochet/web/http_request.hpp>
#include <crochet/web/page_text.hpp>

namespace crochet::web {

/// `GET /` is the page, `GET /data?since=VERSION` the changes of the board as JSON, `POST /stop` requests a stop. Each
/// has the parameter `token`.
/// - 403: a Host that is a name (is_local_name), an Origin of another site, or no valid token, in this order. Without
///   the token every well-formed request is 403; malformed ones and long heads are 400 and 431 (HttpServer).
/// - 404, 405, 413: another path, another method, a body.
inline HttpReply answer(const HttpRequest& request, std::string_view token, Board& board) {
  if (!is_local_name(request.host)) {
    return {403, HttpReply::plain, "The host must be localhost or the number of an address.\n"};
  }
  if (request.origin && *request.origin != "http://" + std::string(request.host)) {
    return {403, HttpReply::plain, "Requests from other sites are refused.\n"};
  }
  if (!equal_in_constant_time(request.parameter("token"), token)) {
    return {403, HttpReply::plain, "No valid token. Open the address that the program has printed.\n"};
  }
  if (request.content_length > 0 || request.has_transfer_encoding)
    return {413, HttpReply::plain, "No request has a body here.\n"};
  const bool page = request.path == "/", data = request.path == "/data", stop = request.path == "/stop";
  if (!page && !data && !stop) return {404, HttpReply::plain, "There are /, /data and /stop.\n"};
  if (request.method != (stop ? "POST" : "GET"))
    return {405, HttpReply::plain, "GET for / and /data, POST for /stop.\n"};
  if (page) return {200, "text/html; charset=utf-8", std::string(page_text)};
  if (stop) {
    board.request_stop();
    return {200, HttpReply::plain, "The training stops after its current run.\n"};
  }
  std::uint64_t since = 0;
  if (const auto given = request.parameter("since"); !given.empty() && !detail::read_number(given, since)) {
    return {400, HttpReply::plain, "since is a number.\n"};
  }
  return {200, "application/json", board_json(board.changes(since))};
}

}  // namespace crochet::web
