// SPDX-License-Identifier: Apache-2.0
// The errors of a stream of debug events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>

namespace crochet::debug {

/// Formats a peer's text for a message: control and non-ASCII characters are replaced, and the length is limited.
inline std::string printable(std::string_view text, std::size_t most = 120) {
  std::string shown(text.substr(0, most));
  for (char& c : shown) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return "\"" + shown + (text.size() > most ? "...\"" : "\"");
}

/// Throws DataLossError: the peer violates the protocol.
[[noreturn]] CROCHET_COLD inline void stream_is_wrong(const std::string& why) {
  throw DataLossError("crochet: the debug stream is wrong: " + why);
}

/// Throws ResourceExhaustedError: the peer exceeds a limit of the receiver.
[[noreturn]] CROCHET_COLD inline void stream_is_over_limit(std::string_view what, std::uint64_t limit) {
  throw ResourceExhaustedError("crochet: the debug stream has more than " + std::to_string(limit) + " " +
                               std::string(what) + "; a limit of the receiver, which can be raised there");
}

inline void require_at_most(std::uint64_t value, std::uint64_t limit, std::string_view what) {
  if (value > limit) stream_is_over_limit(what, limit);
}

}  // namespace crochet::debug
