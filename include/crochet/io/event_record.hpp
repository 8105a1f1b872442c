// SPDX-License-Identifier: Apache-2.0
// What an event file says: a value under a tag, a graph, or something about the run.
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
/// What the file does not say is not a number: TensorFlow 2 writes buckets only.
struct EventHistogram {
  double min = std::numeric_limits<double>::quiet_NaN(), max = min;
  double count = 0, sum = min, sum_squares = min;
  std::vector<double> bucket_limits{}, bucket_counts{};
};

/// Images of one size, each a file of its own (PNG as a rule).
struct EventImage {
  std::int64_t height = 0, width = 0;
  std::int64_t channels = 0;  // 0: the file does not say
  std::vector<std::string> encoded{};
};

/// Texts, Markdown as a rule.
struct EventText {
  std::vector<std::string> texts{};
};

/// A tensor of a plug-in. `bytes` holds its elements row by row, little-endian; fewer than the shape has where the last
/// one stands for all that follow. Texts are in `strings`.
struct EventTensor {
  DataType type = DataType::invalid;
  std::vector<std::int64_t> shape{};
  std::string bytes{};
  std::vector<std::string> strings{};
};

/// A sound (WAV as a rule).
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
/// A serialized RunMetadata, under the tag of the record.
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

/// Nothing (monostate) is an event that holds none of these.
using EventContent =
    std::variant<std::monostate, EventScalar, EventHistogram, EventImage, EventText, EventTensor, EventAudio,
                 EventGraph, EventMetaGraph, EventRunMetadata, EventFileVersion, EventSessionLog, EventLogMessage>;

/// One value of a summary, or an event that is no summary. It owns its memory.
struct EventRecord {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
  std::string tag{};     // of a value; empty otherwise
  std::string plugin{};  // of a value: TensorBoard's plug-in for it; empty if the file has not named one for the tag
  EventContent content{};
};

/// The name of what a record holds: "scalar", "histogram", "image", "text", "tensor", "audio", "graph", "meta graph",
/// "run metadata", "file version", "session log", "log message", "nothing".
constexpr const char* name_of(const EventContent& content) {
  constexpr const char* names[] = {"nothing",      "scalar",      "histogram",  "image",      "text",
                                   "tensor",       "audio",       "graph",      "meta graph", "run metadata",
                                   "file version", "session log", "log message"};
  return names[content.index()];
}

}  // namespace crochet::io
