// SPDX-License-Identifier: Apache-2.0
// The view of windows, which overlap.
// expect-error: windows have no view, their rows are not contiguous
#include <crochet/crochet.hpp>
#include <crochet/data/sequence.hpp>

#include <cstdint>
#include <vector>

namespace cr = crochet;

std::int32_t first() {
  const auto windows = cr::Sequence{std::vector<std::int32_t>(8)}.windows<"tokens">({.length = 4});
#ifdef CROCHET_FIXED
  return windows.array<"tokens">().row(0)[0];
#else
  (void)windows.view<"tokens">();
  return 0;
#endif
}
