// SPDX-License-Identifier: Apache-2.0
// The compiled half of event_writer.hpp.
#pragma once

#include <crochet/io/event_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>
#include <crochet/base/error.hpp>
#include <crochet/base/forks.hpp>
#include <crochet/base/utf8.hpp>
#include <crochet/io/event_log.hpp>
#include <crochet/io/event_queue.hpp>
#include <crochet/io/serialized.hpp>
#include <crochet/io/summary_proto.hpp>
#include <crochet/storage/summary.hpp>

namespace crochet::io::detail {

CROCHET_INLINE proto::Event stamped(double time, std::int64_t step) {
  proto::Event event;
  event.set_wall_time(time);
  event.set_step(step);
  return event;
}

}  // namespace crochet::io::detail

namespace crochet::io {

struct EventWriter::Position {
  std::optional<std::int64_t> latest;  ///< the step of the latest start(), until stop()
  std::size_t starts = 0;              ///< the number of START entries at that time
};

struct EventWriter::Shared {
  Shared(const std::filesystem::path& directory, const EventWriterOptions& given)
      : options(checked(given)), queue(EventLog(directory, given.log), given.queue, given.queue_wait_seconds) {}
  ~Shared() {
    queue.close();
    if (const std::exception_ptr failure = queue.take_failure()) tell(failure);
  }

  static const EventWriterOptions& checked(const EventWriterOptions& given) {
    if (given.queue > 0) return given;
    throw LogicError("crochet: EventWriterOptions::queue is 0, and every event would be dropped; set at least 1");
  }
  double now() const { return options.log.file.wall_clock(); }
  /// Whether this is a child of the process that made the writer: it has the memory of the thread and not the thread.
  bool is_child() const { return forks != crochet::detail::Forks::counted(); }
  void want_own_process() const {
    if (!is_child()) return;
    throw LogicError(
        "crochet: an EventWriter was used in a child of fork(), which has no thread for it; "
        "make an EventWriter after the fork");
  }
  /// Deletes a writer, but not that of a parent process: joining a thread that does not exist would never return.
  static void end(Shared* shared) {
    if (!shared->is_child()) delete shared;
  }

  void add(detail::EventQueue::Work work) {
    want_own_process();
    if (is_closed()) throw LogicError("crochet: an event was added to a writer that is closed");
    queue.add(std::move(work));
  }
  void flush() {
    want_own_process();
    queue.flush();
  }
  void close() {
    if (is_child()) return;
    {
      const std::lock_guard lock(mutex);
      if (std::exchange(closed, true)) return;
    }
    queue.close();
    if (const std::exception_ptr failure = queue.take_failure()) std::rethrow_exception(failure);
  }
  bool is_closed() const {
    if (is_child()) return true;
    const std::lock_guard lock(mutex);
    return closed;
  }
  /// Whether a START entry is due before this step of a source.
  bool begins(std::int64_t step, Position& at) {
    want_own_process();
    const std::lock_guard lock(mutex);
    const bool due = sources == 0 || (at.latest && step < *at.latest && !started_since(at.starts, step));
    if (due) starts.push_back(step);
    if (!at.latest) ++sources;
    at = {step, starts.size()};
    stop_is_due = true;
    return due;
  }
  /// Whether a START entry after the first `known` covers this step: hooks of one session go back together.
  bool started_since(std::size_t known, std::int64_t step) const {
    return std::any_of(starts.begin() + static_cast<std::ptrdiff_t>(known), starts.end(),
                       [&](std::int64_t start) { return start <= step; });
  }
  bool ends(Position& at) {
    want_own_process();
    const std::lock_guard lock(mutex);
    if (std::exchange(at.latest, std::nullopt)) --sources;
    return std::exchange(stop_is_due, false);
  }
  void leave(Position& at) {
    if (is_child()) return;
    const std::lock_guard lock(mutex);
    if (std::exchange(at.latest, std::nullopt)) --sources;
  }
  bool use_once(std::string_view tag) {
    want_own_process();
    const std::lock_guard lock(mutex);
    return run_tags.emplace(tag).second;
  }
  /// Called on the writer's thread.
  void left_out(std::uint64_t numbers, EventLog& log) {
    if (numbers == 0 || std::exchange(told_of_non_finite, true)) return;
    log.report("crochet: " + std::to_string(numbers) +
               " values that are infinite or not a number were left out of a histogram; this is said once");
  }
  void tell(const std::exception_ptr& failure) const {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      options.log.report(error.what());
    } catch (...) {
    }
  }

  const int forks = crochet::detail::Forks::count();  ///< of the process that has the thread
  const EventWriterOptions options;
  mutable std::mutex mutex;
  Position own;                      ///< of handles that are no source: summaries may have a step axis of their own
  std::size_t sources = 0;           ///< number of positions between start() and stop()
  std::vector<std::int64_t> starts;  ///< the steps of all START entries, one for each recovery
  std::set<std::string, std::less<>> run_tags;
  bool stop_is_due = false, closed = false;
  bool told_of_non_finite = false;
  detail::EventQueue queue;  // last: its thread uses the members above
};

