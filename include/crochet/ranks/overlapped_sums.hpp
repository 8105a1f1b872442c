// SPDX-License-Identifier: Apache-2.0
// OverlappedSums: the sums of OrderedSum, with the same bits, while this rank computes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <crochet/graph/core/dtype.hpp>
#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/exchange_parts.hpp>
#include <crochet/ranks/ordered_sum.hpp>
#include <crochet/ranks/wire.hpp>

namespace crochet {

/// Sums that have begun, in the order in which all ranks begin them. The first messages of each sum have one lane of
/// the communicator, and the second ones another; so each lane has the same order on all ranks, however fast each rank
/// is. Memory: that of an OrderedSum for each sum that has begun. It is kept.
template <NonblockingCommunicator C>
class OverlappedSums {
 public:
  /// The sum over ranks of weight * values, divided by total.
  struct Terms {
    Compression compression = Compression::none;
    std::int64_t weight = 1, total = 1;
  };

  /// Collective. Begins a sum of `n` values of a floating type, which remain unchanged until it has ended. Returns its
  /// number.
  int begin(C& communicator, const void* values, std::int64_t n, DType type, const Terms& terms) {
    if (ended_ == begun_) begun_ = added_ = ended_ = 0;
    const std::size_t number = begun_;
    with_wire(type, terms.compression,
              [&]<class W, class T>(Wire<W, T>) { begin_pieces<W, T>(communicator, values, n, type, terms); });
    progress(communicator);
    return static_cast<int>(number);
  }
  /// Continues what has begun, without waiting. To be called often: engines move data within their calls only.
  void progress(C& communicator) {
    while (added_ < begun_ && communicator.test(sums_[added_].first)) add(communicator, sums_[added_++]);
    for (std::size_t k = 0; k < added_; ++k) static_cast<void>(communicator.test(sums_[k].second));
  }
  /// Collective. Waits for sum `number`; `to` gets its `n` values. All ranks end sums in the same order.
  void end(C& communicator, int number, void* to, std::int64_t n) {
    const std::size_t first = static_cast<std::size_t>(number);
    for (std::size_t k = first, at = 0; at < static_cast<std::size_t>(n); at += sums_[k++].n) {
      while (added_ <= k) {
        communicator.wait(sums_[added_].first);
        add(communicator, sums_[added_++]);
      }
      communicator.wait(sums_[k].second);
      with_types(communicator, sums_[k], [&](auto types) { finish(types, sums_[k], to, at); });
      ++ended_;
    }
  }

 private:
  /// A sum of one piece of the values.
  struct Sum {
    std::size_t n = 0;
    DType type = DType::float32;
    Terms terms;
    std::vector<std::byte> sent, got, rows;
    typename C::Request first, second;
  };
  template <class W, class T>
  struct Types {
    using Value = T;
    detail::ExchangeParts<W, T> parts;
    bool is_short;
  };
  template <class W, class T>
  static Types<W, T> types_of(C& communicator, std::size_t n) {
    const auto rank = static_cast<std::size_t>(communicator.rank()),
               ranks = static_cast<std::size_t>(communicator.size());
    return {{n, rank, ranks}, detail::ExchangeParts<W, T>::is_short(n, ranks)};
  }
  /// The types of values on the wire and in memory.
  template <class W, class T>
  struct Wire {};
  template <class Use>
  static void with_wire(DType type, Compression compression, Use use) {
    if (type == DType::float64) {
      use(Wire<double, double>{});
    } else if (compression == Compression::bfloat16) {
      use(Wire<bfloat16, float>{});
    } else {
      use(Wire<float, float>{});
    }
  }
  template <class Use>
  static void with_types(C& communicator, Sum& s, Use use) {
    with_wire(s.type, s.terms.compression,
              [&]<class W, class T>(Wire<W, T>) { use(types_of<W, T>(communicator, s.n)); });
  }

  template <class W, class T>
  void begin_pieces(C& communicator, const void* values, std::int64_t n, DType type, const Terms& terms) {
    const std::span all(static_cast<const T*>(values), static_cast<std::size_t>(n));
    const std::size_t piece = static_cast<std::size_t>(communicator.size()) * (OrderedSum::piece_bytes / sizeof(T));
    for (std::size_t at = 0; at < all.size(); at += piece) {
      if (begun_ == sums_.size()) sums_.emplace_back();
      Sum& s = sums_[begun_++];
      const auto part = all.subspan(at, std::min(piece, all.size() - at));
      s.n = part.size(), s.type = type, s.terms = terms;
      send(communicator, s, types_of<W, T>(communicator, s.n), part);
    }
  }
  template <class W, class T>
  static void send(C& communicator, Sum& s, const Types<W, T>& types, std::span<const T> values) {
    const T weight = static_cast<T>(s.terms.weight);
    if (types.is_short) {
      const std::span<W> all = types.parts.gathered(s.got), mine = types.parts.own_of(all);
      detail::to_wire<W, T>(values, weight, mine.data());
      s.first = communicator.start_all_gather(0, std::as_bytes(mine), std::as_writable_bytes(all));
    } else {
      const std::span<const W> sent = types.parts.sent(values, weight, s.sent);
      s.first =
          communicator.start_all_to_all(0, std::as_bytes(sent), std::as_writable_bytes(types.parts.received(s.got)));
    }
  }
  /// When the first messages of a sum are here: adds this rank's part and passes it on.
  static void add(C& communicator, Sum& s) {
    with_types(communicator, s, [&]<class W, class T>(const Types<W, T>& types) {
      s.second = {};
      if (types.is_short) return;
      const std::span<W> got = types.parts.received(s.got), result = types.parts.result({}, s.sent);
      const std::span<W> mine = types.parts.own_part(result);
      types.parts.mean_of_part(got, s.rows, static_cast<T>(s.terms.total), mine);
      s.second = communicator.start_all_gather(1, std::as_bytes(mine), std::as_writable_bytes(result));
    });
  }
  template <class W, class T>
  static void finish(const Types<W, T>& types, Sum& s, void* to, std::size_t at) {
    const std::span values(static_cast<T*>(to) + at, s.n);
    if (types.is_short) {
      types.parts.mean_of_all(types.parts.gathered(s.got), s.rows, static_cast<T>(s.terms.total), values.data());
    } else {
      types.parts.unpack(types.parts.result({}, s.sent), values);
    }
  }

  std::vector<Sum> sums_;
  std::size_t begun_ = 0, added_ = 0, ended_ = 0;  ///< numbers of sums; added: in the order of beginning
};

}  // namespace crochet
