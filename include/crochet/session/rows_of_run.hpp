// SPDX-License-Identifier: Apache-2.0
// RowsOfRun: the rows of the batch that the values of a run were computed from.
#pragma once

#include <cstdint>

namespace crochet::detail {

/// On one machine they are those of the feeds, `own`; if these have none (-1), a run is as good as one row. Empty, and
/// without code.
template <class E>
class RowsOfRun {
 public:
  template <class D>
  static void note(const E& /*executor*/) {}
  [[nodiscard]] static double weight(double own) { return own < 0 ? 1 : own; }
};

/// On one of several ranks a run that exchanges has the means of all ranks' rows; another run, those of this rank's.
template <class E>
requires requires(const E& executor) { executor.rows_of_all_ranks(); }
class RowsOfRun<E> {
 public:
  /// Behind a run of the demand D.
  template <class D>
  void note(const E& executor) {
    rows_ = E::template exchanges<D> ? executor.rows_of_all_ranks() : 0;
  }
  /// `own`: the rows of this rank's feeds.
  [[nodiscard]] double weight(double own) const {
    if (own < 0) return 1;
    return rows_ > 0 ? static_cast<double>(rows_) : own;
  }

 private:
  std::int64_t rows_ = 0;
};

}  // namespace crochet::detail
