// SPDX-License-Identifier: Apache-2.0
// Self-attention on heads where they lie: a block of queries at a time meets the keys, and its scores stay in the cache
// until they have become results.
#pragma once
#include <crochet/graph/ops/attention.hpp>
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/softmax.hpp>

namespace crochet {

namespace kernel::detail {

/// One worker's way through the heads of qkv [batch, length, 3 d].
template <class Backend, class T>
class Heads {
 public:
  explicit Heads(const Call& call)
      : worker_(call.worker),
        batch_(call.in[0][0]),
        length_(call.in[0][1]),
        row_(call.in[0][2]),
        heads_(call.attributes.ints[0]),
        wide_(row_ / 3 / heads_),
        causal_(call.attributes.ints[1] != 0),
        scale_(T(1) / std::sqrt(static_cast<T>(wide_))),
        pitch_((length_ + simd::lanes - 1) / simd::lanes * simd::lanes + simd::lanes) {}

  void results(const T* qkv, T* out) {
    reserve(1);
    each_head([&](std::int64_t in, std::int64_t at) {
      const Matrix<T> v = matrix(qkv + in + 2 * width(), row_);
      each_block([&](std::int64_t i, std::int64_t rows, std::int64_t keys) {
        probabilities(qkv + in, i, rows, keys);
        multiply(matrix(scores_, pitch_), v, keys, {0, rows}, StoreTo<T>{out + at + i * width(), width()});
      });
    });
  }

  // With P the probabilities, O = P V: dV = P^T dO, dP = dO V^T; with S the scores before softmax and the scale,
  // dS = scale P (dP - rowsum(P dP)); dQ = dS K, dK = dS^T Q.
  void gradients(const T* qkv, const T* up, T* out) {
    reserve(2);
    each_head([&](std::int64_t in, std::int64_t at) {
      const T *q = qkv + in, *k = q + width(), *v = k + width();
      T* const d = out + in;
      std::int64_t made = 0;  // so many rows of dK and dV have been written by the blocks before
      each_block([&](std::int64_t i, std::int64_t rows, std::int64_t keys) {
        const Matrix<T> g = matrix(up + at + i * width(), width());
        probabilities(q, i, rows, keys);
        put(turned(scores_, pitch_), g, rows, made, keys, d + 2 * width());
        Backend::multiply(g, turned(v, row_), wide_, Range{0, rows}, Range{0, keys}, worker_,
                          StoreTo<T>{slopes_, pitch_}, offset_);
        for (std::int64_t r = 0; r < rows; ++r) softmax_gradient(r, keys);
        multiply(matrix(slopes_, pitch_), matrix(k, row_), keys, {0, rows}, StoreTo<T>{d + i * row_, row_});
        put(turned(slopes_, pitch_), matrix(q + i * row_, row_), rows, made, keys, d + width());
        made = keys;
      });
    });
  }

 private:
  static constexpr std::int64_t queries_at_once = 64;

  std::int64_t width() const { return row_ / 3; }
  static Matrix<T> matrix(const T* p, std::int64_t pitch) { return {p, pitch, 1}; }
  static Matrix<T> turned(const T* p, std::int64_t pitch) { return {p, 1, pitch}; }

  /// All the memory that will be needed: asking for more later would lose what is in it.
  void reserve(std::int64_t tables) {
    const std::int64_t rows = length_ < queries_at_once ? length_ : queries_at_once, table = rows * pitch_;
    offset_ = tables * table;
    const std::int64_t a = Backend::template scratch<T>(rows, length_, wide_);
    const std::int64_t b = Backend::template scratch<T>(rows, wide_, length_);
    const std::int64_t c = Backend::template scratch<T>(length_, wide_, rows);
    const std::int64_t most = a > b ? (a > c ? a : c) : (b > c ? b : c);
    scores_ = worker_.template scratch<T>(offset_ + most);
    slopes_ = scores_ + table;
  }

  /// Calls visit(offset of the head's queries, offset of its results).
  template <class Visit>
  void each_head(Visit visit) const {
    const Range mine = worker_.part(batch_ * heads_);
    for (std::int64_t u = mine.from; u < mine.to; ++u) {
      const std::int64_t line = u / heads_ * length_, at = u % heads_ * wide_;
      visit(line * row_ + at, line * width() + at);
    }
  }
  /// Calls visit(first query, number of queries, number of keys that they see).
  template <class Visit>
  void each_block(Visit visit) const {
    for (std::int64_t i = 0; i < length_; i += queries_at_once) {
      const std::int64_t rows = length_ - i < queries_at_once ? length_ - i : queries_at_once;
      visit(i, rows, causal_ ? i + rows : length_);
    }
  }

  template <class Epilogue>
  void multiply(Matrix<T> a, Matrix<T> b, std::int64_t depth, Range rows, const Epilogue& epilogue) {
    Backend::multiply(a, b, depth, rows, Range{0, wide_}, worker_, epilogue, offset_);
  }
  /// a b to rows [0, keys) of a head's gradient: added to the first `made` of them.
  void put(Matrix<T> a, Matrix<T> b, std::int64_t depth, std::int64_t made, std::int64_t keys, T* to) {
    if (made > 0) multiply(a, b, depth, {0, made}, AddTo<T>{to, row_});
    multiply(a, b, depth, {made, keys}, StoreTo<T>{to, row_});
  }

  /// The probabilities of queries [i, i + rows) for their keys, to scores_; 0 for keys that a query does not see.
  void probabilities(const T* q, std::int64_t i, std::int64_t rows, std::int64_t keys) {
    Backend::multiply(matrix(q + i * row_, row_), turned(q + width(), row_), wide_, Range{0, rows}, Range{0, keys},
                      worker_, StoreTo<T>{scores_, pitch_}, offset_);
    for (std::int64_t r = 0; r < rows; ++r) {
      T* const p = scores_ + r * pitch_;
      const std::int64_t seen = causal_ ? i + r + 1 : keys;
      softmax_row(
          p, seen, p, [](const auto& e, T scale, std::int64_t, auto) { return e * scale; }, scale_);
      for (std::int64_t j = seen; j < keys; ++j) p[j] = T(0);
    }
  }

  CROCHET_ALWAYS_INLINE void softmax_gradient(std::int64_t r, std::int64_t keys) {
    const T* p = scores_ + r * pitch_;
    T* s = slopes_ + r * pitch_;
    const T dot = simd::sum_along<T>(
        keys, [&](std::int64_t j, auto how) { return simd::load(p + j, how, T(0)) * simd::load(s + j, how, T(0)); });
    simd::along(keys, [&](std::int64_t j, auto how) {
      const simd::vec<T> slope = simd::load(s + j, how, T(0)) - dot;
      simd::store(s + j, simd::load(p + j, how, T(0)) * slope * scale_, how);
    });
  }

  Worker& worker_;
  std::int64_t batch_, length_, row_, heads_, wide_;
  bool causal_;
  T scale_;
  std::int64_t pitch_;  ///< of the tables: not a power of two, which would crowd a few places of the cache
  std::int64_t offset_ = 0;
  T *scores_ = nullptr, *slopes_ = nullptr;
};
}  // namespace kernel::detail

template <>
struct Kernel<&op::self_attention> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::Heads<Backend, T>(call).results(call.in[0].as<const T>(), call.out.as<T>());
  }
};

template <>
struct Kernel<&op::self_attention_gradient> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::Heads<Backend, T>(call).gradients(call.in[0].as<const T>(), call.in[1].as<const T>(),
                                                      call.out.as<T>());
  }
};

}  // namespace crochet
