// SPDX-License-Identifier: Apache-2.0
// The compiled half of dump_writer.hpp.
#pragma once

#include <crochet/debug/dump/dump_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <crochet/proto/event.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/debug/dump/disk_budget.hpp>
#include <crochet/debug/dump/dump_names.hpp>
#include <crochet/debug/event/core_metadata.hpp>
#include <crochet/debug/event/event_limits.hpp>
#include <crochet/debug/event/framed_tensor.hpp>
#include <crochet/debug/event/graph_event.hpp>
#include <crochet/debug/event/graph_hash.hpp>
#include <crochet/debug/event/log_event.hpp>
#include <crochet/debug/event/safe_names.hpp>
#include <crochet/debug/ops/tensor.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet::debug {

CROCHET_INLINE DumpWriter::DumpWriter(std::filesystem::path directory, DiskBudget& budget, io::FileSystem& files)
    : directory_(std::move(directory)), budget_(&budget), files_(&files) {
  std::error_code error;
  if (!std::filesystem::create_directory(directory_, error)) {
    fail(directory_, error ? error : std::make_error_code(std::errc::file_exists));
  }
}

CROCHET_INLINE void DumpWriter::write_fetches(std::string_view text) { write_text("_tfdbg_fetches_info_", text); }

CROCHET_INLINE void DumpWriter::write_feed_keys(std::string_view text) { write_text("_tfdbg_feed_keys_info_", text); }

CROCHET_INLINE void DumpWriter::write_metadata(const CoreMetadata& metadata, std::int64_t microseconds) {
  write_metadata(metadata_event(metadata, microseconds), metadata.session_run_index, microseconds);
}

CROCHET_INLINE void DumpWriter::write_metadata(const proto::Event& event, std::int64_t session_run_index,
                                               std::int64_t microseconds) {
  std::string index = std::to_string(std::max<std::int64_t>(session_run_index, 0));
  index.insert(0, 14 - std::min<std::size_t>(14, index.size()), '0');
  write_new(directory_ / ("_tfdbg_core_metadata_sessionrun" + index + "_" + std::to_string(microseconds)),
            {bytes_of(event.SerializeAsString())});
}

CROCHET_INLINE void DumpWriter::write_graph(std::string_view device, std::string_view serialized_graph,
                                            std::int64_t microseconds) {
  const std::string name = std::string(detail::graph_file_prefix) + "hash" +
                           std::to_string(graph_hash(serialized_graph)) + "_" + std::to_string(microseconds);
  write(folder_of(device_folder(device)) / name,
        {bytes_of(graph_event(serialized_graph, microseconds).SerializeAsString())});
}

CROCHET_INLINE void DumpWriter::mark_incomplete(std::string_view why) {
  write(directory_ / incomplete_mark, {bytes_of(why)});
}

CROCHET_INLINE void DumpWriter::mark_complete() {
  const std::filesystem::path mark = directory_ / incomplete_mark;
  if (const std::error_code error = files_->remove(mark)) fail(mark, error);
}

CROCHET_INLINE void DumpWriter::write_tensor(const DebugEvent& debug_event) {
  const std::string node = safe_node_name(debug_event.node);
  DebugEvent safe = debug_event;
  safe.node = node;
  const FramedTensor frame = framed(safe);
  require_readable(node, frame.head.size() + frame.content.size() + frame.tail.size());
  write_charged(safe, safe.tensor.byte_size(), {bytes_of(frame.head), frame.content, bytes_of(frame.tail)});
}

CROCHET_INLINE void DumpWriter::write_tensor(const proto::Event& event, const DebugEvent& where, std::uint64_t bytes) {
  if (!is_safe_node_name(where.node)) throw LogicError("crochet: an event's node has no safe name: rename it before");
  require_readable(where.node, event.ByteSizeLong());
  write_charged(where, bytes, {bytes_of(event.SerializeAsString())});
}

CROCHET_INLINE void DumpWriter::fail(const std::filesystem::path& path, std::error_code why) {
  throw IoError("crochet: the dump " + path.string() + " cannot be written: " + why.message());
}

