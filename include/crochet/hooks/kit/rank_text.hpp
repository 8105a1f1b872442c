// SPDX-License-Identifier: Apache-2.0
// How a line states the rank that it is about.
#pragma once

#include <string>

namespace crochet::detail {

/// "rank 2: " for rank 2 of several; nothing in a session on one machine.
inline std::string rank_text(int rank, int size) { return size > 1 ? "rank " + std::to_string(rank) + ": " : ""; }

}  // namespace crochet::detail
