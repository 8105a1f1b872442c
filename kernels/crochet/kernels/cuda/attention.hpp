// SPDX-License-Identifier: Apache-2.0
// Self-attention on heads in place, on a device. Forward: a block for some queries of a head. Backward: a block for a
// head, which takes its queries a few at a time.
#pragma once
#include <crochet/graph/ops/attention.hpp>
#include <crochet/kernels/cuda/product.hpp>
#include <crochet/kernels/cuda/softmax.hpp>

namespace crochet::cuda {

namespace detail {

/// A matrix with a pitch, or its transpose.
template <class T>
struct Pitched {
  const T* data;
  int pitch;
  int rows, columns;  ///< in memory
  bool transposed;

  CROCHET_DEVICE_INLINE static Pitched of(const T* data, int pitch, int rows, int columns) {
    return {data, pitch, rows, columns, false};
  }
  CROCHET_DEVICE_INLINE Pitched turned() const { return {data, pitch, rows, columns, !transposed}; }
  CROCHET_DEVICE_INLINE MatrixOperand<T> left() const {
    return MatrixOperand<T>::left(data, rows, columns, pitch, transposed);
  }
  CROCHET_DEVICE_INLINE MatrixOperand<T> right() const {
    return MatrixOperand<T>::right(data, rows, columns, pitch, transposed);
  }
};

/// The queries of a block.
inline constexpr int queries_at_once = 32;

/// The memory of `tables` tables of a block.
constexpr Room attention_room(const Sizes& s, const TableOperand& qkv, int tables) {
  return {s.element_bytes * s.blocks * tables * queries_at_once * qkv.extents[1], 0};
}

/// The heads of qkv [batch, length, 3 d].
template <class T, class Block>
class Heads {
 public:
  CROCHET_DEVICE_INLINE Heads(Block& block, const Call& call, const Operand& qkv)
      : block_(block),
        call_(call),
        length_(qkv[1]),
        row_(qkv[2]),
        heads_(call.attribute(0)),
        wide_(row_ / 3 / heads_),
        count_(qkv[0] * heads_),
        causal_(call.attribute(1) != 0),
        scale_(T(1) / simd::sqrt(static_cast<T>(wide_))),
        qkv_(qkv.as<const T>()) {}

  CROCHET_DEVICE_INLINE void results(T* out) {
    each_block([&](int head, int from) {
      const Table p{own(0), length_};
      find_probabilities(head, from, p);
      mix(head, from, p, out);
    });
  }
  CROCHET_DEVICE_INLINE void probabilities(T* out) {
    each_block([&](int head, int from) {
      const Table p = kept(out, head, from);
      find_probabilities(head, from, p);
      const int rows = rows_at(from), keys = keys_of(from), hidden = length_ - keys;
      for (int e = block_.thread(); e < rows * hidden; e += Block::threads) {
        p.data[std::int64_t{1} * (e / hidden) * p.pitch + keys + e % hidden] = T(0);
      }
    });
  }
  CROCHET_DEVICE_INLINE void mixed(const T* p, T* out) {
    each_block([&](int head, int from) { mix(head, from, kept(const_cast<T*>(p), head, from), out); });
  }
  /// p: the probabilities; if null they are computed again.
  CROCHET_DEVICE_INLINE void gradients(const T* up, const T* p, T* out) {
    each_unit(block_, call_.first(), count_, [&](int head) {
      for (int from = 0; from < length_; from += queries_at_once) {
        const Table t = p != nullptr ? kept(const_cast<T*>(p), head, from) : Table{own(0), length_};
        if (p == nullptr) find_probabilities(head, from, t);
        block_gradients(head, from, t, up, out);
      }
    });
  }

 private:
  /// The probabilities of some queries, or their gradients.
  struct Table {
    T* data;
    int pitch;
  };

  CROCHET_DEVICE_INLINE int width() const { return row_ / 3; }
  /// The offset of a head's queries in qkv, and of its results.
  CROCHET_DEVICE_INLINE std::int64_t in(int head) const {
    return std::int64_t{1} * (head / heads_) * length_ * row_ + head % heads_ * wide_;
  }
  CROCHET_DEVICE_INLINE std::int64_t out(int head) const {
    return std::int64_t{1} * (head / heads_) * length_ * width() + head % heads_ * wide_;
  }
  CROCHET_DEVICE_INLINE int rows_at(int from) const {
    return length_ - from < queries_at_once ? length_ - from : queries_at_once;
  }
  /// The number of keys that the queries from `from` on attend to.
  CROCHET_DEVICE_INLINE int keys_of(int from) const { return causal_ ? from + rows_at(from) : length_; }
  CROCHET_DEVICE_INLINE Pitched<T> queries(int head, int from) const {
    return Pitched<T>::of(qkv_ + in(head) + std::int64_t{1} * from * row_, row_, rows_at(from), wide_);
  }
  CROCHET_DEVICE_INLINE Pitched<T> keys(int head, int count) const {
    return Pitched<T>::of(qkv_ + in(head) + width(), row_, count, wide_);
  }
  CROCHET_DEVICE_INLINE Pitched<T> values(int head, int count) const {
    return Pitched<T>::of(qkv_ + in(head) + 2 * width(), row_, count, wide_);
  }
  /// A table in the block's part of the scratch memory.
  CROCHET_DEVICE_INLINE T* own(int which) const {
    return call_.template scratch<T>() +
           (std::int64_t{1} * which * block_.blocks() + block_.block()) * queries_at_once * length_;
  }
  /// A part of [batch, heads, length, length].
  CROCHET_DEVICE_INLINE Table kept(T* p, int head, int from) const {
    return {p + (std::int64_t{1} * head * length_ + from) * length_, length_};
  }