CROCHET_INLINE void DumpWriter::require_readable(std::string_view node, std::uint64_t bytes) {
  if (bytes <= max_event) return;
  throw IoError(
      "crochet: no dump of " + std::string(node) + ", of " + std::to_string(bytes) +
      " bytes: the file is one protobuf message, of less than 2 GiB. Watch its DebugNumericSummary, or leave " +
      "it out");
}

CROCHET_INLINE void DumpWriter::write_charged(const DebugEvent& where, std::uint64_t bytes,
                                              std::initializer_list<std::span<const std::byte>> parts) {
  if (!budget_->take(bytes)) refuse(bytes);
  try {
    write_new(path_of(where), parts);
  } catch (...) {
    budget_->give_back(bytes);
    throw;
  }
  ++tensors_, tensor_bytes_ += bytes;
}

CROCHET_INLINE void DumpWriter::refuse(std::uint64_t bytes) const {
  throw ResourceExhaustedError(
      "crochet: no dump of " + std::to_string(bytes) + " bytes more: " + std::to_string(budget_->used()) + " of " +
      std::to_string(budget_->limit()) +
      " are used. Set TFDBG_DISK_BYTES_LIMIT (bytes) higher, watch fewer nodes, or keep fewer runs");
}

CROCHET_INLINE std::filesystem::path DumpWriter::path_of(const DebugEvent& debug_event) {
  if (debug_event.op.empty() || debug_event.op.size() > 60 || debug_event.slot < 0 || debug_event.microseconds < 0 ||
      !std::all_of(debug_event.op.begin(), debug_event.op.end(), detail::is_letter_or_digit)) {
    throw LogicError("crochet: a dump's operation has letters and digits only, slot and time are not negative");
  }
  const std::size_t slash = debug_event.node.rfind('/');
  std::string folder = device_folder(debug_event.device);
  if (slash != std::string_view::npos) folder += "/" + std::string(debug_event.node.substr(0, slash));
  const std::string_view last = debug_event.node.substr(slash + 1);  // npos + 1 is 0
  return folder_of(folder) / (std::string(last) + "_" + std::to_string(debug_event.slot) + "_" +
                              std::string(debug_event.op) + "_" + std::to_string(debug_event.microseconds));
}

CROCHET_INLINE std::filesystem::path DumpWriter::folder_of(const std::string& folder) {
  std::filesystem::path path = directory_ / folder;
  if (folders_.contains(folder)) return path;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail(path, error);
  folders_.insert(folder);
  return path;
}

CROCHET_INLINE void DumpWriter::write_text(const char* name, std::string_view text) {
  write(directory_ / name, {bytes_of(log_event(std::string(text)).SerializeAsString())});
}

CROCHET_INLINE void DumpWriter::write_new(const std::filesystem::path& path,
                                          std::initializer_list<std::span<const std::byte>> parts) {
  std::filesystem::path free = path;
  std::error_code error;
  for (int k = 1; std::filesystem::exists(std::filesystem::symlink_status(free, error)); ++k) {
    free = path;
    free += "-" + std::to_string(k);
    if (k > 10000) fail(path, std::make_error_code(std::errc::file_exists));
  }
  write(free, parts);
}

CROCHET_INLINE void DumpWriter::write(const std::filesystem::path& path,
                                      std::initializer_list<std::span<const std::byte>> parts) {
  const std::filesystem::path temporary = directory_ / ".writing";
  if (const std::error_code error = try_to_write(temporary, path, parts)) {
    (void)files_->remove(temporary);
    fail(path, error);
  }
}

CROCHET_INLINE std::error_code DumpWriter::try_to_write(const std::filesystem::path& temporary,
                                                        const std::filesystem::path& path,
                                                        std::initializer_list<std::span<const std::byte>> parts) {
  std::error_code error;
  const std::unique_ptr<io::OutputFile> file = files_->create(temporary, error);
  if (!file) return error;
  if ((error = file->write_parts(parts))) return error;
  if ((error = file->close())) return error;
  return files_->rename(temporary, path);
}

}  // namespace crochet::debug
