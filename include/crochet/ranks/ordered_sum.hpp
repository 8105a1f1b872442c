// SPDX-License-Identifier: Apache-2.0
// OrderedSum: sums over ranks whose order is fixed, from an engine's movement of data alone. Each sum is made along one
// tree, whatever algorithm the engine has, so all ranks get the same bits, and so does each repetition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <crochet/ranks/communicator.hpp>

namespace crochet {

namespace detail {

/// Adds `count` rows of `width` values along a balanced tree of neighbours: rows 0 and 1, 2 and 3, and so on, then the
/// sums in the same way. Adds levels up to the last but one; returns the distance of the last two rows, 0 for one row.
template <class T>
std::size_t tree_levels(T* rows, std::size_t count, std::size_t width) {
  std::size_t distance = 1;
  for (; 2 * distance < count; distance *= 2) {
    for (std::size_t k = 0; k + distance < count; k += 2 * distance) {
      T* const sum = rows + k * width;
      const T* const other = sum + distance * width;
      for (std::size_t i = 0; i < width; ++i) sum[i] += other[i];
    }
  }
  return count > 1 ? distance : 0;
}
/// `to` gets the sums of the rows divided by `total`; the rows are changed.
template <class T>
void tree_mean(T* rows, std::size_t count, std::size_t width, T total, T* to) {
  const std::size_t distance = tree_levels(rows, count, width);
  if (distance > 0) {
    const T* const other = rows + distance * width;
    for (std::size_t i = 0; i < width; ++i) to[i] = (rows[i] + other[i]) / total;
  } else {
    for (std::size_t i = 0; i < width; ++i) to[i] = rows[i] / total;
  }
}

}  // namespace detail

/// The buffers are kept: a steady exchange allocates nothing.
class OrderedSum {
 public:
  /// Collective. The same over the shards of all ranks, which have equal numbers of them, a power of two: `to` gets
  /// (sum over shards of weights[j] * from[j]) / total. The tree is that of as many ranks as there are shards.
  template <class T, Communicator C>
  void run_shards(C& communicator, std::span<const void* const> from, std::span<const T> weights, T total,
                  std::span<T> to) {
    const std::size_t n = to.size();
    T* const rows = room<T>(shards_, from.size() * n);
    for (std::size_t j = 0; j < from.size(); ++j) {
      scale<T>({static_cast<const T*>(from[j]), n}, weights[j], rows + j * n);
    }
    detail::tree_mean(rows, from.size(), n, T(1), to.data());
    run(communicator, to, T(1), total);
  }

  /// Collective. Replaces `values` by (sum over ranks of weight * values) / total. Values of more than
  /// `piece_bytes` a rank are exchanged in pieces, below the limits of engines. Short ones are gathered and added by
  /// every rank, which is faster up to 32 kB on two ranks (bench/ranks).
  template <class T, Communicator C>
  void run(C& communicator, std::span<T> values, T weight, T total) {
    const auto ranks = static_cast<std::size_t>(communicator.size());
    const std::size_t piece = ranks * (piece_bytes / sizeof(T));
    for (std::size_t at = 0; at < values.size(); at += piece) {
      const auto part = values.subspan(at, std::min(piece, values.size() - at));
      if (ranks == 1 || part.size_bytes() * ranks <= short_bytes) {
        gather_all(communicator, part, weight, total);
      } else {
        sum_parts(communicator, part, weight, total);
      }
    }
  }

 private:
  static constexpr std::size_t short_bytes = 65'536;  ///< of all ranks together
  static constexpr std::size_t piece_bytes = std::size_t{1} << 28;

  /// Each rank gets all values and adds them.
  template <class T, class C>
  void gather_all(C& communicator, std::span<T> values, T weight, T total) {
    const std::size_t n = values.size();
    T* const rows = room<T>(got_, n * static_cast<std::size_t>(communicator.size()));
    T* const mine = rows + n * static_cast<std::size_t>(communicator.rank());
    scale<T>(values, weight, mine);
    communicator.all_gather(std::as_bytes(std::span{mine, n}),
                            std::as_writable_bytes(std::span{rows, n * static_cast<std::size_t>(communicator.size())}));
    detail::tree_mean(rows, static_cast<std::size_t>(communicator.size()), n, total, values.data());
  }

  /// Each rank adds a part and passes it on: it sends and receives twice the bytes of `values`, whatever the number of
  /// ranks.
  template <class T, class C>
  void sum_parts(C& communicator, std::span<T> values, T weight, T total) {
    const auto ranks = static_cast<std::size_t>(communicator.size());
    const std::size_t part = (values.size() + ranks - 1) / ranks, all = part * ranks;
    const bool divides = all == values.size();
    const std::span got{room<T>(got_, all), all};
    const std::span result = divides ? values : std::span{room<T>(sent_, all), all};
    communicator.all_to_all(std::as_bytes(weighted(values, weight, all)), std::as_writable_bytes(got));
    const auto mine = result.subspan(part * static_cast<std::size_t>(communicator.rank()), part);
    detail::tree_mean(got.data(), ranks, part, total, mine.data());
    communicator.all_gather(std::as_bytes(mine), std::as_writable_bytes(result));
    if (!divides) std::memcpy(values.data(), result.data(), values.size_bytes());
  }

  /// What this rank sends: `all` values, of which the last are zero. The values themselves, if the weight is 1 and
  /// their number fits: with equal parts of a batch no copy is made.
  template <class T>
  std::span<const T> weighted(std::span<T> values, T weight, std::size_t all) {
    if (weight == T(1) && all == values.size()) return values;
    const std::span sent{room<T>(sent_, all), all};
    scale<T>(values, weight, sent.data());
    std::fill(sent.begin() + static_cast<std::ptrdiff_t>(values.size()), sent.end(), T(0));
    return sent;
  }
  template <class T>
  static void scale(std::span<const T> values, T weight, T* to) {
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = values[i] * weight;
  }
  template <class T>
  static T* room(std::vector<std::byte>& memory, std::size_t n) {
    if (memory.size() < n * sizeof(T)) memory.resize(n * sizeof(T));
    return reinterpret_cast<T*>(memory.data());
  }

  std::vector<std::byte> sent_, got_, shards_;
};

}  // namespace crochet
