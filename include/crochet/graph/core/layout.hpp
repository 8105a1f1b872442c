// SPDX-License-Identifier: Apache-2.0
// How a tensor's elements lie in memory.
#pragma once
#include <cstdint>

namespace crochet {

/// Row by row, or, for weights, in panels of some columns each, as products read them (kernels/panels.hpp). Hooks,
/// feeds and checkpoints see row-major order always.
enum class Layout : std::uint8_t { row_major, panels };

}  // namespace crochet
