// SPDX-License-Identifier: Apache-2.0
// Reads a file of TFRecords (tfrecord.hpp), of any size, record by record.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/little_endian.hpp>
#include <crochet/io/tfrecord.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>

namespace crochet::io {

namespace detail {

/// Reads a file from front to back with few calls of the system. Memory: 64 KiB.
class ReadAhead {
 public:
  explicit ReadAhead(InputFile file) : file_(std::move(file)), buffer_(std::size_t{1} << 16) {}

  /// As InputFile::read_some.
  std::size_t read_some(std::uint64_t offset, std::span<std::byte> to) {
    std::size_t done = copy(offset, to);
    if (done < to.size() && to.size() - done >= buffer_.size()) {
      return done + file_.read_some(offset + done, to.subspan(done));
    }
    if (done < to.size()) {
      begin_ = offset + done;
      filled_ = file_.read_some(begin_, buffer_);
      done += copy(begin_, to.subspan(done));
    }
    return done;
  }
  [[nodiscard]] const InputFile& file() const { return file_; }

 private:
  std::size_t copy(std::uint64_t offset, std::span<std::byte> to) const {
    if (offset < begin_ || offset - begin_ >= filled_) return 0;
    const auto at = static_cast<std::size_t>(offset - begin_);
    const std::size_t size = std::min(to.size(), filled_ - at);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(at), size, to.begin());
    return size;
  }

  InputFile file_;
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0;  // of what the buffer holds
  std::size_t filled_ = 0;
};

}  // namespace detail

/// The records of a file. It may be written meanwhile: what is not there yet is found by a later call. Memory: 64 KiB,
/// and twice the largest record; a length that the file does not have takes no more than what the file has.
class RecordFile {
 public:
  /// Throws IoError.
  explicit RecordFile(const std::filesystem::path& path, FileSystem& files = local_files())
      : in_(InputFile{path, files}) {}

  /// Reads the next record. False where the file ends, or ends within a record: at_end() says which. Throws
  /// DataLossError, without the name of the file, for a wrong checksum or a record of 2 GiB; the position stays.
  bool next() {
    std::array<std::byte, detail::record_head> head{};
    const std::size_t got = in_.read_some(at_, head);
    at_end_ = got == 0;
    if (got < head.size()) return false;
    const std::string_view bytes{reinterpret_cast<const char*>(head.data()), head.size()};
    const auto length = detail::little_endian<std::uint64_t>(bytes);
    if (detail::little_endian<std::uint32_t>(bytes.substr(8)) != detail::masked_crc_of(bytes.substr(0, 8))) {
      throw DataLossError("the checksum of its length is wrong");
    }
    if (length > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
      throw DataLossError("it is longer than a message can be");
    }
    if (!read_body(static_cast<std::size_t>(length) + detail::record_foot)) return false;
    const std::string_view foot = std::string_view{body_}.substr(static_cast<std::size_t>(length));
    if (detail::little_endian<std::uint32_t>(foot) !=
        detail::masked_crc_of(std::string_view{body_}.substr(0, length))) {
      throw DataLossError("its checksum is wrong");
    }
    size_ = static_cast<std::size_t>(length);
    at_ += detail::record_head + body_.size();
    return true;
  }

  /// Of the record that next() read; valid until it is called again.
  [[nodiscard]] std::string_view payload() const { return std::string_view{body_}.substr(0, size_); }
  /// Where the next record begins.
  [[nodiscard]] std::uint64_t position() const { return at_; }
  /// Did the last next() find nothing at all?
  [[nodiscard]] bool at_end() const { return at_end_; }
  [[nodiscard]] const std::filesystem::path& path() const { return in_.file().path(); }

 private:
  /// Payload and checksum. Takes memory as the bytes come, since the length may be a lie.
  bool read_body(std::size_t wanted) {
    constexpr std::size_t first = std::size_t{1} << 16;
    body_.resize(std::min(wanted, std::max(first, body_.size())));
    for (std::size_t filled = 0;;) {
      const auto rest = std::as_writable_bytes(std::span{body_}).subspan(filled);
      filled += in_.read_some(at_ + detail::record_head + filled, rest);
      if (filled < body_.size()) return false;
      if (filled == wanted) return true;
      body_.resize(std::min(wanted, 2 * body_.size()));
    }
  }

  detail::ReadAhead in_;
  std::string body_{};
  std::size_t size_ = 0;
  std::uint64_t at_ = 0;
  bool at_end_ = false;
};

}  // namespace crochet::io
