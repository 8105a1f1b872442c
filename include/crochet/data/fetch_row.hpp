// SPDX-License-Identifier: Apache-2.0
// fetch_row: starts the loads of a row that is used soon. The rows of a shuffled batch lie anywhere in memory.
#pragma once

#include <cstddef>

#include <crochet/base/config.hpp>

namespace crochet::detail {

/// How many rows before its use a row is fetched.
inline constexpr int rows_ahead = 4;

/// Requests the cache lines of `count` elements. Cost: an instruction for each 64 bytes; no effect on results.
template <class T>
void fetch_row(const T* row, std::size_t count) {
#if defined(__GNUC__)
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < count * sizeof(T); at += line)
    __builtin_prefetch(reinterpret_cast<const char*>(row) + at);
#else
  (void)row, (void)count;
#endif
}

}  // namespace crochet::detail
