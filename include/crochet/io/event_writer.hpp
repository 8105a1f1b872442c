// SPDX-License-Identifier: Apache-2.0
// EventWriter: what TensorBoard shows, written by a thread of its own.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/io/event_log.hpp>
#include <crochet/io/messages.hpp>
#include <crochet/io/summary_proto.hpp>
#include <crochet/storage/summary.hpp>

namespace crochet::io {

struct EventWriterOptions {
  std::size_t queue = 10;          ///< events that may wait for the thread
  double queue_wait_seconds = 10;  ///< how long a step waits for room before its event is dropped; infinity: for ever
  NonFinite non_finite = NonFinite::leave_out;
  EventLogOptions log{};  ///< flushes, what to do when the disk is full, clocks
};

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
  explicit EventWriter(const std::filesystem::path& directory, const EventWriterOptions& options = {});

  /// Does it write at all?
  [[nodiscard]] explicit operator bool() const { return shared_ != nullptr; }

  void add_scalar(std::string_view tag, double value, std::int64_t step) const;
  template <class T>
  void add_histogram(std::string_view tag, std::span<const T> values, std::int64_t step) const {
    if (shared_) add_summary(std::move(Summary{}.histogram(tag, values)), step);
  }
  void add_image(std::string_view tag, ImagePixels image, std::int64_t step) const;
  /// Markdown.
  void add_text(std::string_view tag, std::string text, std::int64_t step) const;
  /// Several values as one event.
  void add_summary(Summary summary, std::int64_t step) const;

  /// The graph as TensorBoard draws it, and as tools that read meta graphs want it.
  void add_graph(const proto::GraphDef& graph) const;
  void add_meta_graph(const proto::MetaGraphDef& graph) const;
  /// Statistics of one run, a serialized RunMetadata. Throws LogicError for a tag that was used before.
  void add_run_metadata(std::string_view tag, std::string run_metadata) const;
  /// The same, but a tag that was used before is no error: nothing is added, and it returns false.
  bool add_first_run_metadata(std::string_view tag, std::string run_metadata) const;

  /// A session begins, or goes on from a checkpoint, and `step` is the first whose summaries are about to be written.
  /// Whoever writes summaries says so before each; it is written before the first, and again when the step is below an
  /// earlier summary's (a session recovered). It makes TensorBoard forget what an earlier process wrote from there on.
  void start(std::int64_t step) const;
  /// The session has ended after this step, and why. Written once for each start().
  void stop(std::int64_t step, std::string_view why = {}) const;
  /// A checkpoint was saved. The original's path lacks the step.
  void checkpoint(std::int64_t step, std::string_view path) const;
  void add_session_log(proto::SessionLog_SessionStatus status, std::int64_t step, std::string_view path = {},
                       std::string_view message = {}) const;

  /// Returns when all that was added is on the disk. Throws as an add does.
  void flush() const;
  /// Writes what is left and closes the file, for all copies; again is fine. Throws as an add does.
  void close() const;
  [[nodiscard]] bool closed() const;

  /// The file that is being written; empty if there is none.
  [[nodiscard]] std::filesystem::path path() const;
  /// How many events were dropped because the queue was full.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct Shared;

  template <class Fill>
  void add(Fill fill, std::int64_t step = 0) const;

  std::shared_ptr<Shared> shared_;
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/event_writer.ipp>
#endif
