// SPDX-License-Identifier: Apache-2.0
// LinePieces: a text file in pieces of whole lines, so that a reader needs no memory for the whole text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include <crochet/data/gzip.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet::detail {

/// A text file, plain or gzipped, from its first line to its last. Memory: one piece and GzipFile's.
class LinePieces {
 public:
  /// A piece and what is read from it fit into the second-level cache.
  static constexpr std::size_t piece_bytes = std::size_t{1} << 17;

  /// Throws what GzipFile throws.
  LinePieces(const std::filesystem::path& path, std::uint64_t max_bytes, io::FileSystem& files)
      : file_(path, max_bytes, files), text_(std::make_unique_for_overwrite<char[]>(piece_bytes)) {}

  /// The next lines, with their ends, valid until the next call; at the end of the file what follows the last line end.
  /// An empty text behind that. No value if a line is longer than a piece. Throws what GzipFile::read throws.
  std::optional<std::string_view> next() {
    size_ -= used_;
    std::memmove(text_.get(), text_.get() + used_, size_);
    size_ += file_.read({reinterpret_cast<std::uint8_t*>(text_.get()) + size_, piece_bytes - size_});
    const std::string_view text(text_.get(), size_);
    used_ = size_ < piece_bytes ? size_ : text.rfind('\n') + 1;
    if (used_ == 0 && size_ > 0) return std::nullopt;
    return text.substr(0, used_);
  }

  /// The size of the file; of a gzipped one, packed.
  [[nodiscard]] std::uint64_t file_bytes() const { return file_.file_bytes(); }

 private:
  io::GzipFile file_;
  std::unique_ptr<char[]> text_;
  std::size_t size_ = 0;  // bytes in text_
  std::size_t used_ = 0;  // of them in the last piece
};

}  // namespace crochet::detail
