// SPDX-License-Identifier: Apache-2.0
// expect-error: watch_is_usable<
// expect-error: the_pattern_is_malformed<.*parenthesis_is_not_closed.*
// A watch with a malformed pattern.
#include <crochet/crochet.hpp>
#include <crochet/debug/watch/watch.hpp>

#ifdef CROCHET_FIXED
using Dense = crochet::debug::Watch<"(dense|conv).*">;
#else
using Dense = crochet::debug::Watch<"(dense|conv.*">;
#endif

template <class W>
struct Probe {
  using watches = W;
  static constexpr bool sees_kernel = W::matches("dense/kernel", "VariableV2", "float32");
};
constexpr bool first = Probe<Dense>::sees_kernel;
constexpr bool second = Dense::matches("conv/kernel", "VariableV2", "float32");
