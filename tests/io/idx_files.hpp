// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of readers: the bytes of gzip and idx files.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

namespace crochet::test {

inline Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline Bytes first(std::size_t count, const Bytes& bytes) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// One gzip member that unpacks to `bytes`.
inline Bytes gzipped(const Bytes& bytes) {
  z_stream stream{};
  constexpr int gzip_with_largest_window = 15 + 16;
  if (deflateInit2(&stream, 9, Z_DEFLATED, gzip_with_largest_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  Bytes packed(deflateBound(&stream, static_cast<uLong>(bytes.size())));
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  const std::size_t size = packed.size() - stream.avail_out;
  deflateEnd(&stream);
  return first(size, packed);
}

inline Bytes idx_header(std::uint8_t type_code, std::initializer_list<std::uint32_t> extents) {
  Bytes header{0, 0, type_code, static_cast<std::uint8_t>(extents.size())};
  for (const std::uint32_t extent : extents)
    for (const int shift : {24, 16, 8, 0}) header.push_back(static_cast<std::uint8_t>(extent >> shift));
  return header;
}

/// The idx file of a uint8 array.
inline Bytes idx_bytes(std::initializer_list<std::uint32_t> extents, const Bytes& data) {
  return joined({idx_header(0x08, extents), data});
}

/// 0, 1, 2 ... 255, 0, 1 ...
inline Bytes counting(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  return bytes;
}

/// Calls `action` and returns the message of the exception, which must be an Exception; "" if none is thrown.
template <class Exception, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return {};
}

/// Checks that the message contains all these parts.
inline void expect_says(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << '"' << message << "\" lacks \"" << part << '"';
}

}  // namespace crochet::test
