#pragma once

namespace crochet::kernel {
inline constexpr int width = 8;
}  // namespace crochet::kernel
