// SPDX-License-Identifier: Apache-2.0
// Splits a tensor of strings into messages, between its elements.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/debug/event/graph_event.hpp>

namespace crochet::debug {

/// Maximum bytes before an element on the wire: its tag and its length.
inline constexpr std::size_t string_frame = 6;

/// The strings of each message, in order: as many as fit into `chunk_bytes` with their frames; one message without
/// strings if there are none. (TensorFlow does not count the frames, so that its messages of many short strings exceed
/// a server's default limit.) Throws LogicError for a string that exceeds a message, because a string cannot be split.
/// `key` names the tensor in the error.
inline std::vector<std::span<const std::string>> string_chunks(std::span<const std::string> all, std::string_view key) {
  std::vector<std::span<const std::string>> chunks;
  std::size_t begin = 0, bytes = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t size = all[i].size() + string_frame;
    if (all[i].size() > chunk_bytes) {
      throw LogicError("crochet: element " + std::to_string(i) + " of " + std::string(key) + " is a string of " +
                       std::to_string(all[i].size()) + " bytes, and a message takes " + std::to_string(chunk_bytes));
    }
    if (i > begin && bytes + size > chunk_bytes) {
      chunks.push_back(all.subspan(begin, i - begin));
      begin = i, bytes = 0;
    }
    bytes += size;
  }
  chunks.push_back(all.subspan(begin));
  return chunks;
}

}  // namespace crochet::debug
