// SPDX-License-Identifier: Apache-2.0
// EventStreamOptions: options and statistics of a stream of debug events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <crochet/base/clock.hpp>
#include <crochet/base/standard_error.hpp>

namespace crochet::debug {

/// The effect on training of a server that cannot be reached, does not reply or ends a stream early.
enum class OnStreamFailure : std::uint8_t {
  skip,  ///< none: one report, runs are skipped for a while, then the stream reconnects
  fail,  ///< the next run, or the end of the session, throws IoError
};

/// Times are in seconds. They limit waits of the stream's own thread. The training thread waits only for
/// `lockstep_seconds`.
struct EventStreamOptions {
  OnStreamFailure on_failure = OnStreamFailure::skip;
  std::string
      token{};  ///< a secret shared by server and program. Replies take effect only if the server proves that it has
                ///< it; the token itself is never sent (docs/debugging.md). Empty: all replies take effect

  double connect_seconds = 5;      ///< to connect
  double reply_seconds = 5;        ///< for a reply, and for the server to accept an event
  double breakpoint_seconds = 60;  ///< for the reply to a tensor at a breakpoint
  double drain_seconds = 5;        ///< for the server to end a stream after the last event
  double close_seconds = 5;        ///< for the rest of the queue at the end of the session
  double backoff_seconds = 1;      ///< before the next attempt after the first failure; doubles after each further one,
  double max_backoff_seconds = 60;  ///< up to this limit
  double lockstep_seconds = 0;      ///< if > 0: a run waits at most this long for the replies to its beginning and to
                                ///< each tensor at a breakpoint, so that gates open in the run whose reply opens them

  std::size_t queue_bytes = std::size_t{256} << 20;  ///< capacity of the queue in bytes; events beyond it are dropped,
  std::size_t queue_events = 10'000;                 ///< and counted. Capacity in items: tensors, beginnings, ends
  std::size_t reply_bytes = std::size_t{1} << 20;    ///< limit for one reply; a larger one ends the stream
  std::size_t replies = 10'000;                      ///< limit for one stream; at this number the stream is cancelled

  bool tell_drops = false;  ///< adds the number of dropped events to the metadata of runs, as "dropped"
  Clock clock{};            ///< clock for pauses, and for deadlines that servers share. Called on several threads
  std::function<void(std::string_view)> report{&crochet::detail::write_line};  ///< called on several threads; its
                                                                               ///< exceptions are dropped
};

namespace detail {

/// Reports a line, from a thread or a destructor, where an exception would end the program.
inline void report_line(const EventStreamOptions& options, const std::string& line) noexcept {
  try {
    options.report(line);
  } catch (...) {  // of the function, or because it is empty
  }
}

}  // namespace detail

/// Counts since the stream was created.
struct EventStreamStatistics {
  std::uint64_t runs = 0;          ///< delivered completely
  std::uint64_t runs_skipped = 0;  ///< not begun: no server, or the queue was too full
  std::uint64_t runs_broken = 0;   ///< begun, and not delivered completely
  std::uint64_t events = 0;        ///< messages that the server accepted
  std::uint64_t dropped = 0;       ///< tensors of begun runs that the server did not receive
  std::uint64_t replies = 0;       ///< replies read
  std::uint64_t failures = 0;      ///< failed streams and connections
  std::size_t queued_bytes = 0;    ///< bytes in the queue now
  std::size_t max_queued_bytes = 0;
};

}  // namespace crochet::debug
