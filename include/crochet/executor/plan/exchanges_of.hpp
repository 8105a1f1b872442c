// SPDX-License-Identifier: Apache-2.0
// ExchangesOf: what a plan exchanges with the other ranks, as constants.
#pragma once
#include <cstddef>
#include <cstdint>

#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/over_ranks.hpp>
#include <crochet/graph/ops/parts_of_ranks.hpp>
#include <crochet/graph/passes/plan.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// T: the tables of the graph, P: the plan of the demand (Planned).
template <class T, class P>
class ExchangesOf {
  static constexpr const auto& plan = P::plan;
  /// FNV-1a, a byte at a time (Fowler, Noll and Vo; IETF draft-eastlake-fnv).
  static constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (value >> (8 * byte) & 255U)) * 0x100000001b3U;
    return hash;
  }

  static constexpr std::uint64_t number_of(const Op& root) {
    const Op* const all[] = {&op::mean_over_ranks, &op::sum_over_ranks, &op::begin_over_ranks, &op::scatter_over_ranks,
                             &op::gather_over_ranks};
    std::uint64_t number = 1;
    for (const Op* const* o = all; *o != &root; ++o) ++number;
    return number;
  }

 public:
  static constexpr bool exchanges(const Step& s) {
    return s.root == &op::mean_over_ranks || s.root == &op::sum_over_ranks || s.root == &op::begin_over_ranks ||
           s.root == &op::scatter_over_ranks || s.root == &op::gather_over_ranks;
  }
  /// The same, and the end of an exchange that overlaps.
  static constexpr bool is_part(const Step& s) { return exchanges(s) || s.root == &op::end_over_ranks; }
  /// The number of these steps.
  static constexpr std::size_t parts = [] {
    std::size_t n = 0;
    for (std::size_t s = 0; s < plan.step_count; ++s) n += is_part(plan.steps.data()[s]) ? 1 : 0;
    return n;
  }();
  /// Whether the plan exchanges at all.
  static constexpr bool any = parts > 0;

  /// Whether an exchange has begun and not ended when step `s` begins.
  static constexpr bool overlaps_with(std::size_t s) { return s > overlapped.first && s < overlapped.last; }

  /// A hash of what is exchanged, in order: the type, the size and the kind of each exchange.
  static constexpr std::uint64_t kind = [] {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (std::size_t s = 0; s < plan.step_count; ++s) {
      const Step& step = plan.steps.data()[s];
      if (!exchanges(step)) continue;
      const bool begins = step.root == &op::begin_over_ranks;
      const Value& v = plan.values.data()[begins ? step.operands[0] : step.root_value];
      hash = mix(hash, number_of(*step.root));
      hash = mix(hash, static_cast<std::uint64_t>(v.dtype));
      hash = mix(hash, static_cast<std::uint64_t>(v.shape.size().factor));
    }
    return hash;
  }();

  /// The rows of the batch that a run with these dimensions has: the first dimension of the first placeholder that has
  /// a dynamic one. 0 if there is none.
  static std::int64_t rows(const Dims& dims) { return has_rows ? row_extent.at(dims) : 0; }

  /// Whether the node is a placeholder with rows of the batch: its first dimension is dynamic.
  static constexpr bool feeds_rows(const Node& n) {
    return n.is(op::placeholder) && n.shape.rank > 0 && !n.shape[0].is_static();
  }

  /// The dynamic dimension that is the number of rows; -1 if there are none, or if it is not one dimension.
  static constexpr int row_symbol() {
    for (std::size_t s = 0; s < max_symbols; ++s) {
      if (has_rows && row_extent == Extent::symbol(s)) return static_cast<int>(s);
    }
    return -1;
  }

 private:
  struct Steps {
    std::size_t first = 0, last = 0;
  };
  /// The first step that begins an exchange and the last one that ends one.
  static constexpr Steps overlapped = [] {
    Steps found{.first = plan.step_count};
    for (std::size_t s = 0; s < plan.step_count; ++s) {
      const Op* const root = plan.steps.data()[s].root;
      if (root == &op::begin_over_ranks && s < found.first) found.first = s;
      if (root == &op::end_over_ranks) found.last = s;
    }
    return found;
  }();
  static constexpr int row_placeholder = [] {
    for (std::size_t i = 0; i < P::selected.nodes.count; ++i) {
      const Node& n = P::selected.nodes.data()[i];
      if (feeds_rows(n)) return static_cast<int>(i);
    }
    return -1;
  }();
  static constexpr bool has_rows = row_placeholder >= 0;
  static constexpr Extent row_extent =
      has_rows ? P::selected.nodes.data()[has_rows ? row_placeholder : 0].shape[0] : Extent{};
};

}  // namespace crochet::cpu::CROCHET_ISA
