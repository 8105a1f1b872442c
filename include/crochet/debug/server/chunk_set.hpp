// SPDX-License-Identifier: Apache-2.0
// The chunks of one tensor or graph, until all are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/server/byte_budget.hpp>

namespace crochet::debug::detail {

/// Pieces by their index, in any order. Takes memory for what has come, not for what was announced; all of it from a
/// budget.
template <class Piece>
class ChunkSet {
 public:
  /// `count`: more than 0. The budget must outlive the set.
  ChunkSet(std::size_t count, ByteBudget& budget) : count_(count), taken_(budget) {}

  /// `bytes`: the memory of the piece. False if the budget has no room for it. Throws DataLossError if the index was
  /// there before.
  [[nodiscard]] bool add(std::size_t index, Piece piece, std::uint64_t bytes) {
    if (pieces_.contains(index)) stream_is_wrong("chunk " + std::to_string(index) + " comes twice");
    if (!taken_.take(bytes + overhead)) return false;
    pieces_.emplace(index, std::move(piece));
    bytes_ += bytes;
    return true;
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }          ///< of the pieces that are there
  [[nodiscard]] std::uint64_t taken() const { return taken_.bytes(); }  ///< from the budget
  /// One of the pieces; there has to be one.
  [[nodiscard]] const Piece& any() const { return pieces_.begin()->second; }
  [[nodiscard]] bool complete() const { return pieces_.size() == count_; }

  /// Gives the pieces to `take` in the order of their indices; each is gone before the next is given.
  template <class Take>
  void hand_over(Take take) {
    while (!pieces_.empty()) take(std::move(pieces_.extract(pieces_.begin()).mapped()));
  }

  /// What keeping one piece costs besides its bytes, about.
  static constexpr std::uint64_t overhead = 96;

 private:
  std::size_t count_;
  std::map<std::size_t, Piece> pieces_;
  std::uint64_t bytes_ = 0;
  BytesTaken taken_;
};

}  // namespace crochet::debug::detail
