// SPDX-License-Identifier: Apache-2.0
// Where a hook's own state goes and comes from. A checkpoint defines real ones; these say what a hook may rely on.
#pragma once

#include <string_view>

namespace crochet {

/// What save_state is given: `out.put("best", best)`. Keys are the hook's own; values are arithmetic types and
/// contiguous ranges of them, or std::string.
struct AnyStateWriter {
  template <class T>
  void put(std::string_view key, const T& value);
};

/// What load_state is given: `in.get("best", best)` leaves `best` as it is and returns false when the key is missing.
struct AnyStateReader {
  template <class T>
  bool get(std::string_view key, T& value);
};

}  // namespace crochet
