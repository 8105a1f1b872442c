// SPDX-License-Identifier: Apache-2.0
// EventCall: one SendEvents stream, in which nothing waits for ever.
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

/// A moment so many seconds from now, of the clock that does not jump; gRPC is given times of the other one, so it is
/// given near ones.
class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds < 0     ? 0
                                                                                       : seconds > 1e8 ? 1e8
                                                                                                       : seconds))) {}

  [[nodiscard]] bool over() const { return Clock::now() >= end_; }
  /// The end, or 50 ms from now.
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

/// What the server sent under this key before its first reply; empty if nothing.
inline std::string_view metadata_of(const grpc::ClientContext& context, const char* key) {
  const auto& metadata = context.GetServerInitialMetadata();
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string_view{} : std::string_view(found->second.data(), found->second.size());
}

/// A call with one answer, of which only the status counts. Breaks it off after so many seconds, and when `given_up`,
/// which is read twenty times a second. `prepare(&context, &queue)` makes the call. The caller adds metadata to the
/// context, and finds those of the server in it.
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
    if (late || given_up) context.TryCancel();  // then it is there soon
  }
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  if (!late || status.ok()) return status;
  return {grpc::StatusCode::DEADLINE_EXCEEDED, "no answer within " + seconds_text(seconds)};
}

}  // namespace detail

/// A stream of events to a server and of its replies. Each operation has a time limit in seconds; one that is over it
/// breaks the call off, and `failure()` says so. `given_up` is looked at twenty times a second: a program that ends
/// waits for no server. One thread at a time.
class EventCall {
 public:
  /// `authorization`, if not empty, goes out under that key.
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
  /// The next reply; none if the server has ended the stream, or the time is over.
  std::optional<proto::EventReply> read(double seconds) {
    proto::EventReply reply;
    stream_->Read(&reply, tag());
    if (!wait(seconds, "answer")) return std::nullopt;
    return reply;
  }
  /// Nothing more will be written.
  bool writes_done(double seconds) {
    stream_->WritesDone(tag());
    return wait(seconds, "take the end of the stream");
  }
  /// Whether the server ended the stream well. After a call that was broken off: why, in `failure()`.
  bool close(double seconds) {
    grpc::Status status;
    stream_->Finish(&status, tag());
    wait(seconds, "end the stream");
    finished_ = true;
    if (!status.ok() && failure_.empty()) failure_ = describe(status);
    return status.ok() && failure_.empty();
  }
  /// Breaks the call off, for `why`.
  void cancel(std::string why) {
    if (failure_.empty()) failure_ = std::move(why);
    context_.TryCancel();
  }

  /// What the server sent to prove that it has the token, before its first reply (token_proof.hpp).
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
      queue_.Next(&tag, &ok);  // it is there soon, after a cancellation
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
