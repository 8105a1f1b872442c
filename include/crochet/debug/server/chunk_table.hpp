// SPDX-License-Identifier: Apache-2.0
// ChunkTable: the incomplete tensors, or the incomplete graphs, of a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/server/byte_budget.hpp>
#include <crochet/debug/server/chunk_set.hpp>
#include <crochet/debug/server/stream_limits.hpp>

namespace crochet::debug::detail {

/// The incomplete tensors and graphs of one stream.
struct Pending {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
};

/// Chunk sets by key. The limits, the budget and `pending` must outlive it.
template <class Piece>
class ChunkTable {
 public:
  ChunkTable(const StreamLimits& limits, ByteBudget& shared, Pending& pending)
      : limits_(limits), shared_(shared), pending_(pending) {}

  /// A received piece of `key`; null if there is none.
  [[nodiscard]] const Piece* any_of(const std::string& key) const {
    const auto found = sets_.find(key);
    return found == sets_.end() ? nullptr : &found->second.any();
  }

  /// Adds piece `index` of `count`, which needs `bytes` of memory; `most` limits the sum over all pieces, `what` names
  /// that limit. Returns the set if this was its last piece. Throws DataLossError for contradictory pieces and
  /// ResourceExhaustedError above a limit.
  std::optional<ChunkSet<Piece>> add(const std::string& key, std::size_t index, std::size_t count, Piece piece,
                                     std::uint64_t bytes, std::uint64_t most, const char* what) {
    const auto at = place_of(key, count);
    ChunkSet<Piece>& set = at->second;
    if (set.count() != count) {
      stream_is_wrong("chunks of one thing say that there are " + std::to_string(set.count()) + " of them, and " +
                      std::to_string(count));
    }
    const std::uint64_t before = set.taken();
    if (!set.add(index, std::move(piece), bytes)) {
      stream_is_over_limit("bytes of incomplete tensors, with all other streams", shared_.total());
    }
    pending_.bytes += set.taken() - before;
    require_at_most(pending_.bytes, limits_.pending_bytes, "bytes of incomplete tensors");
    require_at_most(set.bytes(), most, what);
    if (!set.complete()) return std::nullopt;
    --pending_.count;
    pending_.bytes -= set.taken();
    return std::move(sets_.extract(at).mapped());
  }

 private:
  using Sets = std::map<std::string, ChunkSet<Piece>>;

  typename Sets::iterator place_of(const std::string& key, std::size_t count) {
    const auto found = sets_.find(key);
    if (found != sets_.end()) return found;
    require_at_most(pending_.count + 1, limits_.pending_tensors, "incomplete tensors and graphs");
    ++pending_.count;
    return sets_.try_emplace(key, count, shared_).first;
  }

  const StreamLimits& limits_;
  ByteBudget& shared_;
  Pending& pending_;
  Sets sets_;
};

}  // namespace crochet::debug::detail
