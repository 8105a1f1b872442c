// SPDX-License-Identifier: Apache-2.0
// EventWriter: writes TensorBoard's event files on its own thread.
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
  std::size_t queue = 10;          ///< capacity of the thread's queue, in events; at least 1
  double queue_wait_seconds = 10;  ///< longest wait for a full queue, then the event is dropped; may be infinity
  NonFinite non_finite = NonFinite::leave_out;
  EventLogOptions log{};  ///< flushes, write errors, clocks
};

/// Writes events into a new file in a folder (event_file.hpp).
///   cr::io::EventWriter events{"logs/run1"};
///   events.add_scalar("loss", 0.5, step);
/// - A handle: copies share the file. The last one to be destroyed writes the queued events and closes the file.
/// - `EventWriter{}` writes nothing, so that a hook's writer can be optional. Hooks take it as `summaries`
///   (hooks/kit/summary_sink.hpp).
/// - Names are converted to tags (summary_tag.hpp).
/// - Any thread may add. An add copies its arguments and queues the event. If the queue is full it waits
///   (`queue_wait_seconds`), then drops the event; drops are reported.
/// - An add throws LogicError after close(). It rethrows, once, an error of an event added before: with
///   OnWriteError::stop its IoError, with NonFinite::refuse its DataError.
/// - A child of fork() has the memory of a writer and not its thread: there the writer is closed, copies may be
///   destroyed, and an add or flush() throws LogicError. The child makes a writer of its own.
/// - Memory: the queued events, and EventLogOptions::kept_bytes. Cost of add_scalar: figures in docs/tensorboard.md.
class EventWriter {
 public:
  EventWriter() = default;
  /// Throws LogicError for a queue of 0; IoError if folder or file cannot be created; ResourceExhaustedError if the
  /// system cannot start a thread or has no memory for a handler of fork().
  explicit EventWriter(const std::filesystem::path& directory, const EventWriterOptions& options = {});

  /// Whether it writes to a file.
  [[nodiscard]] explicit operator bool() const { return shared_ != nullptr; }

  void add_scalar(std::string_view tag, double value, std::int64_t step) const;
  template <class T>
  void add_histogram(std::string_view tag, std::span<const T> values, std::int64_t step) const {
    if (shared_) add_summary(std::move(Summary{}.histogram(tag, values)), step);
  }
  void add_image(std::string_view tag, ImagePixels image, std::int64_t step) const;
  /// `text` is Markdown.
  void add_text(std::string_view tag, std::string text, std::int64_t step) const;
  /// Several values in one event.
  void add_summary(Summary summary, std::int64_t step) const;

  /// The graph for TensorBoard's graph view (GraphDef), and for tools that read a MetaGraphDef.
  void add_graph(const proto::GraphDef& graph) const;
  void add_meta_graph(const proto::MetaGraphDef& graph) const;
  /// Statistics of one run, as a serialized RunMetadata. Throws LogicError for a tag that was used before.
  void add_run_metadata(std::string_view tag, std::string run_metadata) const;
  /// The same, but for a tag that was used before it adds nothing and returns false.
  bool add_first_run_metadata(std::string_view tag, std::string run_metadata) const;

  /// Marks the start of a session, or a resume from a checkpoint, at `step`. Call it before each summary with the step
  /// of the summary. It writes a START entry if no session is under way, and again when `step` is below an earlier one
  /// of the same source (its session recovered), unless another source has written it. On START, TensorBoard discards
  /// what the file's folder has from that step on, of all tags.
  void start(std::int64_t step) const;
  /// The same file for one source of summaries: start() and stop() of this handle and its copies count alone. The last
  /// copy to be destroyed ends the source. Each SummarySink has one, so that sessions can share a file; this writer and
  /// its other copies are one source.
  [[nodiscard]] EventWriter for_one_source() const;
  /// Marks the end of a session after `step`, with the reason. Written once after summaries with start().
  void stop(std::int64_t step, std::string_view why = {}) const;
  /// Records that a checkpoint was saved. In TensorFlow the path lacks the step.
  void checkpoint(std::int64_t step, std::string_view path) const;
  void add_session_log(proto::SessionLog_SessionStatus status, std::int64_t step, std::string_view path = {},
                       std::string_view message = {}) const;

  /// Returns when everything that was added is on the disk. Throws the error of an earlier write as an add does; after
  /// close() it returns at once.
  void flush() const;
  /// Writes the queued events and closes the file, for all copies. May be called repeatedly. Throws like an add.
  void close() const;
  [[nodiscard]] bool closed() const;

  /// The current file; empty if there is none.
  [[nodiscard]] std::filesystem::path path() const;
  /// Number of events that were dropped because the queue was full.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct Shared;
  struct Position;
  struct Source;

  template <class Fill>
  void add(Fill fill, std::int64_t step = 0) const;
  [[nodiscard]] Position& position() const;

  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Source> source_;
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/event_writer.ipp>
#endif
