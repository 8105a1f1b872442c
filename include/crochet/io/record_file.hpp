// SPDX-License-Identifier: Apache-2.0
// Reads a file of TFRecords (tfrecord.hpp) of any size, record by record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>

namespace crochet::io {

namespace detail {

/// Reads a file from front to back with few system calls. Memory: 64 KiB.
class ReadAhead {
 public:
  explicit ReadAhead(InputFile file) : file_(std::move(file)), buffer_(std::size_t{1} << 16) {}

  /// As InputFile::read_some.
  std::size_t read_some(std::uint64_t offset, std::span<std::byte> to);
  [[nodiscard]] const InputFile& file() const { return file_; }

 private:
  std::size_t copy(std::uint64_t offset, std::span<std::byte> to) const;

  InputFile file_;
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0;  // file offset of the buffer
  std::size_t filled_ = 0;
};

}  // namespace detail

/// The records of a file. The file may grow meanwhile: a later call finds new records. Memory: 64 KiB and twice the
/// largest record; a length beyond the end of the file takes no more memory than the file has bytes.
class RecordFile {
 public:
  /// Throws IoError.
  explicit RecordFile(const std::filesystem::path& path, FileSystem& files = local_files())
      : in_(InputFile{path, files}) {}

  /// Reads the next record. Returns false at the end of the file or inside an incomplete record; at_end() distinguishes
  /// them. Throws DataLossError, without the file's name, for a wrong checksum or a record of 2 GiB; the position does
  /// not change.
  bool next();

  /// The payload of the record that next() read; valid until the next call.
  [[nodiscard]] std::string_view payload() const { return std::string_view{body_}.substr(0, size_); }
  /// Where the next record begins.
  [[nodiscard]] std::uint64_t position() const { return at_; }
  /// Whether the last next() found no byte at all.
  [[nodiscard]] bool at_end() const { return at_end_; }
  [[nodiscard]] const std::filesystem::path& path() const { return in_.file().path(); }

 private:
  /// Reads payload and checksum. Allocates as bytes arrive, because the stored length may be wrong.
  bool read_body(std::size_t wanted);

  detail::ReadAhead in_;
  std::string body_{};
  std::size_t size_ = 0;
  std::uint64_t at_ = 0;
  bool at_end_ = false;
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/record_file.ipp>
#endif
