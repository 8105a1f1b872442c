// SPDX-License-Identifier: Apache-2.0
// The compiled half of event_log.hpp.
#pragma once

#include <crochet/io/event_log.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/proto/event.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/standard_error.hpp>
#include <crochet/io/event_file.hpp>

namespace crochet::io {

CROCHET_INLINE void EventLog::append(const proto::Event& event) {
  if (!event.SerializeToString(&serialized_)) return is_too_large(event.ByteSizeLong());
  if (failing_ && file_->unwritten() + serialized_.size() > options_.kept_bytes) {
    ++lost_;
    return;
  }
  file_->append(serialized_);
  ++appended_, ++unsynced_;
  if (file_->unwritten() >= (std::size_t{64} << 10)) write();
}

CROCHET_INLINE void EventLog::write() {
  if (!failing_) attempt([this] { file_->write(); });
}

CROCHET_INLINE void EventLog::flush() {
  flushed_at_ = options_.clock();
  attempt([this] {
    if (file_->vanished() || refused_) begin_another_file();
    file_->write();
    try {
      file_->sync();
    } catch (const IoError&) {  // the system keeps nothing of what it could not write, and reports it once
      note_refusal();
      throw;
    }
    unsynced_ = 0;
    refusals_ = 0;
  });
}

/// The first new file is tried at once.
CROCHET_INLINE bool EventLog::waits_for_disk() const {
  return refusals_ > 1 && options_.on_write_error == OnWriteError::go_on && options_.clock() < retry_at_;
}

CROCHET_COLD CROCHET_INLINE void EventLog::note_refusal() {
  refused_ = true;
  lost_ += std::exchange(unsynced_, 0);
  ++refusals_;
  constexpr double least = 1, most = 3600;
  double pause = std::max(options_.flush_seconds, least);
  for (int i = 1; i < refusals_ && pause < most; ++i) pause *= 2;
  retry_at_ = options_.clock() + std::min(pause, most);
}

CROCHET_INLINE void EventLog::flush_if_due() {
  if (seconds_to_flush() > 0) return;
  if (waits_for_disk()) {
    flushed_at_ = options_.clock();
  } else {
    flush();
  }
}

CROCHET_COLD CROCHET_INLINE void EventLog::is_too_large(std::size_t bytes) {
  const std::string why = "crochet: an event has " + std::to_string(bytes) + " bytes; protobuf's limit is 2 GiB";
  if (options_.on_write_error == OnWriteError::stop) throw ResourceExhaustedError(why);
  ++lost_;
  report(why + "; it is left out");
}

CROCHET_COLD CROCHET_INLINE void EventLog::recovered() {
  failing_ = false;
  report("crochet: events are written again to " + path().string() + "; " + std::to_string(lost_) + " were lost");
}

CROCHET_COLD CROCHET_INLINE void EventLog::begin_another_file() {
  const std::string before = path().string();
  auto next = std::make_unique<EventFile>(directory_, options_.file);
  next->take_unwritten(*file_);
  file_ = std::move(next);
  if (refusals_ > 1) {  // said of the first one; recovered() has the path
    refused_ = false;
    return;
  }
  report("crochet: the event file " + before +
         (std::exchange(refused_, false) ? " may lack its last events, which the disk has not taken"
                                         : " has vanished, with the events in it") +
         "; going on in " + path().string());
}

}  // namespace crochet::io
