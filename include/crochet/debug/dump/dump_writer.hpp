// SPDX-License-Identifier: Apache-2.0
// DumpWriter: writes a run's directory in the format of TensorFlow's DebugDumpDir.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/debug/dump/disk_budget.hpp>
#include <crochet/debug/event/core_metadata.hpp>
#include <crochet/debug/ops/tensor.hpp>
#include <crochet/io/messages.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet::debug {

/// Writes one run's directory. Each file is one Event.
/// - A file is written as `.writing` in the run's directory, which readers ignore, and then renamed. If the program
///   stops, a file is complete or absent. There is no fsync: if the machine stops, data that the system has not yet
///   written are lost.
/// - Nodes whose names are not safe paths are dumped under `safe_node_name`.
/// - Throws IoError with the file and the cause; a file that was not renamed is removed.
/// - Not thread-safe; one writer per directory.
class DumpWriter {
 public:
  /// Creates the directory in an existing one. Throws IoError, also if the directory exists.
  explicit DumpWriter(std::filesystem::path directory, DiskBudget& budget = disk_budget(),
                      io::FileSystem& files = io::local_files());

  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
  /// The number of tensors written so far, and the bytes of their elements.
  [[nodiscard]] std::uint64_t tensors() const { return tensors_; }
  [[nodiscard]] std::uint64_t tensor_bytes() const { return tensor_bytes_; }

  /// Writes the text of the fetches, in Python's format.
  void write_fetches(std::string_view text);
  /// Writes the text of the feeds' keys.
  void write_feed_keys(std::string_view text);

  /// Writes the metadata of the run.
  void write_metadata(const CoreMetadata& metadata, std::int64_t microseconds);
  void write_metadata(const proto::Event& event, std::int64_t session_run_index, std::int64_t microseconds);

  /// Writes the graph of a device. Throws LogicError for an invalid device name.
  void write_graph(std::string_view device, std::string_view serialized_graph, std::int64_t microseconds);

  /// Marks the run as incomplete until `mark_complete`; readers report it with the text `why`. The budget does not
  /// count the mark.
  void mark_incomplete(std::string_view why);
  void mark_complete();

  /// Writes a tensor. Throws ResourceExhaustedError and writes nothing if the disk budget is exceeded, IoError for a
  /// tensor of 2 GiB or more.
  void write_tensor(const DebugEvent& debug_event);
  /// Writes a tensor received as an event, also of strings. `where` has the device, node, slot, operation and time,
  /// which must agree with the event; its tensor is not used. `bytes` is the size for the budget.
  void write_tensor(const proto::Event& event, const DebugEvent& where, std::uint64_t bytes);

 private:
  static std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

  [[noreturn]] static void fail(const std::filesystem::path& path, std::error_code why);

  /// Throws IoError if readers would refuse a file of this size.
  static void require_readable(std::string_view node, std::uint64_t bytes);
  /// Reserves the bytes in the budget before writing, and releases them if the write fails.
  void write_charged(const DebugEvent& where, std::uint64_t bytes,
                     std::initializer_list<std::span<const std::byte>> parts);
  [[noreturn]] void refuse(std::uint64_t bytes) const;

  /// The path of a tensor's file; creates its folders.
  std::filesystem::path path_of(const DebugEvent& debug_event);
  std::filesystem::path folder_of(const std::string& folder);

  void write_text(const char* name, std::string_view text);
  /// Writes to `path`, or to `path` with `-1`, `-2`, ... appended if it exists: firings in the same microsecond have
  /// separate files.
  void write_new(const std::filesystem::path& path, std::initializer_list<std::span<const std::byte>> parts);
  void write(const std::filesystem::path& path, std::initializer_list<std::span<const std::byte>> parts);
  std::error_code try_to_write(const std::filesystem::path& temporary, const std::filesystem::path& path,
                               std::initializer_list<std::span<const std::byte>> parts);

  std::filesystem::path directory_;
  DiskBudget* budget_;
  io::FileSystem* files_;
  std::set<std::string> folders_;
  std::uint64_t tensors_ = 0, tensor_bytes_ = 0;
};

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/dump/dump_writer.ipp>
#endif
