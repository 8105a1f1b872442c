// SPDX-License-Identifier: Apache-2.0
// Rows of data sets that live on the device, copied to where runs read them.
#pragma once
#include <cstdint>

#include <crochet/kernels/cuda/block.hpp>

namespace crochet::cuda {

/// The rows of one feed: row i of `to` is row indices[i] of `from`. Addresses are multiples of 16.
struct RowGather {
  const unsigned char* from = nullptr;
  const std::int32_t* indices = nullptr;
  unsigned char* to = nullptr;
  std::int64_t row_bytes = 0;
  std::int32_t rows = 0;
};

namespace detail {

/// What one thread copies at once.
template <int Bytes>
struct alignas(Bytes) Word {
  unsigned char bytes[Bytes];
};

template <int Bytes, class Block>
CROCHET_DEVICE_INLINE void gather_words(const Block& block, int first, const RowGather& g) {
  const auto words = static_cast<int>(g.row_bytes / Bytes);
  auto* const to = reinterpret_cast<Word<Bytes>*>(g.to);
  each_element(block, first, g.rows * words, [&](int i) {
    const unsigned char* const row = g.from + g.indices[i / words] * g.row_bytes;
    to[i] = reinterpret_cast<const Word<Bytes>*>(row)[i % words];
  });
}

}  // namespace detail

/// Copies the rows of `count` feeds, in every thread of a grid.
template <class Block>
CROCHET_DEVICE void gather_rows(const Block& block, const RowGather* all, int count) {
  CROCHET_DEVICE_UNROLL(1)
  for (int k = 0; k < count; ++k) {
    const RowGather g = all[k];
    const int first = k % block.blocks();
    if (g.rows == 0 || g.row_bytes == 0) continue;
    if (g.row_bytes % 16 == 0) {
      detail::gather_words<16>(block, first, g);
    } else if (g.row_bytes % 8 == 0) {
      detail::gather_words<8>(block, first, g);
    } else if (g.row_bytes % 4 == 0) {
      detail::gather_words<4>(block, first, g);
    } else {
      detail::gather_words<1>(block, first, g);
    }
  }
}

}  // namespace crochet::cuda
