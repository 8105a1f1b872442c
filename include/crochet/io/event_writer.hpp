// SPDX-License-Identifier: Apache-2.0
// EventWriter: what TensorBoard shows, written by a thread of its own.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>

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

#include <crochet/base/error.hpp>
#include <crochet/io/event_log.hpp>
#include <crochet/io/event_queue.hpp>
#include <crochet/io/summary_proto.hpp>
#include <crochet/storage/summary.hpp>

namespace crochet::io {

struct EventWriterOptions {
  std::size_t queue = 10;          ///< events that may wait for the thread
  double queue_wait_seconds = 10;  ///< how long a step waits for room before its event is dropped; infinity: for ever
  NonFinite non_finite = NonFinite::leave_out;
  EventLogOptions log{};  ///< flushes, what to do when the disk is full, clocks
};

namespace detail {
inline std::string serialized(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);  // maps in the order of their keys: equal graphs are equal bytes
  message.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}
}  // namespace detail

/// Writes events into a new file of a folder (event_file.hpp). A handle: copies write the same file, and the last one
/// to go writes what is left and closes it. `EventWriter{}` writes nothing, so that hooks can have one or not.
///   cr::io::EventWriter events{"logs/run1"};
///   events.add_scalar("loss", 0.5, step);
/// Hooks take it as their `summaries` (hooks/kit/summary_sink.hpp).
/// Names are made tags (summary_tag.hpp). Any thread may add. An add copies what it is given and leaves the rest to the
/// thread; when the queue is full it waits (`queue_wait_seconds`), then drops the event, and that is reported. An add
/// throws LogicError after close(); with OnWriteError::stop it throws, once, the IoError of an event written before,
/// with NonFinite::refuse the DataError.
/// Memory: the queue's events, and EventLogOptions::kept_bytes. Cost of add_scalar: docs/tensorboard.md has figures.
class EventWriter {
 public:
  EventWriter() = default;
  /// Throws IoError if folder or file cannot be made.
  explicit EventWriter(const std::filesystem::path& directory, const EventWriterOptions& options = {})
      : shared_(std::make_shared<Shared>(directory, options)) {}

  /// Does it write at all?
  [[nodiscard]] explicit operator bool() const { return shared_ != nullptr; }

  void add_scalar(std::string_view tag, double value, std::int64_t step) const {
    if (shared_) add_summary(std::move(Summary{}.scalar(tag, value)), step);
  }
  template <class T>
  void add_histogram(std::string_view tag, std::span<const T> values, std::int64_t step) const {
    if (shared_) add_summary(std::move(Summary{}.histogram(tag, values)), step);
  }
  void add_image(std::string_view tag, ImagePixels image, std::int64_t step) const {
    if (shared_) add_summary(std::move(Summary{}.image(tag, std::move(image))), step);
  }
  /// Markdown.
  void add_text(std::string_view tag, std::string text, std::int64_t step) const {
    if (shared_) add_summary(std::move(Summary{}.text(tag, std::move(text))), step);
  }
  /// Several values as one event.
  void add_summary(Summary summary, std::int64_t step) const {
    if (!shared_ || summary.empty()) return;
    shared_->latest(step);
    shared_->add([summary = std::move(summary), step, time = shared_->now(), policy = shared_->options.non_finite,
                  shared = shared_.get()](EventLog& log) {
      proto::Event event = stamped(time, step);
      shared->left_out(encode_summary(summary, policy, *event.mutable_summary()), log);
      log.append(event);
    });
  }

  /// The graph as TensorBoard draws it, and as tools that read meta graphs want it.
  void add_graph(const proto::GraphDef& graph) const {
    if (shared_) add([bytes = detail::serialized(graph)](proto::Event& e) { e.set_graph_def(bytes); });
  }
  void add_meta_graph(const proto::MetaGraphDef& graph) const {
    if (shared_) add([bytes = detail::serialized(graph)](proto::Event& e) { e.set_meta_graph_def(bytes); });
  }
  /// Statistics of one run, a serialized RunMetadata. Throws LogicError for a tag that was used before.
  void add_run_metadata(std::string_view tag, std::string run_metadata) const {
    if (add_first_run_metadata(tag, std::move(run_metadata))) return;
    throw LogicError("crochet: run metadata of the tag " + std::string(tag) + " has been written before");
  }
  /// The same, but a tag that was used before is no error: nothing is added, and it returns false.
  bool add_first_run_metadata(std::string_view tag, std::string run_metadata) const {
    if (!shared_) return true;
    if (!shared_->use_once(tag)) return false;
    add([tag = std::string(tag), bytes = std::move(run_metadata)](proto::Event& e) {
      e.mutable_tagged_run_metadata()->set_tag(tag);
      e.mutable_tagged_run_metadata()->set_run_metadata(bytes);
    });
    return true;
  }

