// SPDX-License-Identifier: Apache-2.0
// Whether a hook has a phase, as its author wrote it: no session and no executor is needed to find out.
#pragma once

#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet::detail {

/// Does H have a member for the phase? Asked of the hook inside a decorator too, whose own members may be conditional.
template <class H, class P>
constexpr bool has_phase() {
  if constexpr (Decorates<H>) {
    return has_phase<typename H::decorates, P>();
  } else if constexpr (CanBeProbed<H>) {
    return mentions<H, P>;
  } else if constexpr (ListsPhases<H>) {
    return is_listed<P, typename H::handles>;
  } else {
    return false;
  }
}

}  // namespace crochet::detail
