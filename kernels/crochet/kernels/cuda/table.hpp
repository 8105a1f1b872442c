// SPDX-License-Identifier: Apache-2.0
// The numbers of a plan at the sizes of a run, as device code reads them. Code is shared by steps that differ in
// numbers only, and a new batch size changes numbers only. Host and device have the same layout of these structures.
#pragma once
#include <cstdint>

namespace crochet::cuda {

/// The maximum rank of an operand, and the maximum number of operands of a step: those of graph/core.
inline constexpr int table_rank = 6, table_inputs = 6, table_symbols = 4;

/// The location of a value: an offset in bytes from one of a run's base addresses.
struct Place {
  std::int64_t offset = 0;
  std::int32_t base = -1;  ///< 0: the variables; 1: the workspace; 2 and more: a placeholder; -1: none
};

/// An access of a step's program.
struct TableAccess {
  Place place;
  std::int32_t pitch = 0;  ///< the distance of rows, in elements
};

/// A kernel's result or operand. Values have fewer than 2^31 elements.
struct TableOperand {
  Place place;
  std::int32_t rank = 0;
  std::int32_t extents[table_rank]{};
  std::int32_t size = 1;  ///< the number of elements
};

/// One step. A loop has accesses only; a kernel has operands as well: its result first.
struct TableStep {
  std::int32_t rows = 0, columns = 0;  ///< of the loop, or of the epilogue
  std::int32_t first_access = 0, first_operand = 0;
  std::int32_t first_block = 0;  ///< the block that begins: steps between two barriers use different blocks
  std::int32_t ticket = 0;       ///< the first of its counters of finished parts
  std::int64_t scratch = 0;      ///< its partial results: an offset in bytes in the scratch memory
  std::int32_t ints[8]{};        ///< the attributes of its operation
  double reals[2]{};
};

/// The tables of one plan, and the run's memory.
struct Tables {
  const TableStep* steps = nullptr;
  const TableAccess* accesses = nullptr;
  const TableOperand* operands = nullptr;
  std::int64_t dims[table_symbols]{};
  std::int64_t first_row = 0;  ///< on one of several ranks: the number of rows of the batch before its own
  unsigned char* scratch = nullptr;
  std::uint32_t* tickets = nullptr;  ///< zero before and after each step
  std::int32_t tile = 0;             ///< the largest tile of its products (product_parts.hpp), which its code must have
};

/// The rule of a watched value: no element is NaN or infinite; none is NaN; all are NaN or within bounds.
enum class WatchRule : std::int32_t { finite, number, bounds };

/// A value that a launch checks by a rule, behind each run.
struct WatchedValue {
  Place place;
  std::int32_t size = 1;       ///< the number of elements
  std::int32_t flag = 0;       ///< its index in Launch::flags
  std::int32_t is_double = 0;  ///< 0: float
  WatchRule rule = WatchRule::finite;
  double lowest = 0, highest = 0;  ///< of WatchRule::bounds
};

/// One launch: `times` runs of a plan, or some steps of one run.
struct Launch {
  Tables tables;
  unsigned char* const* bases = nullptr;  ///< the base addresses (Place::base) of each run, one run behind the other
  std::int32_t base_count = 0;            ///< of a run
  std::int32_t times = 1;
  std::int32_t first_step = 0, end_step = INT32_MAX;  ///< steps [first_step, end_step) only
  std::int32_t is_node = 0;    ///< 1: a node of a graph, whose edges are the barriers; without steps it checks values
  std::int32_t first_run = 0;  ///< the number of the first run, from 0, for the flags
  const WatchedValue* watched = nullptr;
  std::int32_t watched_count = 0;
  std::int32_t* flags = nullptr;  ///< the first run, from 1, whose watched value violated its rule; 0: none
  /// When the run reaches each step, and its end, in nanoseconds of Block::timer(); null: not measured. The launch is
  /// one run of `end_step` steps.
  std::uint64_t* step_times = nullptr;
  std::uint32_t* barrier = nullptr;  ///< two counters for the barrier of all blocks, zero before and after a launch
};

}  // namespace crochet::cuda