  /// A session begins, or goes on from a checkpoint, and `step` is the first whose summaries are about to be written.
  /// Whoever writes summaries says so before each; it is written before the first, and again when the step is below an
  /// earlier summary's (a session recovered). It makes TensorBoard forget what an earlier process wrote from there on.
  void start(std::int64_t step) const {
    if (shared_ && shared_->begins(step)) add_session_log(proto::SessionLog::START, step);
  }
  /// The session has ended after this step, and why. Written once for each start().
  void stop(std::int64_t step, std::string_view why = {}) const {
    if (shared_ && shared_->ends()) add_session_log(proto::SessionLog::STOP, step, {}, why);
  }
  /// A checkpoint was saved. The original's path lacks the step.
  void checkpoint(std::int64_t step, std::string_view path) const {
    add_session_log(proto::SessionLog::CHECKPOINT, step, path);
  }
  void add_session_log(proto::SessionLog::SessionStatus status, std::int64_t step, std::string_view path = {},
                       std::string_view message = {}) const {
    if (!shared_) return;
    proto::SessionLog entry;
    entry.set_status(status);
    entry.set_checkpoint_path(std::string(path));
    entry.set_msg(std::string(message));
    add([entry](proto::Event& e) { *e.mutable_session_log() = entry; }, step);
  }

  /// Returns when all that was added is on the disk. Throws as an add does.
  void flush() const {
    if (shared_) shared_->queue.flush();
  }
  /// Writes what is left and closes the file, for all copies; again is fine. Throws as an add does.
  void close() const {
    if (shared_) shared_->close();
  }
  [[nodiscard]] bool closed() const { return shared_ && shared_->is_closed(); }

  /// The file that is being written; empty if there is none.
  [[nodiscard]] std::filesystem::path path() const { return shared_ ? shared_->queue.path() : std::filesystem::path{}; }
  /// How many events were dropped because the queue was full.
  [[nodiscard]] std::uint64_t dropped() const { return shared_ ? shared_->queue.dropped() : 0; }

 private:
  struct Shared {
    Shared(const std::filesystem::path& directory, const EventWriterOptions& given)
        : options(given), queue(EventLog(directory, given.log), given.queue, given.queue_wait_seconds) {}
    ~Shared() {
      queue.close();
      if (const std::exception_ptr failure = queue.take_failure()) tell(failure);
    }

    double now() const { return options.log.file.wall_clock(); }
    void add(detail::EventQueue::Work work) {
      if (is_closed()) throw LogicError("crochet: an event was added to a writer that is closed");
      queue.add(std::move(work));
    }
    void close() {
      {
        const std::lock_guard lock(mutex);
        if (std::exchange(closed, true)) return;
      }
      queue.close();
      if (const std::exception_ptr failure = queue.take_failure()) std::rethrow_exception(failure);
    }
    bool is_closed() const {
      const std::lock_guard lock(mutex);
      return closed;
    }
    /// Whether a session begins with this step.
    bool begins(std::int64_t step) {
      const std::lock_guard lock(mutex);
      if (started && step >= latest_step) return false;
      latest_step = step;
      return started = true;
    }
    bool ends() {
      const std::lock_guard lock(mutex);
      return std::exchange(started, false);
    }
    void latest(std::int64_t step) {
      const std::lock_guard lock(mutex);
      latest_step = std::max(latest_step, step);
    }
    bool use_once(std::string_view tag) {
      const std::lock_guard lock(mutex);
      return run_tags.emplace(tag).second;
    }
    /// In the thread.
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

    const EventWriterOptions options;
    mutable std::mutex mutex;
    std::int64_t latest_step = 0;
    std::set<std::string, std::less<>> run_tags;
    bool started = false, closed = false;
    bool told_of_non_finite = false;
    detail::EventQueue queue;  // last: its thread uses the above
  };

  static proto::Event stamped(double time, std::int64_t step) {
    proto::Event event;
    event.set_wall_time(time);
    event.set_step(step);
    return event;
  }
  template <class Fill>
  void add(Fill fill, std::int64_t step = 0) const {
    shared_->add([fill = std::move(fill), step, time = shared_->now()](EventLog& log) {
      proto::Event event = stamped(time, step);
      fill(event);
      log.append(event);
    });
  }

  std::shared_ptr<Shared> shared_;
};

}  // namespace crochet::io
