#pragma once

namespace crochet::simd::inline CROCHET_ISA {
inline constexpr int width = 8;
}  // namespace crochet::simd::inline CROCHET_ISA
