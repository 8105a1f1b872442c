// SPDX-License-Identifier: Apache-2.0
// The arguments of a kernel: operands, attributes, and the thread's place in the team.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/passes/plan.hpp>
#include <crochet/kernels/types.hpp>
#include <crochet/kernels/worker.hpp>

namespace crochet {

/// The kernel of an operation: specialise crochet::Kernel<&your_op> with one of
/// - `template <class Backend, class Types, class Epilogue> static void run(const kernel::Call&, const Epilogue&)` if
///   the operation has an epilogue (Op::epilogue_rows);
/// - `template <class Backend, class Types> static void run(const kernel::Call&)` otherwise.
///
/// Every thread of the run calls it and computes its part, given by call.worker. Results must not depend on the number
/// of these threads: a floating sum that is divided is divided into parts of its own (worker.hpp).
/// A kernel with an epilogue may receive the compile-time facts that hold for all steps that share its code: it names a
/// type `Paths` (see ProductPaths in cpu/product_paths.hpp), and run() gets a value of it as third template argument.
template <const Op* O>
struct Kernel;

namespace kernel {
class Exchange;
}

namespace kernel::CROCHET_ISA {

/// A tensor in memory, row-major.
struct Operand {
  void* data = nullptr;
  std::size_t rank = 0;
  std::array<std::int64_t, max_rank> extents{};
  Layout layout = Layout::row_major;

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  std::int64_t operator[](std::size_t i) const { return extents[i]; }
  std::int64_t size(std::size_t from = 0) const {
    std::int64_t n = 1;
    CROCHET_SHORT_LOOP
    for (std::size_t i = from; i < rank; ++i) n *= extents[i];
    return n;
  }
};

struct Call {
  std::array<Operand, max_inputs> in;
  Operand out;  ///< kernels with an epilogue use its shape only
  Attributes attributes;
  std::array<std::int64_t, max_symbols> dims{};
  Worker& worker;
  Exchange* exchange = nullptr;  ///< on one of several ranks
};

}  // namespace kernel::CROCHET_ISA
}  // namespace crochet