  template <class F>
  CROCHET_DEVICE_INLINE void each_block(F f) {
    const int blocks = (length_ + queries_at_once - 1) / queries_at_once;
    each_unit(block_, call_.first(), count_ * blocks, [&](int u) { f(u / blocks, u % blocks * queries_at_once); });
  }

  /// The probabilities of some queries; 0 for masked keys.
  CROCHET_DEVICE_INLINE void find_probabilities(int head, int from, const Table& p) {
    const int rows = rows_at(from), count = keys_of(from);
    block_product<T>(block_, rows, count, wide_, queries(head, from).left(), keys(head, count).turned().right(),
                     [&](int i, int j, T x) { p.data[std::int64_t{1} * i * p.pitch + j] = x; });
    for (int r = block_.thread() / warp_size; r < rows; r += Block::threads / warp_size) {
      T* const z = p.data + std::int64_t{1} * r * p.pitch;
      const int seen = causal_ ? from + r + 1 : count;
      const Line<T, Block> line(block_, seen, 1), hidden(block_, count - seen, 1);
      const T top = line.max(z);
      const T share = T(1) / line.sum([&](std::int64_t j) { return z[j] = simd::exp((z[j] - top) * scale_); });
      line.each([&](std::int64_t j) { z[j] *= share; });
      hidden.each([&](std::int64_t j) { z[seen + j] = T(0); });
    }
    block_.sync();
  }
  CROCHET_DEVICE_INLINE void mix(int head, int from, const Table& p, T* to) {
    const int rows = rows_at(from), count = keys_of(from);
    T* const first = to + out(head) + std::int64_t{1} * from * width();
    block_product<T>(block_, rows, wide_, count, Pitched<T>::of(p.data, p.pitch, rows, count).left(),
                     values(head, count).right(),
                     [&](int i, int j, T x) { first[std::int64_t{1} * i * width() + j] = x; });
  }

  // With probabilities P and O = P V: dV = P^T dO, dP = dO V^T. With S the scores before scale and softmax:
  // dS = scale P (dP - rowsum(P dP)), dQ = dS K, dK = dS^T Q.
  CROCHET_DEVICE_INLINE void block_gradients(int head, int from, const Table& p, const T* up, T* to) {
    const int rows = rows_at(from), count = keys_of(from);
    const auto d = Pitched<T>::of(up + out(head) + std::int64_t{1} * from * width(), width(), rows, wide_);
    const auto probabilities = Pitched<T>::of(p.data, p.pitch, rows, count);
    T* const s = own(1);
    T* const first = to + in(head);
    add_rows(probabilities.turned(), d, from, count, rows, first + 2 * width());
    block_product<T>(block_, rows, count, wide_, d.left(), values(head, count).turned().right(),
                     [&](int i, int j, T x) { s[std::int64_t{1} * i * length_ + j] = x; });
    for (int r = block_.thread() / warp_size; r < rows; r += Block::threads / warp_size) {
      const T* const q = p.data + std::int64_t{1} * r * p.pitch;
      T* const z = s + std::int64_t{1} * r * length_;
      const Line<T, Block> line(block_, count, 1);
      const T dot = line.sum([&](std::int64_t j) { return q[j] * z[j]; });
      line.each([&](std::int64_t j) { z[j] = q[j] * (z[j] - dot) * scale_; });
    }
    block_.sync();
    const auto slopes = Pitched<T>::of(s, length_, rows, count);
    block_product<T>(block_, rows, wide_, count, slopes.left(), keys(head, count).right(),
                     [&](int i, int j, T x) { first[std::int64_t{1} * (from + i) * row_ + j] = x; });
    add_rows(slopes.turned(), queries(head, from), from, count, rows, first + width());
  }
  /// Adds a b to the rows of a gradient. Rows that no earlier queries attended to are written.
  CROCHET_DEVICE_INLINE void add_rows(const Pitched<T>& a, const Pitched<T>& b, int from, int count, int depth, T* to) {
    const int made = from == 0 ? 0 : keys_of(from - queries_at_once);
    block_product<T>(block_, count, wide_, depth, a.left(), b.right(), [&](int i, int j, T x) {
      T& at = to[std::int64_t{1} * i * row_ + j];
      at = i < made ? at + x : x;
    });
  }

  Block& block_;
  const Call& call_;
  int length_, row_, heads_, wide_, count_;
  bool causal_;
  T scale_;
  const T* qkv_;
};

}  // namespace detail

template <>
struct Kernel<&op::self_attention> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::Heads<T, Block>(block, call, call.in(0)).results(call.out().template as<T>());
  }
  static constexpr Room room(const Sizes& s) { return detail::attention_room(s, s.in(0), 1); }
};
template <>
struct Kernel<&op::self_attention_gradient> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::Heads<T, Block>(block, call, call.in(0))
        .gradients(call.in(1).template as<const T>(), nullptr, call.out().template as<T>());
  }
  static constexpr Room room(const Sizes& s) { return detail::attention_room(s, s.in(0), 2); }
};
template <>
struct Kernel<&op::attention_probabilities> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::Heads<T, Block>(block, call, call.in(0)).probabilities(call.out().template as<T>());
  }
};
template <>
struct Kernel<&op::attention_mix> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::Heads<T, Block>(block, call, call.in(1))
        .mixed(call.in(0).template as<const T>(), call.out().template as<T>());
  }
};
template <>
struct Kernel<&op::attention_mix_gradient> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    detail::Heads<T, Block>(block, call, call.in(0))
        .gradients(call.in(1).template as<const T>(), call.in(2).template as<const T>(), call.out().template as<T>());
  }
  static constexpr Room room(const Sizes& s) { return detail::attention_room(s, s.in(0), 2); }
};

}  // namespace crochet::cuda
