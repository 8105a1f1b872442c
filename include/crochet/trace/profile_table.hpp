// SPDX-License-Identifier: Apache-2.0
// The time of the recorded runs: a table of nodes and one of hooks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/trace/figures.hpp>
#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

/// The totals of all recorded runs. A node's self time is the time of the step with its name, with all operations fused
/// into it; for a step on several threads, the longest part.
class ProfileTable {
 public:
  struct Node {
    std::string op;
    double seconds = 0, flops = 0, bytes = 0;
    std::int64_t calls = 0;  ///< on the first thread or the device; each slice of a region counts as a call
  };
  struct Hook {
    double before = 0, after = 0;  ///< seconds in before_run and in after_run
  };

  void add(const RunTrace& run);

  [[nodiscard]] std::int64_t runs() const { return runs_; }
  [[nodiscard]] const std::map<std::string, Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::map<std::string, Hook>& hooks() const { return hooks_; }

  /// The tables, one line each: the `rows` nodes with the longest self time, the rest, then every hook. Times are per
  /// recorded run. Empty without a recorded run.
  [[nodiscard]] std::vector<std::string> lines(std::size_t rows = 20) const;

 private:
  using Row = std::vector<std::string>;
  template <class T>
  using Named = std::pair<std::string_view, const T*>;

  double per_run(double sum) const { return sum / static_cast<double>(runs_); }
  std::string microseconds(double seconds) const { return fixed_figure(per_run(seconds) * 1e6, 2); }
  std::string share(double seconds) const;
  static std::string rate(double amount, double seconds);

  std::vector<Row> node_rows(std::size_t rows) const;
  std::vector<Row> hook_rows() const;
  static double sum_of(const Hook& hook) { return hook.before + hook.after; }

  /// The first `left` columns are left-aligned, the others, numbers, right-aligned.
  static std::vector<std::string> aligned(const std::vector<Row>& table, std::size_t left);

  std::map<std::string, Node> nodes_;
  std::map<std::string, Hook> hooks_;
  std::int64_t runs_ = 0;
  double run_seconds_ = 0;
};

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/profile_table.ipp>
#endif
