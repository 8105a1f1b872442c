// SPDX-License-Identifier: Apache-2.0
// Reads a file that may be gzipped, with the same bytes as the plain file. In contrast to zlib's gzread() it reports
// all damage: truncation, a wrong checksum, trailing bytes, more data than allowed.
#pragma once

#include <crochet/base/config.hpp>
#include <crochet/data/needs_zlib.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/base/error.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet::io {

/// A regular file opened for reading, decompressed on the fly if it starts like a gzip file (any number of members).
/// - Throws: IoError when the system cannot open or read it; DataLossError when its content is damaged or larger than
///   allowed. Each message is one sentence with the file, the cause and the remedy.
/// - Thread: one at a time.
/// - Memory: a 64 KiB read buffer and zlib's state (about 40 KiB), both allocated on construction.
class GzipFile {
 public:
  /// Opens `path`. `max_bytes` limits the decompressed bytes, since a small file may expand to terabytes. Throws
  /// ResourceExhaustedError if the memory cannot be allocated.
  GzipFile(const std::filesystem::path& path, std::uint64_t max_bytes, FileSystem& files = local_files())
      : path_(path.string()), left_(max_bytes), file_(open(path, files)), input_(std::make_unique<Buffer>()) {
    refill();
    gzipped_ = stream_.avail_in >= 2 && (*input_)[0] == 0x1f && (*input_)[1] == 0x8b;
    if (gzipped_) start_inflate();
  }

  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile() {
    if (gzipped_) inflateEnd(&stream_);
  }

  /// Fills `out` and returns its size, or less at the end of the data. The end of a gzip file is reported only after
  /// its checksum is verified. Throws DataLossError for damaged content or an exceeded limit, IoError for a failed
  /// read.
  std::size_t read(std::span<std::uint8_t> out) {
    std::size_t done = 0;
    while (done < out.size()) {
      const auto rest = out.subspan(done, std::min(out.size() - done, largest_piece));
      const std::size_t got = gzipped_ ? inflate_some(rest) : copy_some(rest);
      if (got == 0) break;
      if (got > left_)
        fail("holds more data than the limit allows", "raise the limit if the file is meant to be that large");
      left_ -= got;
      done += got;
    }
    return done;
  }

  /// Upper bound of the decompressed size, known before reading: deflate's best ratio is 1032 to 1. Saturates. A size
  /// inside the file that exceeds this bound is false.
  [[nodiscard]] std::uint64_t max_unpacked_bytes() const {
    constexpr std::uint64_t best_ratio = 1032;
    if (!gzipped_) return file_bytes();
    return file_bytes() > UINT64_MAX / best_ratio ? UINT64_MAX : file_bytes() * best_ratio;
  }

  /// The size of the file in bytes when it was opened.
  [[nodiscard]] std::uint64_t file_bytes() const { return file_->size(); }

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Throws DataLossError: "<file>: <cause>; <cure>".
  [[noreturn]] void fail(std::string_view cause, std::string_view cure = "copy or download the file again") const {
    throw DataLossError(path_ + ": " + std::string(cause) + "; " + std::string(cure));
  }

 private:
  using Buffer = std::array<Bytef, std::size_t{1} << 16>;
  static constexpr std::size_t largest_piece = std::size_t{1} << 30;  // zlib counts in 32 bits

  CROCHET_COLD static std::unique_ptr<RandomAccessFile> open(const std::filesystem::path& path, FileSystem& files) {
    std::error_code error;
    std::unique_ptr<RandomAccessFile> file = files.open(path, error);
    if (file) return file;
    if (error == std::errc::no_such_file_or_directory)
      throw IoError(path.string() + ": there is no such file; check the path");
    if (error == std::errc::is_a_directory || error == std::errc::not_supported)
      throw IoError(path.string() + ": not a regular file; name a file");
    throw IoError(path.string() + ": cannot be opened: " + error.message() + "; check its permissions");
  }

  // Short reads are completed: the buffer is only partly filled at the end of the file.
  void refill() {
    const auto buffer = std::as_writable_bytes(std::span(*input_));
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      std::error_code error;
      const std::size_t got = file_->read(at_, buffer.subspan(filled), error);
      if (error && error != std::errc::interrupted)
        throw IoError(path_ + ": cannot be read: " + error.message() + "; check the disk");
      if (got == 0 && !error) break;
      filled += got;
      at_ += got;
    }
    stream_.next_in = input_->data();
    stream_.avail_in = static_cast<uInt>(filled);
  }

  void start_inflate() {
    constexpr int gzip_with_largest_window = 15 + 16;
    if (inflateInit2(&stream_, gzip_with_largest_window) != Z_OK) throw std::bad_alloc();
  }

  std::size_t copy_some(std::span<std::uint8_t> out) {
    if (stream_.avail_in == 0) refill();
    const std::size_t count = std::min<std::size_t>(out.size(), stream_.avail_in);
    std::copy_n(stream_.next_in, count, out.data());
    stream_.next_in += count;
    stream_.avail_in -= static_cast<uInt>(count);
    return count;
  }

  // Returns 0 only at the end of the last member, after inflate() has verified its checksum.
  std::size_t inflate_some(std::span<std::uint8_t> out) {
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<uInt>(out.size());
    while (!ended_ && stream_.avail_out == out.size()) {
      if (stream_.avail_in == 0) refill();
      check(inflate(&stream_, Z_NO_FLUSH));
    }
    return out.size() - stream_.avail_out;
  }

  void check(int status) {
    if (status == Z_STREAM_END) return next_member();
    if (status == Z_BUF_ERROR) fail("the gzip data is truncated: the file ends in the middle of it");
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK)
      fail(std::string("the gzip data is corrupt (") + (stream_.msg ? stream_.msg : "no preset") + ")");
  }

  void next_member() {
    if (stream_.avail_in == 0) refill();
    ended_ = stream_.avail_in == 0;
    if (ended_) return;
    if (*stream_.next_in != 0x1f) fail("there is trailing garbage after the gzip data");
    inflateReset(&stream_);
  }

  std::string path_;
  std::uint64_t left_;
  std::unique_ptr<RandomAccessFile> file_;
  std::uint64_t at_ = 0;  // position in the file
  std::unique_ptr<Buffer> input_;
  z_stream stream_{};  // contains a pointer to itself: this class is not movable
  bool gzipped_ = false;
  bool ended_ = false;
};

}  // namespace crochet::io
