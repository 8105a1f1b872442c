// SPDX-License-Identifier: Apache-2.0
// What may be chosen about a stream of debug events, and what it tells of itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <crochet/base/standard_error.hpp>

namespace crochet::debug {

/// What a server that cannot be reached, does not answer or ends a stream early means for the training.
enum class OnStreamFailure : std::uint8_t {
  skip,  ///< nothing: it is reported once, runs are not shown for a while, then it is tried again
  fail,  ///< the next run throws IoError, or the session's end
};

namespace detail {
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}  // namespace detail

/// Times are in seconds. They bound waits of the stream's own thread; the training waits for none of them, but for
/// `lockstep_seconds`.
struct EventStreamOptions {
  OnStreamFailure on_failure = OnStreamFailure::skip;
  std::string token{};  ///< a secret of server and program. Replies are obeyed only if the server proves that it has
                        ///< it; the token itself is never sent (docs/debugging.md). Empty: every reply is obeyed

  double connect_seconds = 5;      ///< for the server to be there
  double reply_seconds = 5;        ///< for a reply, and for the server to take an event
  double breakpoint_seconds = 60;  ///< for the reply to a tensor at a breakpoint
  double drain_seconds = 5;        ///< for the server to end a stream of which it has all
  double close_seconds = 5;        ///< for what is left at the end of the session
  double backoff_seconds = 1;      ///< without attempts, after the first failure; twice as long after each further one,
  double max_backoff_seconds = 60;  ///< up to this
  double lockstep_seconds = 0;      ///< greater: a run waits so long, at most, for the replies to its beginning, and to
                                    ///< each tensor at a breakpoint; so gates open in the run whose reply opens them

  std::size_t queue_bytes = std::size_t{256} << 20;  ///< that may wait for the server; what has no room is dropped,
  std::size_t queue_events = 10'000;                 ///< and counted. The same in pieces: tensors, beginnings, ends
  std::size_t reply_bytes = std::size_t{1} << 20;    ///< of one reply; a larger one ends the stream
  std::size_t replies = 10'000;                      ///< in one stream; after so many it is broken off

  bool tell_drops = false;  ///< adds the number of dropped events to the metadata of runs, as "dropped"
  std::function<double()> clock{
      &detail::steady_seconds};  ///< of pauses, and of ends that servers share. Several threads use it
  std::function<void(std::string_view)> report{&crochet::detail::write_line};  ///< called by several threads, too
};

/// Counts since the stream was made.
struct EventStreamStatistics {
  std::uint64_t runs = 0;          ///< delivered to their ends
  std::uint64_t runs_skipped = 0;  ///< not begun: the server was away, or too much was waiting
  std::uint64_t runs_broken = 0;   ///< begun, and not delivered to their ends
  std::uint64_t events = 0;        ///< messages that the server took
  std::uint64_t dropped = 0;       ///< tensors that it did not get, of runs that were begun
  std::uint64_t replies = 0;       ///< read
  std::uint64_t failures = 0;      ///< streams and connections
  std::size_t queued_bytes = 0;    ///< waiting now
  std::size_t max_queued_bytes = 0;
};

}  // namespace crochet::debug
