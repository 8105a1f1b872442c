// SPDX-License-Identifier: Apache-2.0
// The compiled half of file_writer_cache.hpp.
#pragma once

#include <crochet/io/file_writer_cache.hpp>

#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <system_error>

#include <crochet/io/event_writer.hpp>
#include <crochet/storage/absolute_path.hpp>

namespace crochet::io {

CROCHET_INLINE EventWriter FileWriterCache::get(const std::filesystem::path& directory,
                                                const EventWriterOptions& options) {
  Cache& cache = the_cache();
  const std::lock_guard lock(cache.mutex);
  std::error_code unknown;
  const std::filesystem::path place = absolute_path(directory / "").parent_path();
  const std::filesystem::path folder = std::filesystem::weakly_canonical(place, unknown);
  EventWriter& writer = cache.writers[(unknown ? place : folder).string()];
  if (!writer || writer.closed()) writer = EventWriter(directory, options);
  return writer;
}

CROCHET_INLINE void FileWriterCache::clear() {
  Cache& cache = the_cache();
  std::map<std::string, EventWriter> writers;
  {
    const std::lock_guard lock(cache.mutex);
    writers.swap(cache.writers);
  }
  std::exception_ptr first;
  for (const auto& [directory, writer] : writers) {
    try {
      writer.close();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

CROCHET_INLINE FileWriterCache::Cache& FileWriterCache::the_cache() {
  static Cache cache;
  return cache;
}

}  // namespace crochet::io
