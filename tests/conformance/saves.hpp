// SPDX-License-Identifier: Apache-2.0
// Shared by the scenarios of CheckpointSaver.
#pragma once

#include <crochet/checkpoint/saver.hpp>

#include <cstdint>
#include <vector>

#include "folder.hpp"

namespace crochet::conformance {

using Steps = std::vector<std::int64_t>;

inline Saver<> keeping_all(const Folder& folder) { return Saver<>{folder.path(), {.max_to_keep = 0}}; }

/// The steps of the checkpoints in a folder.
inline Steps saved_in(const Folder& folder) {
  Steps steps;
  for (const auto& prefix : keeping_all(folder).last_checkpoints()) {
    steps.push_back(detail::step_of(prefix, "model.ckpt"));
  }
  return steps;
}

}  // namespace crochet::conformance
