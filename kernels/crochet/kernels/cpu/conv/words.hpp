// SPDX-License-Identifier: Apache-2.0
// What the tiles of convolutions read: the numbers of the images and filters (Word = T), or pairs of them rounded to
// bfloat16 (Word = Bfloat16Pair, T = float).
#pragma once
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/tiles/bfloat16.hpp>
#include <type_traits>

namespace crochet::kernel {

/// The words of convolutions of T with a product policy, which has the constant `rounds_to_bfloat16` if it does so.
template <class Backend, class T>
struct word_for {
  using type = T;
};
template <class Backend>
requires(Backend::rounds_to_bfloat16) struct word_for<Backend, float> {
  using type = Bfloat16Pair;
};
template <class Backend, class T>
using word_t = typename word_for<Backend, T>::type;

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
inline constexpr Bfloat16Pair first_of_pair = 0xffff;
}  // namespace detail

/// The words of a run of n neighbours, the last of which may be half used.
template <class Word>
constexpr std::int64_t words_in(std::int64_t n) {
  return std::is_same_v<Word, Bfloat16Pair> ? pairs_in(n) : n;
}
/// The words that are wholly used.
template <class Word>
constexpr std::int64_t whole_words_in(std::int64_t n) {
  return std::is_same_v<Word, Bfloat16Pair> ? n / 2 : n;
}
/// The distance of words that share no number, if neighbours are `step` apart.
template <class Word>
constexpr std::int64_t word_step(std::int64_t step) {
  return std::is_same_v<Word, Bfloat16Pair> ? 2 * step : step;
}

/// The words of n numbers: word i has numbers i and i + apart. `room` is for n words, unless Word = T.
template <class T>
const T* to_words(const T* from, std::int64_t, std::int64_t, T*) {
  return from;
}
inline const Bfloat16Pair* to_words(const float* from, std::int64_t n, std::int64_t apart, Bfloat16Pair* room) {
  const std::int64_t both = n > apart ? n - apart : 0;
  round_lines(from, from + apart, both, room);
  round_lines(from + both, nullptr, n - both, room + both);
  return room;
}

}  // namespace crochet::kernel