struct EventWriter::Source {
  explicit Source(std::shared_ptr<Shared> writer) : shared(std::move(writer)) {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() { shared->leave(at); }

  std::shared_ptr<Shared> shared;
  Position at;
};

template <class Fill>
void EventWriter::add(Fill fill, std::int64_t step) const {
  shared_->add([fill = std::move(fill), step, time = shared_->now()](EventLog& log) {
    proto::Event event = detail::stamped(time, step);
    fill(event);
    log.append(event);
  });
}

CROCHET_INLINE EventWriter::EventWriter(const std::filesystem::path& directory, const EventWriterOptions& options)
    : shared_(new Shared(directory, options), &Shared::end) {}

CROCHET_INLINE void EventWriter::add_scalar(std::string_view tag, double value, std::int64_t step) const {
  if (shared_) add_summary(std::move(Summary{}.scalar(tag, value)), step);
}

CROCHET_INLINE void EventWriter::add_image(std::string_view tag, ImagePixels image, std::int64_t step) const {
  if (shared_) add_summary(std::move(Summary{}.image(tag, std::move(image))), step);
}

CROCHET_INLINE void EventWriter::add_text(std::string_view tag, std::string text, std::int64_t step) const {
  if (shared_) add_summary(std::move(Summary{}.text(tag, std::move(text))), step);
}

CROCHET_INLINE void EventWriter::add_summary(Summary summary, std::int64_t step) const {
  if (!shared_ || summary.empty()) return;
  shared_->add([summary = std::move(summary), step, time = shared_->now(), policy = shared_->options.non_finite,
                shared = shared_.get()](EventLog& log) {
    proto::Event event = detail::stamped(time, step);
    event.set_allocated_summary(new proto::Summary);  // not by mutable_summary: see summary_proto.ipp
    shared->left_out(encode_summary(summary, policy, *event.mutable_summary()), log);
    log.append(event);
  });
}

CROCHET_INLINE void EventWriter::add_graph(const proto::GraphDef& graph) const {
  if (shared_) add([bytes = serialized(graph)](proto::Event& e) { e.set_graph_def(bytes); });
}

CROCHET_INLINE void EventWriter::add_meta_graph(const proto::MetaGraphDef& graph) const {
  if (shared_) add([bytes = serialized(graph)](proto::Event& e) { e.set_meta_graph_def(bytes); });
}

CROCHET_INLINE void EventWriter::add_run_metadata(std::string_view tag, std::string run_metadata) const {
  if (add_first_run_metadata(tag, std::move(run_metadata))) return;
  throw LogicError("crochet: run metadata of the tag " + std::string(tag) + " has been written before");
}

CROCHET_INLINE bool EventWriter::add_first_run_metadata(std::string_view tag, std::string run_metadata) const {
  if (!shared_) return true;
  if (!shared_->use_once(tag)) return false;
  add([tag = std::string(tag), bytes = std::move(run_metadata)](proto::Event& e) {
    e.set_allocated_tagged_run_metadata(new proto::TaggedRunMetadata);
    e.mutable_tagged_run_metadata()->set_tag(tag);
    e.mutable_tagged_run_metadata()->set_run_metadata(bytes);
  });
  return true;
}

CROCHET_INLINE EventWriter EventWriter::for_one_source() const {
  EventWriter same = *this;
  if (shared_) same.source_ = std::make_shared<Source>(shared_);
  return same;
}

CROCHET_INLINE EventWriter::Position& EventWriter::position() const { return source_ ? source_->at : shared_->own; }

CROCHET_INLINE void EventWriter::start(std::int64_t step) const {
  if (shared_ && shared_->begins(step, position())) add_session_log(proto::SessionLog::START, step);
}

CROCHET_INLINE void EventWriter::stop(std::int64_t step, std::string_view why) const {
  if (shared_ && shared_->ends(position())) add_session_log(proto::SessionLog::STOP, step, {}, why);
}

CROCHET_INLINE void EventWriter::checkpoint(std::int64_t step, std::string_view path) const {
  add_session_log(proto::SessionLog::CHECKPOINT, step, path);
}

CROCHET_INLINE void EventWriter::add_session_log(proto::SessionLog_SessionStatus status, std::int64_t step,
                                                 std::string_view path, std::string_view message) const {
  if (!shared_) return;
  proto::SessionLog entry;
  entry.set_status(status);
  entry.set_checkpoint_path(crochet::detail::valid_utf8(std::string(path)));  // readers reject an event with another
  entry.set_msg(crochet::detail::valid_utf8(std::string(message)));
  add([entry](proto::Event& e) { e.set_allocated_session_log(new proto::SessionLog(entry)); }, step);
}

CROCHET_INLINE void EventWriter::flush() const {
  if (shared_) shared_->flush();
}

CROCHET_INLINE void EventWriter::close() const {
  if (shared_) shared_->close();
}

CROCHET_INLINE bool EventWriter::closed() const { return shared_ && shared_->is_closed(); }

CROCHET_INLINE std::filesystem::path EventWriter::path() const {
  return shared_ && !shared_->is_child() ? shared_->queue.path() : std::filesystem::path{};
}

CROCHET_INLINE std::uint64_t EventWriter::dropped() const {
  return shared_ && !shared_->is_child() ? shared_->queue.dropped() : 0;
}

}  // namespace crochet::io
