// SPDX-License-Identifier: Apache-2.0
// Parts of readers of array files (.idx, .npy): the size that a header claims is compared with limit and file before
// memory is allocated.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/data/gzip.hpp>

namespace crochet::detail {

[[noreturn]] CROCHET_COLD inline void array_is_truncated(const io::GzipFile& file, const char* what,
                                                         std::uint64_t wanted, std::uint64_t got) {
  file.fail("truncated: the " + std::string(what) + " should have " + std::to_string(wanted) +
            " bytes, the file ends after " + std::to_string(got));
}

/// Reads exactly `out.size()` bytes, or throws with the name of the missing part.
CROCHET_COLD inline void read_array_part(io::GzipFile& file, std::span<std::uint8_t> out, const char* what) {
  const std::size_t got = file.read(out);
  if (got != out.size()) array_is_truncated(file, what, out.size(), got);
}

/// The size of the data in bytes. Called before any allocation. Cannot overflow: each step stays below the limit.
/// `limit_name`: the option that has the limit.
template <std::size_t Rank>
std::uint64_t array_bytes(const io::GzipFile& file, const std::array<std::int64_t, Rank>& shape, std::uint64_t element,
                          std::uint64_t limit, const char* limit_name) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = element;
  for (const std::int64_t extent : shape) {
    if (static_cast<std::uint64_t>(extent) > limit / bytes)
      file.fail("its dimensions promise more than the limit of " + std::to_string(limit) + " bytes",
                "if the file is meant to be that large, raise " + std::string(limit_name));
    bytes *= static_cast<std::uint64_t>(extent);
  }
  if (bytes > file.max_unpacked_bytes())
    file.fail("truncated: its dimensions promise " + std::to_string(bytes) + " bytes, more than the file can hold");
  return bytes;
}

/// Reads `count` elements, and checks that nothing follows. Allocates by the available data, not by the claimed size:
/// at first 8 bytes per byte of the file, then double the size whenever the memory is full.
template <class T>
CROCHET_COLD void read_array_data(io::GzipFile& file, std::vector<T>& data, std::uint64_t count) {
  constexpr std::uint64_t usual_ratio = 8, at_least = 65536;
  const std::uint64_t first = std::min(count, usual_ratio * (file.file_bytes() / sizeof(T)) + at_least / sizeof(T));
  std::size_t got = 0;
  for (std::uint64_t room = first; got == data.size() && got < count; room = std::min(count, 2 * room)) {
    data.resize(static_cast<std::size_t>(room));
    const std::span rest = std::span(data).subspan(got);
    const std::size_t bytes = file.read({reinterpret_cast<std::uint8_t*>(rest.data()), rest.size_bytes()});
    if (bytes < rest.size_bytes()) array_is_truncated(file, "data", count * sizeof(T), got * sizeof(T) + bytes);
    got = data.size();
  }
  std::uint8_t extra = 0;
  if (file.read({&extra, 1}) != 0)
    file.fail("there is trailing garbage after the " + std::to_string(count * sizeof(T)) +
              " bytes its dimensions promise");
}

}  // namespace crochet::detail
