// SPDX-License-Identifier: Apache-2.0
// read_text: a whole text file, plain or gzipped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/data/gzip.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet {

namespace detail {

/// The file's text. Allocates by the bytes that are there, not by a size in the file.
CROCHET_COLD inline std::string whole_text(const std::filesystem::path& path, std::uint64_t max_bytes,
                                           io::FileSystem& files) {
  io::GzipFile file(path, max_bytes, files);
  std::string text;
  std::uint64_t room = std::min(file.file_bytes(), max_bytes) + 1;  // one more byte, to reach the end in one read
  for (std::size_t got = 0;; room = 2 * text.size()) {
    text.resize(static_cast<std::size_t>(room));
    got += file.read({reinterpret_cast<std::uint8_t*>(text.data()) + got, text.size() - got});
    if (got == text.size()) continue;
    text.resize(got);
    return text;
  }
}

}  // namespace detail

/// A limit of read_text().
struct TextOptions {
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  ///< of the text, unpacked
};

/// The bytes of a file, plain or gzipped. Throws IoError if it is missing or unreadable, DataLossError if it is damaged
/// (gzip) or larger than the limit, ResourceExhaustedError if memory is exhausted.
CROCHET_COLD inline std::string read_text(const std::filesystem::path& path, const TextOptions& options = {},
                                          io::FileSystem& files = io::local_files()) {
  try {
    return detail::whole_text(path, options.max_bytes, files);
  } catch (const std::bad_alloc&) {
    throw ResourceExhaustedError(path.string() + ": there is not enough memory for it; read a smaller file");
  }
}

}  // namespace crochet
