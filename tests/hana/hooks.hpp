// SPDX-License-Identifier: Apache-2.0
// Hooks for the chains of these tests.
#pragma once

#include <memory>

namespace crochet {

/// Has saved state.
struct Counts {
  void after_run(auto&, const auto&) { ++count; }
  void save_state(auto& out) const { out.put("count", count); }
  void load_state(auto& in) { in.get("count", count); }
  int count = 0;
};
/// Has no saved state.
struct Stops {
  void after_run(auto& run, const auto&) { run.request_stop("Stops"); }
  int at = 0;
};
/// Can only be moved.
struct Owns {
  void begin() {}
  std::unique_ptr<int> owned;
};

}  // namespace crochet
