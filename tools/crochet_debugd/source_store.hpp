// SPDX-License-Identifier: Apache-2.0
// SourceStore: the tracebacks and source files of senders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <crochet/proto/debug.pb.h>

#include <crochet/base/error.hpp>
#include <crochet/debug/event/graph_hash.hpp>
#include <crochet/storage/whole_file.hpp>

#include "disk_blocks.hpp"

namespace crochet::debugd {

/// Writes them under `sources/`: `traceback_<n>.pb`, each a serialized CallTraceback, and the source texts as files
/// named after their path, which is in their first line. Thread-safe. Throws ResourceExhaustedError if `most` bytes of
/// disk space, in blocks, are exceeded, IoError if a file cannot be written.
class SourceStore {
 public:
  SourceStore(const std::filesystem::path& root, std::uint64_t most) : folder_(root / "sources"), left_(most) {}

  void traceback(const proto::CallTraceback& traceback) {
    const std::lock_guard lock(mutex_);
    write("traceback_" + std::to_string(tracebacks_++) + ".pb", traceback.SerializeAsString());
  }
  void sources(const proto::DebuggedSourceFiles& files) {
    const std::lock_guard lock(mutex_);
    for (const auto& file : files.source_files()) {
      std::string text = "# " + one_line(file.host()) + ":" + one_line(file.file_path()) + "\n";
      for (const std::string& line : file.lines()) text += line + "\n";
      write(name_of(file.host() + ":" + file.file_path()), text);
    }
  }

 private:
  static std::string one_line(std::string text) {
    for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    return text;
  }
  /// A hash of the path, followed by its last part with every character replaced except letters, digits, `.` and `-`.
  static std::string name_of(const std::string& path) {
    std::string last = path.substr(path.find_last_of("/\\:") + 1).substr(0, 100);
    for (char& c : last) {
      const bool good =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-';
      c = good ? c : '_';
    }
    return std::to_string(debug::graph_hash(path)) + "_" + last;
  }
  /// Replaces an existing file, whose blocks no longer count. The folder counts as one block.
  void write(const std::string& name, const std::string& text) {
    const auto known = sizes_.find(name);
    const std::uint64_t before = known == sizes_.end() ? 0 : known->second;
    const std::uint64_t bytes = blocks_of_file(text.size()) + (sizes_.empty() ? disk_block : 0);
    if (bytes > left_ + before) {
      throw ResourceExhaustedError("crochet: this debug server keeps no more source files; see --max-source-bytes");
    }
    std::error_code error;  // without the folder the file cannot be written, which is reported
    std::filesystem::create_directories(folder_, error);
    io::write_whole_file(folder_ / name, {std::as_bytes(std::span(text))});
    left_ = left_ + before - bytes;
    sizes_[name] = blocks_of_file(text.size());
  }

  std::filesystem::path folder_;
  std::uint64_t left_;
  std::map<std::string, std::uint64_t> sizes_;  // of the files
  std::uint64_t tracebacks_ = 0;
  std::mutex mutex_;
};

}  // namespace crochet::debugd
