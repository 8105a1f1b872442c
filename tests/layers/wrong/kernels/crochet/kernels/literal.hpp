#pragma once

namespace crochet::simd::CROCHET_ISA {
inline constexpr int width = 8;
}  // namespace crochet::simd::CROCHET_ISA
