// SPDX-License-Identifier: Apache-2.0
// The memory layout of a tensor's elements.
#pragma once
#include <cstdint>

namespace crochet {

/// Row-major or, for weights, in panels of several columns each, as products read them (kernels/panels.hpp). Hooks,
/// feeds and checkpoints always use row-major order.
enum class Layout : std::uint8_t { row_major, panels };

}  // namespace crochet
