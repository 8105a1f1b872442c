// SPDX-License-Identifier: Apache-2.0
// HttpRequest: the parts of a request's head that the live page reads.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace crochet::web {

/// The head of a request, up to and without the empty line. Views into the text that was parsed.
struct HttpRequest {
  std::string_view method;
  std::string_view path;   ///< as sent, without the query; nothing is decoded
  std::string_view query;  ///< behind `?`
  std::string_view host;   ///< of the Host header; exactly one is required
  std::optional<std::string_view> origin{};
  std::uint64_t content_length = 0;
  bool has_transfer_encoding = false;

  /// The value of a parameter of the query; empty if there is none. Nothing is decoded.
  [[nodiscard]] constexpr std::string_view parameter(std::string_view name) const {
    for (std::string_view rest = query; !rest.empty();) {
      const std::string_view pair = rest.substr(0, rest.find('&'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      const std::size_t equals = pair.find('=');
      if (pair.substr(0, equals) == name && equals != std::string_view::npos) return pair.substr(equals + 1);
    }
    return {};
  }
};

}  // namespace crochet::web

namespace crochet::detail {

constexpr bool same_ignoring_case(std::string_view a, std::string_view lower) {
  const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [&](char x, char y) { return low(x) == y; });
}

constexpr std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Whether all of the text is a number that fits.
inline bool read_number(std::string_view text, std::uint64_t& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

/// Reads `METHOD /path?query HTTP/1.x`.
inline bool read_request_line(std::string_view line, web::HttpRequest& request) {
  const std::size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == 0 || last == first) return false;
  const std::string_view version = line.substr(last + 1), target = line.substr(first + 1, last - first - 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  if (target.empty() || target[0] != '/' || target.find(' ') != std::string_view::npos) return false;
  const std::size_t mark = target.find('?');
  request.method = line.substr(0, first);
  request.path = target.substr(0, mark);
  if (mark != std::string_view::npos) request.query = target.substr(mark + 1);
  return true;
}

/// Reads one header. False if it is malformed, or repeated where that is ambiguous.
inline bool read_header(std::string_view line, web::HttpRequest& request) {
  const std::size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, colon), value = without_blanks(line.substr(colon + 1));
  if (name.find_first_of(" \t") != std::string_view::npos) return false;
  if (same_ignoring_case(name, "host")) {
    if (!request.host.empty() || value.empty()) return false;
    request.host = value;
  } else if (same_ignoring_case(name, "origin")) {
    if (request.origin) return false;
    request.origin = value;
  } else if (same_ignoring_case(name, "content-length")) {
    return request.content_length == 0 && read_number(value, request.content_length);
  } else if (same_ignoring_case(name, "transfer-encoding")) {
    request.has_transfer_encoding = true;
  }
  return true;
}

}  // namespace crochet::detail

namespace crochet::web {

/// Parses a head whose lines end with CR LF. Empty if it is malformed: control characters, a header without a name, a
/// missing or repeated Host, a version other than HTTP/1.0 and 1.1.
inline std::optional<HttpRequest> parse_request(std::string_view head) {
  HttpRequest request;
  bool first = true;
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 2);
    const auto control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; };
    if (std::any_of(line.begin(), line.end(), control)) return std::nullopt;
    if (!(first ? detail::read_request_line(line, request) : detail::read_header(line, request))) return std::nullopt;
    first = false;
  }
  if (request.host.empty()) return std::nullopt;
  return request;
}

}  // namespace crochet::web
