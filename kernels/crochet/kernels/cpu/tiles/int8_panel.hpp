// SPDX-License-Identifier: Apache-2.0
// The operands of a product, rounded to integers of 8 bits: rows of the left one, each with a scale of its own, and a
// panel of the right one, each of whose columns has a scale.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/tiles/amx.hpp>
#include <crochet/kernels/cpu/tiles/int8.hpp>
#include <crochet/kernels/cpu/tiles/panel.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// Rows of the left operand. Row i has the words from words[i * pitch] on, and is scales[i] times its integers.
struct Int8Rows {
  Int8Quad* words;
  float* scales;
  std::int64_t pitch;

  /// The pitch of rows: whole registers of bytes, or whole tile registers.
  static constexpr std::int64_t pitch_of(std::int64_t depth) {
    constexpr std::int64_t bytes = native_lanes<float>;
    return amx_whole(quads_in((depth + bytes - 1) / bytes * bytes));
  }
};

/// A panel of the right operand: words [words, width], and for each column its scale and the sum of its integers, times
/// -128: what the offset of left operands adds to the sums of products.
struct Int8Panel {
  Int8Quad* words;
  float* scales;
  Int8Quad* sums;

  static constexpr std::int64_t width = panel_width<float>;

  /// The room of a panel with so many words, in numbers of four bytes.
  static constexpr std::int64_t room(std::int64_t words) { return (words + 2) * width; }
  static Int8Panel in(Int8Quad* room, std::int64_t words) {
    Int8Quad* const end = room + words * width;
    return {room, reinterpret_cast<float*>(end), end + width};
  }
};

namespace detail {
/// Rounds rows of the left operand, plus 128. `line`: room for a row that is not contiguous.
[[gnu::noinline]] inline void round_rows(const Matrix<float>& a, std::int64_t depth, Range rows, const Int8Rows& to,
                                         float* line) {
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const float* from = a.at(rows.from + i, 0);
    if (a.transposed()) {
      for (std::int64_t k = 0; k < depth; ++k) line[k] = from[k * a.column];
      from = line;
    }
    const Int8Scale s = Int8Scale::of(largest_magnitude(from, depth));
    to.scales[i] = s.scale;
    round_to_bytes(from, depth, s.inverse, 128, reinterpret_cast<std::uint8_t*>(to.words + i * to.pitch));
  }
}

/// The scales of one register of columns, and the inverses.
inline native<float> scale_columns(const float* from, std::int64_t pitch, std::int64_t depth, float* scales) {
  native<float> x, inverses{};
  Quads most{};
  for (std::int64_t k = 0; k < depth; ++k) {
    __builtin_memcpy(&x, from + k * pitch, sizeof x);
    most = larger_magnitude(most, x);
  }
  for (int i = 0; i < native_lanes<float>; ++i) {
    const Int8Scale s = Int8Scale::of(most[i]);
    scales[i] = s.scale;
    inverses[i] = s.inverse;
  }
  return inverses;
}
/// Rounds up to four lines of one register of columns to words.
CROCHET_ALWAYS_INLINE Quads round_lines(const float* from, std::int64_t pitch, std::int64_t lines,
                                        const native<float>& inverses) {
  Quads q[4] = {};
  native<float> x;
  for (std::int64_t i = 0; i < 4 && i < lines; ++i) {
    __builtin_memcpy(&x, from + i * pitch, sizeof x);
    q[i] = round_to_int8(x, inverses);
  }
  return join_four(q[0], q[1], q[2], q[3]);
}
/// One register of columns of a panel: rounds `depth` lines to words, each run of `run` lines to words of its own.
inline void round_columns(const float* from, std::int64_t pitch, std::int64_t depth, std::int64_t run, float* scales,
                          Int8Quad* to) {
  const native<float> inverses = scale_columns(from, pitch, depth, scales);
  for (std::int64_t k = 0; k < depth; k += run) {
    for (std::int64_t r = 0; r < run; r += 4, to += Int8Panel::width) {
      const Quads words = round_lines(from + (k + r) * pitch, pitch, run - r, inverses);
      __builtin_memcpy(to, &words, sizeof words);
    }
  }
}

/// Rounds columns [j, j + n) of the right operand to a panel that is padded with zeros, but not its sums. `run`: see
/// round_columns. `scratch`: panel_scratch<float>(depth).
[[gnu::noinline]] inline void round_panel(const Matrix<float>& b, std::int64_t depth, std::int64_t run, std::int64_t j,
                                          std::int64_t n, const Int8Panel& to, float* scratch) {
  const std::int64_t words = run == 0 ? 0 : depth / run * quads_in(run);
  if (n < Int8Panel::width) {
    __builtin_memset(to.words, 0, static_cast<std::size_t>(words * Int8Panel::width) * sizeof *to.words);
    __builtin_memset(to.scales, 0, Int8Panel::width * sizeof *to.scales);
  }
  const Panel<float> panel = panel_of(b, depth, j, n, 1, scratch);
  for (std::int64_t u = 0; u < n; u += native_lanes<float>) {
    round_columns(panel.data + u, panel.pitch, depth, run, to.scales + u, to.words + u);
  }
}
/// The sums of the integers of a panel's columns in so many words, times -128.
inline void sum_columns(const Int8Quad* from, std::int64_t words, Int8Quad* to) {
  for (std::int64_t u = 0; u < Int8Panel::width; u += native_lanes<float>) {
    Quads sum{}, word;
    for (std::int64_t k = 0; k < words; ++k) {
      __builtin_memcpy(&word, from + k * Int8Panel::width + u, sizeof word);
      add_quad(sum, Quads{} + 0x01010101, word);
    }
    sum *= -128;
    __builtin_memcpy(to + u, &sum, sizeof sum);
  }
}
}  // namespace detail

}  // namespace crochet::kernel::CROCHET_ISA
