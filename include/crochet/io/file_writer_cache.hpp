// SPDX-License-Identifier: Apache-2.0
// FileWriterCache: one event writer for each folder of the process.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include <crochet/io/event_writer.hpp>

namespace crochet::io {

/// Hooks that name the same folder share one event file, which is what TensorBoard wants: one live file in a folder.
/// No hook closes a writer of the cache; clear() does, or the end of the program. From any thread.
class FileWriterCache {
 public:
  /// The writer of the folder, made on first use, and again after it was closed. `options` count where it is made.
  /// "logs/a", "logs//a" and "logs/a/" are the same folder. Throws IoError.
  static EventWriter get(const std::filesystem::path& directory, const EventWriterOptions& options = {});
  /// Closes all writers and forgets them. Throws the first error there is, after all are closed.
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
