// SPDX-License-Identifier: Apache-2.0
// FileWriterCache: one event writer per folder and process.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include <crochet/io/event_writer.hpp>

namespace crochet::io {

/// Hooks with the same folder share one event file: TensorBoard supports one live file per folder. Writers of the cache
/// are closed by clear() or at the end of the program, not by hooks. Any thread.
class FileWriterCache {
 public:
  /// The writer of the folder. Creates it on first use, after it was closed and in a child of fork(); only then
  /// `options` take effect. "logs/a", "logs//a", "logs/a/", the absolute path and a link to it are the same folder. A
  /// relative path is one below the folder that is current now. Throws IoError.
  static EventWriter get(const std::filesystem::path& directory, const EventWriterOptions& options = {});
  /// Closes and removes all writers. Throws the first error after all are closed.
  static void clear();

 private:
  struct Cache {
    std::mutex mutex;
    std::map<std::string, EventWriter> writers;
  };
  static Cache& the_cache();
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/file_writer_cache.ipp>
#endif
