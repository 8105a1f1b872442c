// SPDX-License-Identifier: Apache-2.0
// The compiled half of event_stream.hpp.
#pragma once

#include <crochet/debug/stream/event_stream.hpp>

#include <memory>
#include <string_view>
#include <utility>

#include <crochet/proto/debug.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/debug/stream/stream_worker.hpp>

namespace crochet::debug {

CROCHET_INLINE EventStream::EventStream(DebugAddress address, EventStreamOptions options)
    : worker_(std::make_unique<StreamWorker>(std::move(address), std::move(options))) {}
CROCHET_INLINE EventStream::~EventStream() = default;

CROCHET_INLINE const DebugAddress& EventStream::address() const { return worker_->address(); }
CROCHET_INLINE bool EventStream::wants_run() { return worker_->wants_run(); }
CROCHET_INLINE void EventStream::begin_run(StreamedRun run) { worker_->begin_run(std::move(run)); }
CROCHET_INLINE bool EventStream::wants(std::string_view key, bool gated) const { return worker_->wants(key, gated); }
CROCHET_INLINE void EventStream::publish(const DebugEvent& debug_event) { worker_->publish(debug_event); }
CROCHET_INLINE void EventStream::end_run() { worker_->end_run(); }
CROCHET_INLINE void EventStream::close_run() { worker_->close_run(); }
CROCHET_INLINE void EventStream::tell(proto::CallTraceback traceback) { worker_->tell(std::move(traceback)); }
CROCHET_INLINE void EventStream::tell(proto::DebuggedSourceFiles files) { worker_->tell(std::move(files)); }
CROCHET_INLINE bool EventStream::flush(double seconds) { return worker_->flush(seconds); }
CROCHET_INLINE bool EventStream::last_flush(double seconds) { return worker_->last_flush(seconds); }
CROCHET_INLINE void EventStream::throw_failure() { worker_->throw_failure(); }
CROCHET_INLINE EventStreamStatistics EventStream::statistics() const { return worker_->statistics(); }

}  // namespace crochet::debug
