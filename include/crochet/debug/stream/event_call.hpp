// SPDX-License-Identifier: Apache-2.0
// EventCall: one SendEvents stream; every operation has a time limit.
#pragma once

#include <crochet/debug/stream/needs_grpc.hpp>

#include <crochet/proto/debug_service.grpc.pb.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <grpcpp/grpcpp.h>

#include <crochet/debug/stream/token_proof.hpp>

namespace crochet::debug {

namespace detail {

/// A deadline in seconds from now, on the steady clock. gRPC takes deadlines on the system clock, so it gets short
/// ones.
class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds < 0     ? 0
                                                                                       : seconds > 1e8 ? 1e8
                                                                                                       : seconds))) {}

  [[nodiscard]] bool over() const { return Clock::now() >= end_; }
  /// The deadline, or 50 ms from now if that is earlier.
  [[nodiscard]] std::chrono::system_clock::time_point next_look() const {
    const Clock::duration left = end_ - Clock::now(), slice = std::chrono::milliseconds(50);
    return std::chrono::system_clock::now() +
           std::chrono::duration_cast<std::chrono::system_clock::duration>(left < slice ? left : slice);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

/// `0.5 s`
inline std::string seconds_text(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

/// The server's initial metadata under this key; empty if there are none.
inline std::string_view metadata_of(const grpc::ClientContext& context, const char* key) {
  const auto& metadata = context.GetServerInitialMetadata();
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string_view{} : std::string_view(found->second.data(), found->second.size());
}

/// Makes a unary call of which only the status is used. Cancels it after the given number of seconds, or when
/// `given_up` is set, which it polls 20 times a second. `prepare(&context, &queue)` starts the call. The caller adds
/// metadata to the context before, and reads the server's metadata from it afterwards.
template <class Prepare>
grpc::Status call_once(grpc::ClientContext& context, double seconds, const std::atomic<bool>& given_up,
                       Prepare prepare) {
  grpc::CompletionQueue queue;
  proto::EventReply reply;
  grpc::Status status;
  const auto call = prepare(&context, &queue);
  call->StartCall();
  call->Finish(&reply, &status, &status);
  const Deadline end(seconds);
  void* tag = nullptr;
  bool ok = false, late = false;
  while (queue.AsyncNext(&tag, &ok, end.next_look()) == grpc::CompletionQueue::TIMEOUT) {
    late = end.over();
    if (late || given_up) context.TryCancel();  // the completion follows soon after
  }
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  if (!late || status.ok()) return status;
  return {grpc::StatusCode::DEADLINE_EXCEEDED, "no answer within " + seconds_text(seconds)};
}

}  // namespace detail

/// A stream of events to a server, and of its replies. Each operation has a time limit in seconds. An operation that
/// exceeds it cancels the call, and `failure()` has the reason. `given_up` is polled 20 times a second, so that a
/// program that ends does not wait for a server. One thread at a time.
class EventCall {
 public:
  /// `authorization` is sent under that key if it is not empty.
  EventCall(proto::EventListener::Stub& stub, const std::string& authorization, const std::atomic<bool>& given_up)
      : given_up_(given_up) {
    if (!authorization.empty()) context_.AddMetadata(authorization_key, authorization);
    stream_ = stub.PrepareAsyncSendEvents(&context_, &queue_);
  }
  EventCall(const EventCall&) = delete;
  EventCall& operator=(const EventCall&) = delete;
  ~EventCall() {
    if (started_ && !finished_) {
      context_.TryCancel();
      close(1e8);
    }
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  bool start(double seconds) {
    started_ = true;
    stream_->StartCall(tag());
    return wait(seconds, "open the stream");
  }
  bool write(const proto::Event& event, double seconds) {
    stream_->Write(event, tag());
    return wait(seconds, "take an event");
  }
  /// The next reply; none if the server has ended the stream, or the time limit has passed.
  std::optional<proto::EventReply> read(double seconds) {
    proto::EventReply reply;
    stream_->Read(&reply, tag());
    if (!wait(seconds, "answer")) return std::nullopt;
    return reply;
  }
  /// Half-closes the stream: no more events are written.
  bool writes_done(double seconds) {
    stream_->WritesDone(tag());
    return wait(seconds, "take the end of the stream");
  }
  /// Returns whether the server ended the stream with OK. Otherwise `failure()` has the reason.
  bool close(double seconds) {
    grpc::Status status;
    stream_->Finish(&status, tag());
    wait(seconds, "end the stream");
    finished_ = true;
    if (!status.ok() && failure_.empty()) failure_ = describe(status);
    return status.ok() && failure_.empty();
  }
  /// Cancels the call; `why` becomes the failure.
  void cancel(std::string why) {
    if (failure_.empty()) failure_ = std::move(why);
    context_.TryCancel();
  }

  /// The server's token proof, sent before its first reply (token_proof.hpp).
  [[nodiscard]] std::string_view proof() const { return detail::metadata_of(context_, token_proof_key); }
  [[nodiscard]] const std::string& failure() const { return failure_; }

  static std::string describe(const grpc::Status& status) {
    return "the server ended the stream: " + status.error_message() + " (gRPC status " +
           std::to_string(static_cast<int>(status.error_code())) + ")";
  }

 private:
  void* tag() { return this; }  // one operation at a time, so one tag

  bool wait(double seconds, std::string_view what) {
    using Result = grpc::CompletionQueue::NextStatus;
    const detail::Deadline end(seconds);
    void* tag = nullptr;
    bool ok = false;
    for (;;) {
      const Result result = queue_.AsyncNext(&tag, &ok, end.next_look());
      if (result == Result::GOT_EVENT) return ok;
      if (result == Result::SHUTDOWN) return false;
      const bool late = end.over();
      if (!late && !given_up_) continue;
      cancel(late ? "the server did not " + std::string(what) + " within " + detail::seconds_text(seconds)
                  : std::string("the program ended before the server could take all"));
      queue_.Next(&tag, &ok);  // the completion follows soon after a cancellation
      return false;
    }
  }

  const std::atomic<bool>& given_up_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<proto::Event, proto::EventReply>> stream_;
  std::string failure_;
  bool started_ = false, finished_ = false;
};

}  // namespace crochet::debug
