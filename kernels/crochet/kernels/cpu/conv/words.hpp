// SPDX-License-Identifier: Apache-2.0
// What the tiles of convolutions read: the numbers of the images and filters (Word = T), or of floats pairs of bfloat16
// (Word = Bfloat16Pair), or four integers (Word = Int8Quad). In an image a word begins at each number.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/tiles/bfloat16.hpp>
#include <crochet/kernels/cpu/tiles/int8.hpp>
#include <type_traits>

namespace crochet::kernel::CROCHET_ISA {

/// The words of convolutions of T with a product policy, which has the constant `rounds_to_bfloat16` or
/// `rounds_to_int8` if it does so.
template <class Backend, class T>
struct word_for {
  using type = T;
};
template <class Backend>
requires(Backend::rounds_to_bfloat16) struct word_for<Backend, float> {
  using type = Bfloat16Pair;
};
template <class Backend>
requires(Backend::rounds_to_int8) struct word_for<Backend, float> {
  using type = Int8Quad;
};
template <class Backend, class T>
using word_t = typename word_for<Backend, T>::type;
/// Those of gradients of filters, which are not rounded to integers.
template <class Word, class T>
using gradient_word_t = std::conditional_t<std::is_same_v<Word, Int8Quad>, T, Word>;

namespace detail {
template <class Word>
using sum_of = std::conditional_t<std::is_same_v<Word, Bfloat16Pair>, float, Word>;

template <class V>
CROCHET_ALWAYS_INLINE void add_product(V& c, const V& x, const V& y) {
  c += x * y;
}
CROCHET_ALWAYS_INLINE void add_product(native<float>& c, const native<Bfloat16Pair>& x, const native<Bfloat16Pair>& y) {
  add_pair(c, x, y);
}
CROCHET_ALWAYS_INLINE void add_product(Quads& c, const Quads& x, const Quads& y) { add_quad(c, x, y); }
inline constexpr Bfloat16Pair first_of_pair = 0xffff;
}  // namespace detail

/// The numbers in a word.
template <class Word>
inline constexpr std::int64_t numbers_in = std::is_same_v<Word, Bfloat16Pair> ? 2
                                           : std::is_same_v<Word, Int8Quad>   ? 4
                                                                              : 1;

/// The words of a run of n neighbours, the last of which may be used in part.
template <class Word>
constexpr std::int64_t words_in(std::int64_t n) {
  return (n + numbers_in<Word> - 1) / numbers_in<Word>;
}
/// Whether the last word of such a run is half a pair. Of four integers unused ones need no care: the filter's are 0.
template <class Word>
constexpr bool ends_in_half(std::int64_t n) {
  return std::is_same_v<Word, Bfloat16Pair> && n % 2 != 0;
}

/// Numbers of memory that begins a cache line.
constexpr std::int64_t whole_lines(std::int64_t numbers) { return (numbers + 15) / 16 * 16; }

/// The words of n numbers: word i has numbers i and i + apart. `room` is for n words, unless Word = T.
template <class T>
const T* to_words(const T* from, std::int64_t, std::int64_t, T*) {
  return from;
}
inline const Bfloat16Pair* to_words(const float* from, std::int64_t n, std::int64_t apart, Bfloat16Pair* room) {
  const std::int64_t both = n > apart ? n - apart : 0;
  if (both > 0) round_lines(from, from + apart, both, room);
  round_lines(from + both, nullptr, n - both, room + both);
  return room;
}
namespace detail {
/// The words of one register of numbers and the three behind it, rounded to integers plus 128.
CROCHET_ALWAYS_INLINE Quads quads_at(const float* from, float inverse) {
  Quads q[4];
  native<float> x;
  CROCHET_UNROLL
  for (int k = 0; k < 4; ++k) {
    __builtin_memcpy(&x, from + k, sizeof x);
    q[k] = round_to_int8(x, inverse);
  }
  // A byte's highest bit inverted is the byte plus 128.
  return join_four(q[0], q[1], q[2], q[3]) ^ static_cast<Int8Quad>(0x80808080U);
}
}  // namespace detail

/// The words of n numbers, rounded to integers plus 128: word i has numbers i to i + 3.
inline const Int8Quad* to_quads(const float* from, std::int64_t n, float inverse, Int8Quad* room) {
  constexpr std::int64_t step = native_lanes<float>, read = step + 3;
  std::int64_t i = 0;
  for (; i + read <= n; i += step) {
    const detail::Quads words = detail::quads_at(from + i, inverse);
    __builtin_memcpy(room + i, &words, sizeof words);
  }
  for (; i < n; i += step) {
    float rest[read] = {};
    const std::int64_t left = n - i;
    __builtin_memcpy(rest, from + i, static_cast<std::size_t>(left < read ? left : read) * sizeof *from);
    const detail::Quads words = detail::quads_at(rest, inverse);
    __builtin_memcpy(room + i, &words, static_cast<std::size_t>(left < step ? left : step) * sizeof *room);
  }
  return room;
}

}  // namespace crochet::kernel::CROCHET_ISA
