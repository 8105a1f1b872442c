// SPDX-License-Identifier: Apache-2.0
// DumpedTensor: a tensor in a file of a dump. The elements are read on request.
#pragma once

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include <crochet/base/error.hpp>
#include <crochet/debug/dump/dump_file.hpp>
#include <crochet/debug/dump/dump_names.hpp>
#include <crochet/debug/event/tensor_event_layout.hpp>
#include <crochet/debug/ops/tensor_statistics.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

namespace detail {
/// Returns "" if the plug-in data describe a whole tensor; otherwise the error.
inline std::string plugin_fault(const std::string& text) {
  std::size_t parts = 0;  // a part takes more memory than text
  const auto flat = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > 4) throw DataLossError("the plug-in's data are nested");
    if (++parts > 1'000) throw DataLossError("the plug-in's data have too many parts");
    return true;
  };
  const nlohmann::json data = nlohmann::json::parse(text, flat, false);
  if (!data.is_object()) return "the plug-in's data are no JSON object";
  const auto chunks = data.find("numChunks");
  if (chunks != data.end() && *chunks != 1) return "it holds one chunk of a tensor that was sent in several";
  return {};
}
}  // namespace detail

/// An opened tensor file. The constructor reads everything except the elements and validates it. DataLossError and
/// IoError have the file and the cause. Not thread-safe.
class DumpedTensor {
 public:
  /// `name`: the parsed file name. The event's watch key, if present, must agree with it.
  DumpedTensor(const std::filesystem::path& path, const DumpName& name) : file_(path) {
    read_from([&](auto& stream) {
      layout_ = read_tensor_event(stream, file_.size());
      check(name);
    });
  }

  [[nodiscard]] io::DataType dtype() const { return layout_.dtype; }
  [[nodiscard]] std::span<const std::int64_t> shape() const { return layout_.shape; }
  [[nodiscard]] std::size_t elements() const { return layout_.elements; }
  /// Size of the elements in the file; for strings, of their texts.
  [[nodiscard]] std::size_t byte_size() const { return layout_.byte_size; }
  [[nodiscard]] TensorState state() const { return layout_.state; }
  /// Microseconds since 1970, UTC.
  [[nodiscard]] double wall_time() const { return layout_.wall_time; }

  /// Whether there are numbers to read: values of a type with a fixed size.
  [[nodiscard]] bool has_numbers() const {
    return layout_.state == TensorState::values && io::size_of(layout_.dtype) != 0;
  }
  /// Fills `to` with the elements' bytes that begin at byte `offset`, row-major, little-endian. Throws LogicError if
  /// the range exceeds byte_size().
  void read(std::size_t offset, std::span<std::byte> to) const {
    if (!has_numbers() || offset > layout_.byte_size || to.size() > layout_.byte_size - offset) {
      throw LogicError("crochet: " + file_.path() + " has no such elements");
    }
    file_.read_at(layout_.content_at + offset, to);
  }
  /// Calls `each(bytes)` for consecutive parts of the elements: whole elements, at most 256 KiB.
  template <class F>
  void for_each_piece(F each) const {
    if (!has_numbers()) return;
    std::vector<std::byte> buffer(std::min(layout_.byte_size, std::size_t{1} << 18));
    for (std::size_t at = 0; at < layout_.byte_size; at += buffer.size()) {
      const std::span piece{buffer.data(), std::min(buffer.size(), layout_.byte_size - at)};
      read(at, piece);
      each(std::span<const std::byte>{piece});
    }
  }
  /// Calls `each(const std::string&)` for each element of a string tensor.
  template <class F>
  void for_each_string(F each) const {
    if (layout_.dtype != io::DataType::string) return;
    if (::lseek(file_.descriptor(), static_cast<::off_t>(layout_.tensor_at), SEEK_SET) < 0) {
      detail::unreadable(file_.path(), "it has no places");
    }
    read_from([&](auto& stream) { read_strings(stream, layout_.tensor_size, each); });
  }
  /// All numbers; empty if there are none.
  [[nodiscard]] std::vector<std::byte> read_all() const {
    if (!has_numbers()) return {};
    std::vector<std::byte> bytes(layout_.byte_size);
    read(0, bytes);
    return bytes;
  }
  /// Statistics of all numbers; empty ones if there are none.
  [[nodiscard]] TensorStatistics statistics() const {
    TensorStatistics statistics;
    for_each_piece([&](std::span<const std::byte> piece) { statistics.add(layout_.dtype, piece); });
    return statistics;
  }

 private:
  /// Calls `act` with a stream from the descriptor's position on. Adds the file to its errors.
  template <class Act>
  void read_from(Act act) const {
    google::protobuf::io::FileInputStream stream{file_.descriptor()};
    try {
      act(stream);
    } catch (const DataLossError& error) {  // the stream ends at an error of the system
      if (const int why = stream.GetErrno(); why != 0) {
        detail::unreadable(file_.path(), std::generic_category().message(why));
      }
      detail::damaged(file_.path(), error.what());
    }
  }
  void check(const DumpName& name) const {
    const std::string key = name.node + ":" + std::to_string(name.slot) + ":" + name.op;
    if (!layout_.watch_key.empty() && layout_.watch_key != key) {
      throw DataLossError("it holds " + layout_.watch_key + ", and its name says " + key);
    }
    if (layout_.plugin_name == "debugger") {
      const std::string fault = detail::plugin_fault(layout_.plugin_data);
      if (!fault.empty()) throw DataLossError(fault);
    }
  }

  DumpFile file_;
  TensorEventLayout layout_{};
};

}  // namespace crochet::debug
