// SPDX-License-Identifier: Apache-2.0
// The content of an event file: values with tags, graphs, and information about the run.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <crochet/storage/data_type.hpp>

namespace crochet::io {

/// A number: `simple_value`, or a tensor of one number.
struct EventScalar {
  double value = 0;
};

/// A distribution in buckets. Bucket i holds bucket_counts[i] values between bucket_limits[i - 1] and bucket_limits[i].
/// Numbers that the file does not contain are NaN: TensorFlow 2 writes only the buckets.
struct EventHistogram {
  double min = std::numeric_limits<double>::quiet_NaN(), max = min;
  double count = 0, sum = min, sum_squares = min;
  std::vector<double> bucket_limits{}, bucket_counts{};
};

/// Images of one size, each an encoded image file (usually PNG).
struct EventImage {
  std::int64_t height = 0, width = 0;
  std::int64_t channels = 0;  // 0: not in the file
  std::vector<std::string> encoded{};
};

/// Texts, usually Markdown.
struct EventText {
  std::vector<std::string> texts{};
};

/// A tensor of a plug-in. `bytes` holds its elements, row-major and little-endian. If there are fewer than the shape
/// has, the last one is repeated. Strings are in `strings`.
struct EventTensor {
  DataType type = DataType::invalid;
  std::vector<std::int64_t> shape{};
  std::string bytes{};
  std::vector<std::string> strings{};
};

/// A sound (usually WAV).
struct EventAudio {
  double sample_rate = 0;
  std::int64_t channels = 0, frames = 0;
  std::string encoded{};
};

/// A serialized GraphDef.
struct EventGraph {
  std::string graph_def{};
};
/// A serialized MetaGraphDef.
struct EventMetaGraph {
  std::string meta_graph_def{};
};
/// A serialized RunMetadata; its tag is the record's.
struct EventRunMetadata {
  std::string run_metadata{};
};
/// The version of the format, "brain.Event:2", in a file's first record.
struct EventFileVersion {
  std::string version{};
};
struct EventSessionLog {
  enum class Status : std::int32_t { unspecified = 0, start = 1, stop = 2, checkpoint = 3 };
  Status status = Status::unspecified;
  std::string checkpoint_path{}, message{};
};
struct EventLogMessage {
  std::int32_t level = 0;
  std::string message{};
};

/// std::monostate: the event has none of these contents.
using EventContent =
    std::variant<std::monostate, EventScalar, EventHistogram, EventImage, EventText, EventTensor, EventAudio,
                 EventGraph, EventMetaGraph, EventRunMetadata, EventFileVersion, EventSessionLog, EventLogMessage>;

/// One value of a summary, or an event without a summary. It owns its memory.
struct EventRecord {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
  std::string tag{};     // tag of a value; empty otherwise
  std::string plugin{};  // TensorBoard's plug-in for a value; empty if the file has none for the tag
  EventContent content{};
};

/// The name of a record's content: "scalar", "histogram", "image", "text", "tensor", "audio", "graph", "meta graph",
/// "run metadata", "file version", "session log", "log message", "nothing".
constexpr const char* name_of(const EventContent& content) {
  constexpr const char* names[] = {"nothing",      "scalar",      "histogram",  "image",      "text",
                                   "tensor",       "audio",       "graph",      "meta graph", "run metadata",
                                   "file version", "session log", "log message"};
  return names[content.index()];
}

}  // namespace crochet::io
