// SPDX-License-Identifier: Apache-2.0
// DerivedBatches: the base of batches that are made of other batches: their order, position and number.
#pragma once

#include <cstdint>
#include <iterator>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/data/data_position.hpp>
#include <crochet/data/epoch_iterator.hpp>

namespace crochet::detail {

/// Base of `Derived`, whose batches are made one by one of those of `Source`: order, place and number are the same.
/// `Derived` has `next()`, and `with(source)`: the same for another source.
template <class Derived, class Source>
class DerivedBatches {
 public:
  static constexpr std::int64_t endless = Source::endless;

  /// As those of the source.
  Derived shuffle(std::uint64_t seed) && { return std::move(self()).with(std::move(source_).shuffle(seed)); }
  Derived repeat(std::int64_t epochs = endless) && { return std::move(self()).with(std::move(source_).repeat(epochs)); }
  Derived drop_remainder() && { return std::move(self()).with(std::move(source_).drop_remainder()); }
  template <class Ranks>
  Derived shard(Ranks&& ranks) && {
    return std::move(self()).with(std::move(source_).shard(ranks));
  }
  Derived pad() && requires requires(Source source) { std::move(source).pad(); }
  { return std::move(self()).with(std::move(source_).pad()); }

  /// next().
  decltype(auto) operator()() { return self().next(); }

  /// As a range: the batches up to the end of the epoch.
  auto begin() { return EpochIterator{self()}; }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

  [[nodiscard]] bool done() const { return source_.done(); }
  [[nodiscard]] DataPosition position() const { return source_.position(); }
  void seek(DataPosition to) { source_.seek(to); }
  void restart() { seek({}); }
  [[nodiscard]] std::int64_t epoch() const { return source_.epoch(); }
  [[nodiscard]] std::int64_t epochs() const { return source_.epochs(); }
  [[nodiscard]] std::int64_t size() const { return source_.size(); }
  [[nodiscard]] std::int64_t batch_size() const { return source_.batch_size(); }
  [[nodiscard]] std::int64_t batches_per_epoch() const { return source_.batches_per_epoch(); }

 protected:
  explicit DerivedBatches(Source source) : source_(std::move(source)) {}
  Source source_;

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
};

}  // namespace crochet::detail
