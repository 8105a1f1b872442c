// SPDX-License-Identifier: Apache-2.0
// Reads a file that may be gzipped, byte by byte the same as if it were not. Unlike zlib's gzread() it reports every
// way in which such a file can be broken: cut short, bad checksum, bytes behind the end, more data than allowed.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <crochet/error.hpp>

namespace crochet::io {

/// A regular file opened for reading, unpacked on the fly if it starts like a gzip file (any number of members).
///
/// Every error is thrown as one sentence that names the file, the cause and the cure: IoError when the system refuses
/// to open or read it, DataError when its content is broken. Not for use from several threads at once. Reads ahead by
/// 64 KiB; allocates only on construction.
class GzipFile {
 public:
  /// Opens `path`; no more than `max_bytes` unpacked bytes will be handed out (a small file may unpack to terabytes).
  GzipFile(const std::filesystem::path& path, std::uint64_t max_bytes)
      : path_(path.string()), left_(max_bytes), file_(open(path)), input_(std::make_unique<Buffer>()) {
    file_bytes_ = std::filesystem::file_size(path);
    refill();
    gzipped_ = stream_.avail_in >= 2 && (*input_)[0] == 0x1f && (*input_)[1] == 0x8b;
    if (gzipped_) start_inflate();
  }

  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile() {
    if (gzipped_) inflateEnd(&stream_);
  }

  /// Fills `out` and returns its size, or less at the end of the data. A gzip file only counts as ended once its
  /// checksum has been verified. Throws DataError for broken content or when the limit is exceeded, IoError when the
  /// system cannot read.
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

  /// Upper bound of what the whole file can unpack to, known before reading it: deflate's best ratio is 1032 to 1.
  /// Saturates. A size found inside the file that is larger than this is a lie.
  [[nodiscard]] std::uint64_t max_unpacked_bytes() const {
    constexpr std::uint64_t best_ratio = 1032;
    if (!gzipped_) return file_bytes_;
    return file_bytes_ > UINT64_MAX / best_ratio ? UINT64_MAX : file_bytes_ * best_ratio;
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Throws DataError: "<file>: <cause>; <cure>".
  [[noreturn]] void fail(std::string_view cause, std::string_view cure = "copy or download the file again") const {
    throw DataError(path_ + ": " + std::string(cause) + "; " + std::string(cure));
  }

 private:
  using Buffer = std::array<Bytef, std::size_t{1} << 16>;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  static constexpr std::size_t largest_piece = std::size_t{1} << 30;  // zlib counts in 32 bits

  static File open(const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found)
      throw IoError(path.string() + ": there is no such file; check the path");
    if (error) throw IoError(path.string() + ": cannot be opened: " + error.message() + "; check its permissions");
    // A pipe would block and a directory would open: both are refused before the system sees them.
    if (!std::filesystem::is_regular_file(status)) throw IoError(path.string() + ": not a regular file; name a file");
    File file(std::fopen(path.string().c_str(), "rb"));
    if (!file) throw IoError(path.string() + ": cannot be opened: " + reason(errno) + "; check its permissions");
    return file;
  }

  static std::string reason(int code) { return std::generic_category().message(code); }

  void refill() {
    stream_.next_in = input_->data();
    stream_.avail_in = static_cast<uInt>(std::fread(input_->data(), 1, input_->size(), file_.get()));
    if (stream_.avail_in == 0 && std::ferror(file_.get()) != 0)
      throw IoError(path_ + ": cannot be read: " + reason(errno) + "; check the disk");
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

  // Returns 0 only at the end of the last member, whose checksum inflate() has then compared.
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
  std::uint64_t file_bytes_ = 0;
  File file_;
  std::unique_ptr<Buffer> input_;
  z_stream stream_{};  // holds a pointer to itself: this class cannot move
  bool gzipped_ = false;
  bool ended_ = false;
};

}  // namespace crochet::io
