// SPDX-License-Identifier: Apache-2.0
// StreamWorker: the thread of an EventStream, its queue, and its failures.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include <crochet/base/error.hpp>
#include <crochet/base/started_thread.hpp>
#include <crochet/debug/event/string_chunks.hpp>
#include <crochet/debug/event/tensor_event.hpp>
#include <crochet/debug/ops/tensor.hpp>
#include <crochet/debug/stream/debug_address.hpp>
#include <crochet/debug/stream/event_sender.hpp>
#include <crochet/debug/stream/event_stream_options.hpp>
#include <crochet/debug/stream/gates.hpp>
#include <crochet/debug/stream/stream_queue.hpp>

namespace crochet::debug {

/// What event_stream.hpp declares: the queue from the training thread, and the thread that sends what is in it and
/// reports failures.
class StreamWorker {
 public:
  /// Starts the thread; it connects with the first run. Throws LogicError for a token over a network without TLS, where
  /// others can change the data that follow the token, ResourceExhaustedError if the system cannot start a thread.
  StreamWorker(DebugAddress address, EventStreamOptions options)
      : address_(std::move(address)),
        options_(checked(address_, std::move(options))),
        gates_(gates_of(address_.url())),
        queue_(options_.queue_events, options_.queue_bytes),
        sender_(address_, options_, gates_, given_up_),
        thread_(
            crochet::detail::started_thread<std::thread>("the debug server " + address_.url(), [this] { work(); })) {}
  StreamWorker(const StreamWorker&) = delete;
  StreamWorker& operator=(const StreamWorker&) = delete;
  /// Waits up to `close_seconds` for the queue, as `last_flush` does, then cancels the rest.
  ~StreamWorker() {
    last_flush(options_.close_seconds);
    given_up_ = true;
    queue_.close();
    thread_.join();
    if (has_failure_) tell_user(failure_);
  }

  [[nodiscard]] const DebugAddress& address() const { return address_; }

  /// Returns whether a run would be taken now. If not, the run counts as skipped.
  bool wants_run() {
    throw_failure();
    const bool wanted = down_ ? !in_pause() && queue_.idle() : queue_.has_room_for_a_run();
    if (!wanted) ++skipped_;
    return wanted;
  }
  void begin_run(StreamedRun run) {
    late_ = false;
    if (options_.tell_drops) run.metadata.dropped = static_cast<std::int64_t>(dropped_.load());
    keep_step(queue_.push(std::move(run), 0));
    throw_failure();
  }
  /// Returns whether the server takes this operation's tensor.
  [[nodiscard]] bool wants(std::string_view key, bool gated) const { return !gated || gates_->of(key) != Gate::closed; }
  /// Copies the tensor if the queue has room for it.
  void publish(const DebugEvent& debug_event) {
    StreamedTensor tensor{watch_key(debug_event), {}};
    const std::size_t bytes = size_of(debug_event, tensor.key);
    if (!queue_.reserve(bytes)) {
      ++dropped_;
      return;
    }
    const bool breakpoint = gates_->of(tensor.key) == Gate::read_write;
    const std::uint64_t number = push_reserved(bytes, [&] {
      tensor.events = tensor_events(debug_event);
      return std::move(tensor);
    });
    if (breakpoint) keep_step(number);
  }
  void end_run() {
    close_run();
    throw_failure();
  }
  /// The same for a run that failed: it does not throw; the next call throws a pending failure.
  void close_run() { queue_.push(StreamedRunEnd{}, 0); }
  /// Sends a call outside a run; dropped if the queue has no room.
  template <class Message>
  void tell(Message message) {
    const std::size_t bytes = message.ByteSizeLong();
    if (queue_.reserve(bytes)) push_reserved(bytes, [&] { return std::move(message); });
  }
  /// Waits until the server has everything, or delivery has failed; false if the time limit passes first.
  bool flush(double seconds) {
    waited_for_ = queue_.pushed();
    return queue_.wait_done(waited_for_, std::chrono::duration<double>(std::min(seconds, 1e8)));
  }
  /// The same, but does not wait again for items for which a flush has already waited in vain.
  bool last_flush(double seconds) { return queue_.pushed() == waited_for_ || flush(seconds); }
  /// With OnStreamFailure::fail, throws IoError for a failure that no call has thrown.
  void throw_failure() {
    if (!has_failure_.exchange(false)) return;
    const std::lock_guard lock(mutex_);
    throw IoError("crochet: debug server " + address_.url() + ": " + failure_);
  }

  [[nodiscard]] EventStreamStatistics statistics() const {
    return {.runs = runs_,
            .runs_skipped = skipped_,
            .runs_broken = broken_,
            .events = events_,
            .dropped = dropped_,
            .replies = replies_,
            .failures = failures_,
            .queued_bytes = queue_.bytes(),
            .max_queued_bytes = queue_.max_bytes_seen()};
  }

