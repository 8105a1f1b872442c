// SPDX-License-Identifier: Apache-2.0
// Whether a hook's class has a member for a phase. Requires no session and no executor.
#pragma once

#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet::detail {

/// Whether H has a member for the phase. Tests the hook inside a decorator too, since the decorator's own members may
/// be conditional.
template <class H, class P>
constexpr bool has_phase() {
  if constexpr (Decorates<H>) {
    return has_phase<typename H::decorates, P>();
  } else if constexpr (Inheritable<H>) {
    return mentions<H, P>;
  } else if constexpr (ListsPhases<H>) {
    return is_listed<P, typename H::handles>;
  } else {
    return false;
  }
}

}  // namespace crochet::detail
