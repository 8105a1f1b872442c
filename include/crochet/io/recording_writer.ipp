// SPDX-License-Identifier: Apache-2.0
// The compiled half of recording_writer.hpp.
#pragma once

#include <crochet/io/recording_writer.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/base/error.hpp>
#include <crochet/io/event_sink.hpp>
#include <crochet/io/protobuf_wire.hpp>
#include <crochet/io/recorded_run.hpp>
#include <crochet/io/tfrecord.hpp>
#include <crochet/storage/path_lock.hpp>
#include <crochet/storage/tensor_record.hpp>
#include <crochet/storage/whole_file.hpp>

namespace crochet::io::detail {

CROCHET_INLINE void put_wire_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}
CROCHET_INLINE void put_wire_tag(std::string& to, std::uint64_t number, WireType type) {
  put_wire_varint(to, number << 3 | static_cast<std::uint64_t>(type));
}
CROCHET_INLINE void put_wire_number(std::string& to, std::uint64_t number, std::uint64_t value) {
  put_wire_tag(to, number, WireType::varint);
  put_wire_varint(to, value);
}
CROCHET_INLINE void put_wire_bytes(std::string& to, std::uint64_t number, std::string_view bytes) {
  put_wire_tag(to, number, WireType::bytes);
  put_wire_varint(to, bytes.size());
  to += bytes;
}

/// An Event; `content` is field `number` of it: 3 for a version, 5 for a summary.
CROCHET_INLINE std::string wire_event(double wall_time, std::int64_t step, std::uint64_t number,
                                      std::string_view content) {
  std::string event;
  put_wire_tag(event, 1, WireType::fixed64);
  const auto bits = std::bit_cast<std::uint64_t>(wall_time);
  for (unsigned shift = 0; shift < 64; shift += 8) event += static_cast<char>(bits >> shift & 0xff);
  put_wire_number(event, 2, static_cast<std::uint64_t>(step));
  put_wire_bytes(event, number, content);
  return event;
}

/// A TensorProto without its elements.
CROCHET_INLINE std::string wire_tensor_head(DataType type, std::span<const std::int64_t> shape) {
  std::string dims, tensor;
  for (const std::int64_t extent : shape) {
    std::string dim;
    put_wire_number(dim, 1, static_cast<std::uint64_t>(extent));
    put_wire_bytes(dims, 2, dim);
  }
  put_wire_number(tensor, 1, static_cast<std::uint64_t>(type));
  put_wire_bytes(tensor, 2, dims);
  return tensor;
}

/// Adds a Summary.Value to a Summary.
CROCHET_INLINE void put_wire_value(std::string& summary, std::string_view tag, std::string_view tensor) {
  std::string plugin, metadata, value;
  put_wire_bytes(plugin, 1, recording_plugin);
  put_wire_bytes(metadata, 1, plugin);
  put_wire_bytes(value, 1, tag);
  put_wire_bytes(value, 9, metadata);
  put_wire_bytes(value, 8, tensor);
  put_wire_bytes(summary, 1, value);
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE RecordingWriter::RecordingWriter(const std::filesystem::path& path) : path_(path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) throw IoError("crochet: the recording " + path.string() + " cannot be made: " + error.message());
  require_file_or_nothing(path);
  lock_ = PathLock::of_file(path);
  std::filesystem::remove(path, error);
  if (error) throw IoError("crochet: the recording " + path.string() + " cannot be made: " + error.message());
  sink_ = EventFileSink::create(path);
  if (!sink_) throw IoError("crochet: the recording " + path.string() + " is being made by another program as well");
  append_tfrecord(unwritten_, detail::wire_event(0, 0, 3, "brain.Event:2"));
}

CROCHET_INLINE void RecordingWriter::create(std::int64_t step, double wall_time) {
  mark("create", {recording_version});
  finish_run(step, wall_time);
  flush();
}
CROCHET_INLINE void RecordingWriter::end(std::int64_t step, double wall_time, bool interrupted) {
  mark("end", {interrupted ? "interrupted" : ""});
  finish_run(step, wall_time);
  sync();
}
CROCHET_INLINE void RecordingWriter::error(std::int64_t step, double wall_time, std::string_view text) {
  mark("error", {text});
  finish_run(step, wall_time);
  sync();
}

CROCHET_INLINE void RecordingWriter::begin_run(std::int64_t step_before, std::string_view targets) {
  mark("run", {std::to_string(step_before), targets});
}
CROCHET_INLINE void RecordingWriter::add(const TensorRecord& value) {
  check_record(value);
  std::string tensor = detail::wire_tensor_head(value.type, value.shape);
  const std::string_view bytes{reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()};
  detail::put_wire_bytes(tensor, 4, bytes);
  detail::put_wire_value(summary_, value.name, tensor);
}
CROCHET_INLINE void RecordingWriter::finish_run(std::int64_t step, double wall_time) {
  constexpr std::size_t piece = std::size_t{1} << 16, most = (std::size_t{1} << 31) - 64;
  if (summary_.size() >= most) {
    throw ResourceExhaustedError("crochet: the values of the run of step " + std::to_string(step) + " have " +
                                 std::to_string(summary_.size()) +
                                 " bytes, and an entry of a recording less than 2 GiB: record fewer values");
  }
  append_tfrecord(unwritten_, detail::wire_event(wall_time, step, 5, summary_));
  if (unwritten_.size() >= piece) flush();
}

CROCHET_INLINE void RecordingWriter::flush() {
  sink_->write(unwritten_);
  unwritten_.clear();
}
CROCHET_INLINE void RecordingWriter::sync() {
  flush();
  sink_->sync();
  if (!sink_->vanished()) return;
  throw IoError("crochet: the recording " + path_.string() + " was removed or replaced while it was written");
}

CROCHET_INLINE void RecordingWriter::mark(std::string_view kind, std::initializer_list<std::string_view> texts) {
  const std::int64_t count[] = {static_cast<std::int64_t>(1 + texts.size())};
  std::string tensor = detail::wire_tensor_head(DataType::string, count);
  detail::put_wire_bytes(tensor, 8, kind);
  for (const std::string_view text : texts) detail::put_wire_bytes(tensor, 8, text);
  summary_.clear();
  detail::put_wire_value(summary_, recording_tag, tensor);
}

}  // namespace crochet::io
