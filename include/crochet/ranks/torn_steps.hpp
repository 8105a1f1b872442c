// SPDX-License-Identifier: Apache-2.0
// Step functions may throw on one rank in a step that others have made. These functions find that in a roll call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/ranks/roll_call.hpp>

namespace crochet::detail {

/// `all`: with a number of steps in place of the rows. The lowest rank with another number than rank 0; 0 if there is
/// none.
[[nodiscard]] inline std::size_t first_at_other_step(std::span<const Presence> all) {
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r].rows != all[0].rows) return r;
  }
  return 0;
}
/// Whether a rank leaves from within a step.
[[nodiscard]] inline bool leaves_in_a_step(std::span<const Presence> all) {
  return std::any_of(all.begin(), all.end(),
                     [](const Presence& p) { return p.state == RankState::leaves && p.bits != 0; });
}

[[noreturn]] CROCHET_COLD inline void refuse_torn_step() {
  throw FailedPreconditionError(
      "crochet: the step function has thrown on some ranks in a step that others have made; throw in the same step on "
      "all ranks, or set an output that StopWhen reads in place of StopIteration");
}
inline void require_one_step(std::span<const Presence> all) {
  if (first_at_other_step(all) > 0) refuse_torn_step();
}
/// The same for ranks that begin anew and whose states differ.
inline void require_one_first_step(std::span<const Presence> all) {
  const std::size_t r = first_at_other_step(all);
  if (r == 0) return;
  throw FailedPreconditionError(message(
      {"crochet: ranks 0 and ", static_cast<std::int64_t>(r), " have lost their session at steps ", all[0].rows,
       " and ", all[r].rows, ", and their states differ; give the session a creator that restores a checkpoint"}));
}
[[noreturn]] CROCHET_COLD inline void refuse_parts() {
  throw LogicError(
      "crochet: a variable that is divided over the ranks is read outside a session of all ranks; save it in a hook, "
      "in "
      "`end` at the latest, or read your own object");
}

}  // namespace crochet::detail
