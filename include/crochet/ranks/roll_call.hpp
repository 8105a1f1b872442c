// SPDX-License-Identifier: Apache-2.0
// RollCall: the small exchange before every larger one, in which each rank states what it is about to do. A rank that
// does something else instead (it stops, has failed, has lost its session) states that in the same place. So no rank
// waits for one that is not coming.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crochet/ranks/communicator.hpp>

namespace crochet {

/// What a rank does next.
enum class RankState : std::uint64_t {
  comes,        ///< what `kind` says
  leaves,       ///< its loop is over, after a success; it then ends its session
  preempted,    ///< it has lost its session and creates a new one, together with the others
  failed,       ///< it ends its session with an error
  moves_parts,  ///< it reads or writes a variable that is divided over the ranks, of which `bits` is the number; all
                ///< take part, and then repeat their statements
};

/// One rank's statement. 32 bytes.
struct Presence {
  std::uint64_t kind = 0;  ///< a hash of what the rank is about to do
  std::int64_t rows = 0;   ///< the rows of the batch that it has
  RankState state = RankState::comes;
  std::uint64_t bits = 0;  ///< for the caller
};

/// The statements of all ranks. Allocates when it is made.
class RollCall {
 public:
  explicit RollCall(int size) : all_(static_cast<std::size_t>(size)) {}

  /// Collective. Returns the statements of all ranks, in their order, valid until the next call.
  template <Communicator C>
  std::span<const Presence> hold(C& communicator, const Presence& mine) {
    communicator.all_gather(std::as_bytes(std::span{&mine, 1}), std::as_writable_bytes(std::span{all_}));
    return all_;
  }

 private:
  std::vector<Presence> all_;
};

/// The lowest rank in this state; -1 if there is none.
[[nodiscard]] inline int first_in(std::span<const Presence> all, RankState state) {
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].state == state) return static_cast<int>(r);
  }
  return -1;
}
/// The lowest rank that is about to do something else than rank 0; -1 if all do the same.
[[nodiscard]] inline int first_other(std::span<const Presence> all) {
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r].kind != all[0].kind) return static_cast<int>(r);
  }
  return -1;
}

}  // namespace crochet
