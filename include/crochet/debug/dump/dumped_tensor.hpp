// SPDX-License-Identifier: Apache-2.0
// DumpedTensor: a tensor in a file of a dump. The elements are read on request.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <crochet/debug/dump/dump_file.hpp>
#include <crochet/debug/dump/dump_names.hpp>
#include <crochet/debug/event/tensor_event_layout.hpp>
#include <crochet/debug/ops/tensor_statistics.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

namespace detail {
/// Returns "" if the plug-in data, a JSON text, describe a whole tensor; otherwise the error.
std::string plugin_fault(const std::string& text);
}  // namespace detail

/// An opened tensor file. The constructor reads everything except the elements and validates it. DataLossError and
/// IoError have the file and the cause. Not thread-safe.
class DumpedTensor {
 public:
  /// `name`: the parsed file name. The event's watch key, if present, must agree with it.
  DumpedTensor(const std::filesystem::path& path, const DumpName& name);

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
  void read(std::size_t offset, std::span<std::byte> to) const;
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
  /// Calls `each` for each element of a string tensor.
  void for_each_string(const std::function<void(const std::string&)>& each) const;
  /// All numbers; empty if there are none.
  [[nodiscard]] std::vector<std::byte> read_all() const;
  /// Statistics of all numbers; empty ones if there are none.
  [[nodiscard]] TensorStatistics statistics() const;

 private:
  template <class Act>
  void read_from(Act act) const;
  void check(const DumpName& name) const;

  DumpFile file_;
  TensorEventLayout layout_{};
};

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/dump/dumped_tensor.ipp>
#endif
