// SPDX-License-Identifier: Apache-2.0
// Self-attention on heads in place: the keys are multiplied with one block of queries at a time, whose scores stay in
// the cache until the results are computed.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/attention.hpp>
#include <crochet/kernels/cpu/matrix.hpp>
#include <crochet/kernels/cpu/softmax.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// Stores products or adds them to memory: the one epilogue of all of attention's products.
template <class T>
struct Put {
  T* data;
  std::int64_t pitch;
  bool add = false;

  static constexpr bool plain = false;

  template <int U, class V>
  CROCHET_ALWAYS_INLINE void vectors(std::int64_t i, std::int64_t j, const V* results) const {
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u) {
      T* p = data + i * pitch + j + u * simd::lanes;
      simd::store(p, add ? static_cast<V>(simd::load<T, true>(p) + results[u]) : results[u]);
    }
  }
  void row(std::int64_t i, std::int64_t j, std::int64_t n, const T* results) const {
    T* p = data + i * pitch + j;
    for (std::int64_t k = 0; k < n; ++k) p[k] = add ? p[k] + results[k] : results[k];
  }
};

/// One worker's share of the heads of qkv [batch, length, 3 d].
template <class Backend, class T>
class Heads {
 public:
  Heads(const Call& call, const Operand& qkv)
      : worker_(call.worker),
        batch_(qkv[0]),
        length_(qkv[1]),
        row_(qkv[2]),
        heads_(call.attributes.ints[0]),
        wide_(row_ / 3 / heads_),
        causal_(call.attributes.ints[1] != 0),
        scale_(T(1) / std::sqrt(static_cast<T>(wide_))),
        qkv_(qkv.as<const T>()) {}

  void results(T* out) {
    reserve(1);
    each_head([&](const Head& h) {
      each_block([&](const Block& b) {
        make_probabilities(h, b, own(0));
        mix(h, b, own(0), out);
      });
    });
  }
  void probabilities(T* p) {
    reserve(0);
    each_head([&](const Head& h) { each_block([&](const Block& b) { make_probabilities(h, b, kept(p, h, b)); }); });
  }
  void mixed(const T* p, T* out) {
    reserve(0);
    each_head(
        [&](const Head& h) { each_block([&](const Block& b) { mix(h, b, kept(const_cast<T*>(p), h, b), out); }); });
  }
  /// p: the probabilities; if null they are computed again.
  void gradients(const T* up, const T* p, T* out) {
    reserve(2);
    each_head([&](const Head& h) {
      std::int64_t made = 0;  // the number of rows of the gradients of keys and values written so far
      each_block([&](const Block& b) {
        const Table t = p != nullptr ? kept(const_cast<T*>(p), h, b) : own(0);
        if (p == nullptr) make_probabilities(h, b, t);
        block_gradients(h, b, t, made, up, out);
        made = b.keys;
      });
    });
  }

 private:
  /// The maximum number of queries in a block. Smaller blocks compute less of what a causal mask hides.
  static constexpr std::int64_t max_queries = 64;
  std::int64_t queries_at_once() const { return causal_ ? max_queries / 2 : max_queries; }

  /// The offset of a head's queries in qkv, and of its results.
  struct Head {
    std::int64_t number, in, out;
  };
  /// Queries [from, from + rows), which attend to keys [0, keys).
  struct Block {
    std::int64_t from, rows, keys;
  };
  /// The probabilities of a block, or their gradients.
  struct Table {
    T* data;
    std::int64_t pitch;
    T* row(std::int64_t r) const { return data + r * pitch; }
    Matrix<T> matrix() const { return {data, pitch, 1}; }
    Matrix<T> turned() const { return {data, 1, pitch}; }
  };

  std::int64_t width() const { return row_ / 3; }
  Matrix<T> queries(const Head& h, std::int64_t from) const { return {qkv_ + h.in + from * row_, row_, 1}; }
  Matrix<T> keys(const Head& h) const { return {qkv_ + h.in + width(), row_, 1}; }
  Matrix<T> values(const Head& h) const { return {qkv_ + h.in + 2 * width(), row_, 1}; }
  static Matrix<T> turned(const Matrix<T>& m) { return {m.data, m.column, m.row}; }

  /// A table in scratch memory. Its pitch is not a power of two, which would map all rows to a few cache sets.
  Table own(std::int64_t which) const { return {scratch_ + which * max_queries * own_pitch(), own_pitch()}; }
  std::int64_t own_pitch() const { return (length_ + simd::lanes - 1) / simd::lanes * simd::lanes + simd::lanes; }
  /// A part of [batch, heads, length, length].
  Table kept(T* p, const Head& h, const Block& b) const {
    return {p + (h.number * length_ + b.from) * length_, length_};
  }
  /// Allocates all scratch memory at once, because a later, larger request would lose its contents.
  void reserve(std::int64_t tables) {
    const std::int64_t rows = length_ < max_queries ? length_ : max_queries;
    offset_ = tables * max_queries * own_pitch();
    const std::int64_t a = Backend::template scratch<T>(rows, length_, wide_);
    const std::int64_t b = Backend::template scratch<T>(rows, wide_, length_);
    const std::int64_t c = Backend::template scratch<T>(length_, wide_, rows);
    scratch_ = worker_.template scratch<T>(offset_ + (a > b ? (a > c ? a : c) : (b > c ? b : c)));
  }

