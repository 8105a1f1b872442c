// SPDX-License-Identifier: Apache-2.0
// ListenerLimits: the limits of an EventListener.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <crochet/debug/server/stream_limits.hpp>

namespace crochet::debug {

/// The limits of a server, per client and in total.
struct ListenerLimits {
  StreamLimits stream{};
  std::size_t streams = 16;                                ///< concurrent streams; further ones are refused
  std::uint64_t pending_bytes = std::uint64_t{4} << 30;    ///< memory for incomplete tensors and graphs of all streams
  std::size_t message_bytes = std::size_t{16} << 20;       ///< one message; gRPC's own limit must be higher
  std::uint64_t message_memory = std::uint64_t{64} << 20;  ///< memory of one parsed message
  std::uint64_t messages_memory = std::uint64_t{512} << 20;  ///< memory of all messages being parsed
  double idle_seconds = 600;                                 ///< maximum time between two events of a stream
  double hold_seconds = 600;  ///< maximum time at a breakpoint; 0: breakpoints do not hold streams
  std::string token{};        ///< clients have to prove that they have it; empty: no proof needed
};

}  // namespace crochet::debug
