// SPDX-License-Identifier: Apache-2.0
// HttpReply: the answer to a request, and its text.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace crochet::web {

struct HttpReply {
  static constexpr std::string_view plain = "text/plain; charset=utf-8";

  int status = 200;
  std::string_view type = plain;
  std::string body;

  /// Status line, headers and body. The headers forbid caches, frames, foreign scripts and any other source than this
  /// server; the connection ends with the reply.
  [[nodiscard]] std::string text() const {
    std::string out = "HTTP/1.1 " + std::to_string(status) + ' ' + std::string(reason()) + "\r\nContent-Type: ";
    out += type;
    out += "\r\nContent-Length: " + std::to_string(body.size());
    out +=
        "\r\nConnection: close\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer"
        "\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin"
        "\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\r\n";
    return out += body;
  }

 private:
  [[nodiscard]] std::string_view reason() const {
    switch (status) {
      case 200:
        return "OK";
      case 400:
        return "Bad Request";
      case 403:
        return "Forbidden";
      case 404:
        return "Not Found";
      case 405:
        return "Method Not Allowed";
      case 413:
        return "Content Too Large";
      case 431:
        return "Request Header Fields Too Large";
      default:
        return "Error";
    }
  }
};

}  // namespace crochet::web
