// SPDX-License-Identifier: Apache-2.0
// SeesAllValues: a hook whose after_run receives the values of all requests of a run, not those of its own.
#pragma once

namespace crochet {

/// A hook with `static constexpr bool sees_all_values = true`. Its after_run receives a SeenValues
/// (session/seen_values.hpp). It requests nothing for that: it adds no name to a run.
template <class H>
concept SeesAllValues = requires {
  requires H::sees_all_values;
};

}  // namespace crochet
