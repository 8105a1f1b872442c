// SPDX-License-Identifier: Apache-2.0
// Exchange: what a run has in common with the runs of the same plan on other ranks.
#pragma once
#include <cstdint>

#include <crochet/graph/core/dtype.hpp>

namespace crochet::kernel {

/// One rank's end. Its members are called by the thread that called run(), in the same order on every rank.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Before the first step of a run: all ranks have come to a run of the plan `kind`, in which this rank has `rows`
  /// rows of the batch. Throws if another rank is not coming, in which case no rank runs the plan.
  virtual void begin(std::uint64_t kind, std::int64_t rows) = 0;
  /// Replaces `n` values by their sum over ranks, or by the mean weighted by each rank's rows. All ranks get the same
  /// bits. Does not return if the communication fails.
  virtual void reduce(void* values, std::int64_t n, DType type, bool mean) noexcept = 0;
  /// The number of rows of the ranks before this one, in the current run.
  [[nodiscard]] std::int64_t first_row() const { return first_row_; }

 protected:
  ~Exchange() = default;
  std::int64_t first_row_ = 0;
};

/// Whether an executor with this policy for products computes a part of the rows of each batch.
template <class Backend>
inline constexpr bool divides_batch = requires {
  requires Backend::divides_batch;
};

/// The policy `Backend` on one of several ranks.
template <class Backend>
class OneOfSeveral : public Backend {
 public:
  static constexpr bool divides_batch = true;
};

}  // namespace crochet::kernel
