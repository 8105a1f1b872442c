// SPDX-License-Identifier: Apache-2.0
// The compiled half of record_file.hpp.
#pragma once

#include <crochet/io/record_file.hpp>

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

namespace crochet::io::detail {

CROCHET_INLINE std::size_t ReadAhead::read_some(std::uint64_t offset, std::span<std::byte> to) {
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

CROCHET_INLINE std::size_t ReadAhead::copy(std::uint64_t offset, std::span<std::byte> to) const {
  if (offset < begin_ || offset - begin_ >= filled_) return 0;
  const auto at = static_cast<std::size_t>(offset - begin_);
  const std::size_t size = std::min(to.size(), filled_ - at);
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(at), size, to.begin());
  return size;
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE bool RecordFile::next() {
  std::array<std::byte, detail::record_head> head{};
  const std::size_t got = in_.read_some(at_, head);
  at_end_ = got == 0;
  if (got < head.size()) return false;
  const std::string_view bytes{reinterpret_cast<const char*>(head.data()), head.size()};
  const auto length = little_endian<std::uint64_t>(bytes);
  if (little_endian<std::uint32_t>(bytes.substr(8)) != detail::masked_crc_of(bytes.substr(0, 8))) {
    throw DataLossError("the checksum of its length is wrong");
  }
  if (length > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    throw DataLossError("it is longer than a message can be");
  }
  if (!read_body(static_cast<std::size_t>(length) + detail::record_foot)) return false;
  const std::string_view foot = std::string_view{body_}.substr(static_cast<std::size_t>(length));
  if (little_endian<std::uint32_t>(foot) != detail::masked_crc_of(std::string_view{body_}.substr(0, length))) {
    throw DataLossError("its checksum is wrong");
  }
  size_ = static_cast<std::size_t>(length);
  at_ += detail::record_head + body_.size();
  return true;
}

CROCHET_INLINE bool RecordFile::read_body(std::size_t wanted) {
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

}  // namespace crochet::io
