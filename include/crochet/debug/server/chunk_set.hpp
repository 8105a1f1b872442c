// SPDX-License-Identifier: Apache-2.0
// ChunkSet: the chunks of one tensor or graph, until they are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/server/byte_budget.hpp>

namespace crochet::debug::detail {

/// Chunks by index, in any order. Memory grows with the received chunks, not with the announced count, and is reserved
/// in a budget.
template <class Piece>
class ChunkSet {
 public:
  /// `count`: greater than 0. The budget must outlive the set.
  ChunkSet(std::size_t count, ByteBudget& budget) : count_(count), taken_(budget) {}

  /// Adds a piece that needs `bytes` of memory. Returns false if the budget has fewer left. Throws DataLossError for a
  /// duplicate index.
  [[nodiscard]] bool add(std::size_t index, Piece piece, std::uint64_t bytes) {
    if (pieces_.contains(index)) stream_is_wrong("chunk " + std::to_string(index) + " comes twice");
    if (!taken_.take(bytes + overhead)) return false;
    pieces_.emplace(index, std::move(piece));
    bytes_ += bytes;
    return true;
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }          ///< payload of the received pieces
  [[nodiscard]] std::uint64_t taken() const { return taken_.bytes(); }  ///< reserved in the budget
  /// Any piece. Precondition: the set is not empty.
  [[nodiscard]] const Piece& any() const { return pieces_.begin()->second; }
  [[nodiscard]] bool complete() const { return pieces_.size() == count_; }

  /// Calls `take` with each piece in the order of the indices, and releases each before the next.
  template <class Take>
  void hand_over(Take take) {
    while (!pieces_.empty()) take(std::move(pieces_.extract(pieces_.begin()).mapped()));
  }

  /// The approximate memory of one piece besides its bytes.
  static constexpr std::uint64_t overhead = 96;

 private:
  std::size_t count_;
  std::map<std::size_t, Piece> pieces_;
  std::uint64_t bytes_ = 0;
  BytesTaken taken_;
};

}  // namespace crochet::debug::detail
