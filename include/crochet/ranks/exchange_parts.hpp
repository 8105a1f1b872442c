// SPDX-License-Identifier: Apache-2.0
// ExchangeParts: the computations between the messages of a sum over ranks, and their memory. OrderedSum and
// OverlappedSums differ in when they send, and have the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <crochet/ranks/tree_sum.hpp>
#include <crochet/ranks/wire.hpp>

namespace crochet::detail {

/// The buffers are kept: a steady exchange allocates nothing.
///
/// Short values: every rank sends all of its own to all others and adds what it gets, which is faster up to 32 kB on
/// two ranks (bench/ranks). Others: each rank adds a part and passes it on; it sends and receives twice the bytes of
/// the values, whatever the number of ranks. W: the type on the wire, T or bfloat16.
template <class W, class T>
class ExchangeParts {
  static constexpr bool compresses = !std::is_same_v<W, T>;
  static constexpr std::size_t short_bytes = 65'536;  ///< on the wire, of all ranks together

 public:
  static bool is_short(std::size_t n, std::size_t ranks) { return ranks == 1 || n * sizeof(W) * ranks <= short_bytes; }

  ExchangeParts(std::size_t n, std::size_t rank, std::size_t ranks)
      : n_(n), rank_(rank), ranks_(ranks), part_((n + ranks - 1) / ranks), all_(part_ * ranks) {}

  // Short values: all_gather(own, all_own), then mean_of_all.

  /// All ranks' values; this rank's are in place.
  std::span<W> gathered(std::vector<std::byte>& memory) const { return {room<W>(memory, n_ * ranks_), n_ * ranks_}; }
  std::span<W> own_of(std::span<W> gathered) const { return gathered.subspan(n_ * rank_, n_); }
  /// `to` gets the mean of what all ranks have sent.
  void mean_of_all(std::span<W> gathered, std::vector<std::byte>& memory, T total, T* to) const {
    tree_mean(rows(gathered, memory), ranks_, n_, total, to);
  }

  // Others: all_to_all(sent, received), mean_of_part, all_gather(own part of result, result), unpack.

  /// What this rank sends: parts for all ranks, of which the last may end with zeros. The values themselves, if no
  /// number changes: with equal parts of a batch no copy is made.
  std::span<const W> sent(std::span<const T> values, T weight, std::vector<std::byte>& memory) const {
    if constexpr (!compresses) {
      if (weight == T(1) && all_ == n_) return values;
    }
    const std::span sent{room<W>(memory, all_), all_};
    to_wire(values, weight, sent.data());
    std::fill(sent.begin() + static_cast<std::ptrdiff_t>(n_), sent.end(), W{});
    return sent;
  }
  std::span<W> received(std::vector<std::byte>& memory) const { return {room<W>(memory, all_), all_}; }
  /// Room for the parts that all ranks have added: `values` itself, if they are on the wire as they are.
  std::span<W> result(std::span<T> values, std::vector<std::byte>& memory) const {
    if constexpr (!compresses) {
      if (all_ == n_ && !values.empty()) return values;
    }
    return {room<W>(memory, all_), all_};
  }
  std::span<W> own_part(std::span<W> result) const { return result.subspan(part_ * rank_, part_); }
  /// The mean of this rank's part of the values; `received` is changed.
  void mean_of_part(std::span<W> received, std::vector<std::byte>& memory, T total, std::span<W> mine) const {
    T* const parts = rows(received, memory);
    if constexpr (compresses) {
      tree_mean(parts, ranks_, part_, total, parts);
      to_wire<W, T>({parts, part_}, T(1), mine.data());
    } else {
      tree_mean(parts, ranks_, part_, total, mine.data());
    }
  }
  void unpack(std::span<const W> result, std::span<T> values) const {
    if constexpr (compresses) {
      from_wire(result.data(), values);
    } else {
      if (result.data() != values.data()) std::memcpy(values.data(), result.data(), values.size_bytes());
    }
  }

 private:
  /// Values from the wire, to be added.
  static T* rows(std::span<W> from, std::vector<std::byte>& memory) {
    if constexpr (compresses) {
      T* const to = room<T>(memory, from.size());
      from_wire(from.data(), {to, from.size()});
      return to;
    } else {
      return from.data();
    }
  }
  template <class E>
  static E* room(std::vector<std::byte>& memory, std::size_t n) {
    if (memory.size() < n * sizeof(E)) memory.resize(n * sizeof(E));
    return reinterpret_cast<E*>(memory.data());
  }

  std::size_t n_, rank_, ranks_, part_, all_;
};

}  // namespace crochet::detail