  template <class Visit>
  void each_head(Visit visit) const {
    const Range mine = worker_.part(batch_ * heads_);
    for (std::int64_t u = mine.from; u < mine.to; ++u) {
      const std::int64_t line = u / heads_ * length_, at = u % heads_ * wide_;
      visit(Head{u, line * row_ + at, line * width() + at});
    }
  }
  template <class Visit>
  void each_block(Visit visit) const {
    for (std::int64_t i = 0; i < length_; i += queries_at_once()) {
      const std::int64_t rows = length_ - i < queries_at_once() ? length_ - i : queries_at_once();
      visit(Block{i, rows, causal_ ? i + rows : length_});
    }
  }

  [[gnu::noinline]] void multiply(const Matrix<T>& a, const Matrix<T>& b, std::int64_t depth, Range rows, Range columns,
                                  const Put<T>& put) const {
    Backend::multiply(a, b, depth, rows, columns, worker_, put, offset_);
  }

  /// The probabilities of a block; 0 for masked keys.
  void make_probabilities(const Head& h, const Block& b, const Table& p) const {
    multiply(queries(h, b.from), turned(keys(h)), wide_, {0, b.rows}, {0, b.keys}, Put<T>{p.data, p.pitch});
    for (std::int64_t r = 0; r < b.rows; ++r) {
      const std::int64_t seen = causal_ ? b.from + r + 1 : b.keys;
      softmax_row(
          p.row(r), seen, p.row(r), [](const auto& e, T share, std::int64_t, auto) { return e * share; }, scale_);
      for (std::int64_t j = seen; j < b.keys; ++j) p.row(r)[j] = T(0);
    }
  }
  void mix(const Head& h, const Block& b, const Table& p, T* out) const {
    multiply(p.matrix(), values(h), b.keys, {0, b.rows}, {0, wide_}, Put<T>{out + h.out + b.from * width(), width()});
  }

  // With probabilities P and O = P V: dV = P^T dO, dP = dO V^T. With S the scores before scale and softmax:
  // dS = scale P (dP - rowsum(P dP)), dQ = dS K, dK = dS^T Q.
  void block_gradients(const Head& h, const Block& b, const Table& p, std::int64_t made, const T* up, T* out) const {
    const Matrix<T> d{up + h.out + b.from * width(), width(), 1};
    const Table s = own(1);
    T* const to = out + h.in;
    add_rows(p.turned(), d, b, made, to + 2 * width());
    multiply(d, turned(values(h)), wide_, {0, b.rows}, {0, b.keys}, Put<T>{s.data, s.pitch});
    for (std::int64_t r = 0; r < b.rows; ++r) softmax_gradient(p.row(r), s.row(r), b.keys);
    multiply(s.matrix(), keys(h), b.keys, {0, b.rows}, {0, wide_}, Put<T>{to + b.from * row_, row_});
    add_rows(s.turned(), queries(h, b.from), b, made, to + width());
  }
  /// Writes a b to the rows of a gradient for the block's keys. The first `made` rows are added to instead.
  void add_rows(const Matrix<T>& a, const Matrix<T>& b, const Block& block, std::int64_t made, T* to) const {
    if (made > 0) multiply(a, b, block.rows, {0, made}, {0, wide_}, Put<T>{to, row_, true});
    multiply(a, b, block.rows, {made, block.keys}, {0, wide_}, Put<T>{to, row_});
  }
  CROCHET_ALWAYS_INLINE void softmax_gradient(const T* p, T* s, std::int64_t keys) const {
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
  const T* qkv_;
  T* scratch_ = nullptr;
  std::int64_t offset_ = 0;
};
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::self_attention> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::Heads<Backend, T>(call, call.in[0]).results(call.out.as<T>());
  }
};
template <>
struct Kernel<&op::self_attention_gradient> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::Heads<Backend, T>(call, call.in[0]).gradients(call.in[1].as<const T>(), nullptr, call.out.as<T>());
  }
};
template <>
struct Kernel<&op::attention_probabilities> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::Heads<Backend, T>(call, call.in[0]).probabilities(call.out.as<T>());
  }
};
template <>
struct Kernel<&op::attention_mix> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::Heads<Backend, T>(call, call.in[1]).mixed(call.in[0].as<const T>(), call.out.as<T>());
  }
};
template <>
struct Kernel<&op::attention_mix_gradient> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    kernel::detail::Heads<Backend, T>(call, call.in[0])
        .gradients(call.in[1].as<const T>(), call.in[2].as<const T>(), call.out.as<T>());
  }
};

}  // namespace crochet