 private:
  static EventStreamOptions checked(const DebugAddress& address, EventStreamOptions options) {
    if (!options.token.empty() && !address.is_local() && !address.tls()) {
      throw LogicError("crochet: the token for the debug server " + address.url() +
                       " does not protect a connection that others can read and change; use TlsServer, or no token");
    }
    return options;
  }
  /// Pushes the result of `make` into reserved room. Releases the room if `make` throws.
  template <class Make>
  std::uint64_t push_reserved(std::size_t bytes, Make make) {
    try {
      return queue_.push(make(), bytes);
    } catch (...) {
      queue_.release(bytes);
      throw;
    }
  }
  /// Upper bound for the elements and their messages, in bytes.
  static std::size_t size_of(const DebugEvent& debug_event, const std::string& key) {
    const std::size_t frame = 256 + 2 * key.size() + debug_event.device.size() + 16 * debug_event.tensor.shape.size();
    const std::size_t bytes = debug_event.tensor.byte_size() + string_frame * debug_event.tensor.strings.size();
    const std::size_t most = debug_event.tensor.strings.empty() ? 1 : 2;  // strings do not fill the chunks completely
    return bytes + most * tensor_chunks(bytes) * frame;
  }
  /// With `lockstep_seconds`: waits for an item. After one timeout the run does not wait again.
  void keep_step(std::uint64_t number) {
    if (options_.lockstep_seconds <= 0 || late_) return;
    late_ = !queue_.wait_done(number, std::chrono::duration<double>(std::min(options_.lockstep_seconds, 1e8)));
  }
  bool in_pause() const { return down_ && options_.clock() < pause_end_; }

  // ---- on the stream's thread
  void work() {
    if (const std::string note = grpc_version_note(address_); !note.empty()) note_once(note);
    for (StreamQueue::Entry entry; queue_.pop(entry);) {
      try {
        std::visit([this](auto& item) { handle(item); }, entry.item);
      } catch (const std::exception& error) {  // no memory, or no random numbers for the token
        sender_.abandon();
        failed(error.what());
      }
      entry.item = StreamedRunEnd{};  // releases its memory
      events_ = sender_.events(), replies_ = sender_.replies();
      queue_.done(entry.bytes);
    }
    abandon_run();
    if (const Missed all = missed(); all != told_) tell_user("in all " + text_of(all));
  }
  void abandon_run() {
    if (std::exchange(in_run_, false)) ++broken_;
    sender_.abandon();
  }
  void handle(StreamedRun& run) {
    abandon_run();
    if (in_pause() || given_up_) {
      ++skipped_;
      return;
    }
    in_run_ = true;
    if (!sender_.begin(run)) failed(sender_.why());
  }
  void handle(StreamedTensor& tensor) {
    if (!in_run_) {
      ++dropped_;
    } else if (!sender_.tensor(tensor)) {
      ++dropped_;
      failed(sender_.why());
    }
  }
  void handle(StreamedRunEnd&) {
    if (!in_run_) return;
    if (!sender_.end()) return failed(sender_.why());
    in_run_ = false;
    ++runs_;
    if (down_.exchange(false)) {
      pause_ = 0;
      tell_missed("it is there again; ");
    } else if (missed() != told_ && options_.clock() >= silence_end_) {
      tell_missed("it was away or is slow; ");
      silence_ = longer(silence_);
      silence_end_ = options_.clock() + silence_;
    }
  }
  template <class Message>
  void handle(Message& message) {
    if (!in_pause() && !given_up_ && !sender_.tell(message)) failed(sender_.why());
  }
  void failed(const std::string& why) {
    if (std::exchange(in_run_, false)) ++broken_;
    if (given_up_) return;
    ++failures_;
    pause_ = longer(pause_);
    pause_end_ = options_.clock() + pause_;
    const bool first = !down_.exchange(true);
    if (options_.on_failure == OnStreamFailure::fail) {
      const std::lock_guard lock(mutex_);
      failure_ = why;
      has_failure_ = true;
    } else if (first) {
      tell_user(why + ". Training goes on, runs are not sent; it is tried again, the first time after " +
                detail::seconds_text(pause_));
    }
  }
  [[nodiscard]] double longer(double pause) const {
    return pause == 0 ? options_.backoff_seconds : std::min(2 * pause, options_.max_backoff_seconds);
  }

  /// The number of events that the server did not receive.
  struct Missed {
    std::uint64_t runs = 0, tensors = 0;
    bool operator==(const Missed&) const = default;
  };
  [[nodiscard]] Missed missed() const { return {skipped_ + broken_, dropped_}; }
  static std::string text_of(const Missed& missed) {
    return "it missed " + std::to_string(missed.runs) + " runs, and " + std::to_string(missed.tensors) +
           " tensors of runs that were begun";
  }
  /// Since the last report to the server.
  void tell_missed(const std::string& what) {
    const Missed now = missed(), last = std::exchange(told_, now);
    tell_user(what + text_of({now.runs - last.runs, now.tensors - last.tensors}));
  }
  void tell_user(const std::string& what) {
    detail::report_line(options_, "crochet: debug server " + address_.url() + ": " + what);
  }
  void note_once(const std::string& note) {
    static std::atomic<bool> noted{false};
    if (!noted.exchange(true)) detail::report_line(options_, note);
  }

  const DebugAddress address_;
  const EventStreamOptions options_;
  const std::shared_ptr<Gates> gates_;
  StreamQueue queue_;
  std::atomic<bool> given_up_{false}, down_{false}, has_failure_{false};
  std::atomic<double> pause_end_{-std::numeric_limits<double>::infinity()};
  std::atomic<std::uint64_t> runs_{0}, skipped_{0}, broken_{0}, events_{0}, dropped_{0}, replies_{0}, failures_{0};
  std::atomic<std::uint64_t> waited_for_{0};  // the highest item number for which flush has waited
  mutable std::mutex mutex_;                  // guards failure_
  std::string failure_;
  bool late_ = false;   // used by the training thread
  EventSender sender_;  // from here on: used by the stream's thread
  bool in_run_ = false;
  double pause_ = 0;
  Missed told_;
  double silence_ = 0, silence_end_ = -std::numeric_limits<double>::infinity();  // intervals between reports of drops
  std::thread thread_;                                                           // last: it uses the members above
};

}  // namespace crochet::debug
