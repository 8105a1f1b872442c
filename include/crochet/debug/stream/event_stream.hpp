// SPDX-License-Identifier: Apache-2.0
// EventStream: sends debug events to one server on its own thread.
#pragma once

#include <crochet/debug/stream/needs_grpc.hpp>

#include <memory>
#include <string_view>

#include <crochet/debug/ops/tensor.hpp>
#include <crochet/debug/stream/debug_address.hpp>
#include <crochet/debug/stream/event_stream_options.hpp>
#include <crochet/debug/stream/streamed_run.hpp>
#include <crochet/io/messages.hpp>

namespace crochet::debug {

class StreamWorker;

/// Takes runs from the training thread and sends them in order on its own thread. The training thread only enqueues;
/// the server's state does not block it:
///   no server             runs are skipped; the next attempt is after `backoff_seconds` (then twice that, ...)
///   a slow or stuck one   tensors wait in the queue; a tensor without room in it is dropped before it is copied
///   a lost connection     the rest of the run is dropped, then as without a server
/// A failure is reported once when it begins, and once when it ends, with the number of missed events. Drops without a
/// failure are reported after a run was delivered, at growing intervals while they recur; the end of the stream reports
/// the rest and the total. With OnStreamFailure::fail the next call below throws IoError instead of a failure's report.
/// A failure that no call has thrown is reported at the end.
/// A gated operation is published if its gate is open when its tensor is complete, according to the replies read so
/// far. Replies to the beginning and end of a run take effect between runs; `lockstep_seconds` makes a run wait for
/// them.
/// Memory: the queue, one message, one reply, the gates. Thread: the calls about runs from one thread; the others from
/// any.
class EventStream {
 public:
  /// Starts the thread; it connects with the first run. Throws LogicError for a token over a network without TLS, where
  /// others can change the data that follow the token.
  explicit EventStream(DebugAddress address, EventStreamOptions options = {});
  /// Waits up to `close_seconds` for the queue, as `last_flush` does, then cancels the rest.
  ~EventStream();

  [[nodiscard]] const DebugAddress& address() const;

  /// Returns whether a run would be taken now. If not, the run counts as skipped.
  bool wants_run();
  void begin_run(StreamedRun run);
  /// Returns whether the server takes this operation's tensor.
  [[nodiscard]] bool wants(std::string_view key, bool gated) const;
  /// Copies the tensor if the queue has room for it.
  void publish(const DebugEvent& debug_event);
  void end_run();
  /// The same for a run that failed: it does not throw; the next call throws a pending failure.
  void close_run();
  /// Sends a call outside a run; dropped if the queue has no room.
  void tell(proto::CallTraceback traceback);
  void tell(proto::DebuggedSourceFiles files);
  /// Waits until the server has everything, or delivery has failed; false if the time limit passes first.
  bool flush(double seconds);
  /// The same, but does not wait again for items for which a flush has already waited in vain.
  bool last_flush(double seconds);
  /// With OnStreamFailure::fail, throws IoError for a failure that no call has thrown.
  void throw_failure();

  [[nodiscard]] EventStreamStatistics statistics() const;

 private:
  std::unique_ptr<StreamWorker> worker_;
};

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/stream/event_stream.ipp>
#endif
