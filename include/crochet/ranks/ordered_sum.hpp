// SPDX-License-Identifier: Apache-2.0
// OrderedSum: sums over ranks whose order is fixed, from an engine's movement of data alone. Each sum is made along one
// tree, whatever algorithm the engine has, so all ranks get the same bits, and so does each repetition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/exchange_parts.hpp>
#include <crochet/ranks/tree_sum.hpp>
#include <crochet/ranks/wire.hpp>

namespace crochet {

/// The buffers are kept: a steady exchange allocates nothing.
class OrderedSum {
 public:
  /// Values of more bytes a rank are exchanged in pieces, below the limits of engines.
  static constexpr std::size_t piece_bytes = std::size_t{1} << 28;

  /// Collective. The same over the shards of all ranks, which have equal numbers of them, a power of two: `to` gets
  /// (sum over shards of weights[j] * from[j]) / total. The tree is that of as many ranks as there are shards.
  template <class T, Communicator C>
  void run_shards(C& communicator, std::span<const void* const> from, std::span<const T> weights, T total,
                  std::span<T> to) {
    const std::size_t n = to.size(), bytes = from.size() * n * sizeof(T);
    if (shards_.size() < bytes) shards_.resize(bytes);
    T* const rows = reinterpret_cast<T*>(shards_.data());
    for (std::size_t j = 0; j < from.size(); ++j) {
      detail::to_wire<T, T>({static_cast<const T*>(from[j]), n}, weights[j], rows + j * n);
    }
    detail::tree_mean(rows, from.size(), n, T(1), to.data());
    run(communicator, to, T(1), total);
  }

  /// Collective. `part` gets this rank's part of (sum over ranks of weight * values) / total: as many elements on each
  /// rank, zeros behind the last. The bits are those of run().
  template <class T, Communicator C>
  void run_part(C& communicator, std::span<const T> values, T weight, T total, std::span<T> part) {
    const detail::ExchangeParts<T, T> parts = parts_of<T>(communicator, values.size());
    const std::span<const T> sent = parts.sent(values, weight, sent_);
    const std::span<T> got = parts.received(got_);
    communicator.all_to_all(std::as_bytes(sent), std::as_writable_bytes(got));
    parts.mean_of_part(got, rows_, total, part);
  }
  /// Collective. `values` gets the parts of all ranks.
  template <class T, Communicator C>
  void gather(C& communicator, std::span<const T> part, std::span<T> values) {
    const detail::ExchangeParts<T, T> parts = parts_of<T>(communicator, values.size());
    const std::span<T> all = parts.result(values, sent_);
    communicator.all_gather(std::as_bytes(part), std::as_writable_bytes(all));
    parts.unpack(all, values);
  }

  /// Collective. Replaces `values` by (sum over ranks of weight * values) / total.
  template <class T, Communicator C>
  void run(C& communicator, std::span<T> values, T weight, T total) {
    run_as<T>(communicator, values, weight, total);
  }
  /// The same with Compression::bfloat16.
  template <Communicator C>
  void run_compressed(C& communicator, std::span<float> values, float weight, float total) {
    run_as<bfloat16>(communicator, values, weight, total);
  }

 private:
  template <class T, class C>
  static detail::ExchangeParts<T, T> parts_of(C& communicator, std::size_t n) {
    return {n, static_cast<std::size_t>(communicator.rank()), static_cast<std::size_t>(communicator.size())};
  }
  template <class W, class T, class C>
  void run_as(C& communicator, std::span<T> values, T weight, T total) {
    const auto rank = static_cast<std::size_t>(communicator.rank()),
               ranks = static_cast<std::size_t>(communicator.size());
    const std::size_t piece = ranks * (piece_bytes / sizeof(T));
    for (std::size_t at = 0; at < values.size(); at += piece) {
      const auto part = values.subspan(at, std::min(piece, values.size() - at));
      const detail::ExchangeParts<W, T> parts(part.size(), rank, ranks);
      if (parts.is_short(part.size(), ranks)) {
        gather_all(communicator, parts, part, weight, total);
      } else {
        sum_parts(communicator, parts, part, weight, total);
      }
    }
  }
  template <class W, class T, class C>
  void gather_all(C& communicator, const detail::ExchangeParts<W, T>& parts, std::span<T> values, T weight, T total) {
    const std::span<W> all = parts.gathered(got_), mine = parts.own_of(all);
    detail::to_wire<W, T>(values, weight, mine.data());
    communicator.all_gather(std::as_bytes(mine), std::as_writable_bytes(all));
    parts.mean_of_all(all, rows_, total, values.data());
  }
  template <class W, class T, class C>
  void sum_parts(C& communicator, const detail::ExchangeParts<W, T>& parts, std::span<T> values, T weight, T total) {
    const std::span<const W> sent = parts.sent(values, weight, sent_);
    const std::span<W> got = parts.received(got_);
    communicator.all_to_all(std::as_bytes(sent), std::as_writable_bytes(got));
    const std::span<W> result = parts.result(values, sent_), mine = parts.own_part(result);
    parts.mean_of_part(got, rows_, total, mine);
    communicator.all_gather(std::as_bytes(mine), std::as_writable_bytes(result));
    parts.unpack(result, values);
  }

  std::vector<std::byte> sent_, got_, rows_, shards_;
};

}  // namespace crochet
