// SPDX-License-Identifier: Apache-2.0
// The arguments of a kernel on a device, and of a step's program.
#pragma once
#include <cstddef>
#include <utility>

#include <crochet/kernels/cuda/block.hpp>
#include <crochet/kernels/program.hpp>
#include <crochet/kernels/types.hpp>

namespace crochet::cuda {

/// The kernel of an operation on a device: specialise it for your operation. It has
/// - `template <class Types, class Block, class Epilogue> static void run(Block&, const Call&, const Epilogue&)`. Every
///   thread of every block calls it. Types: the element types of the result and of the operands. Without an epilogue
///   (Op::epilogue_rows) the last argument is a NoEpilogue;
/// - if it needs memory beside its operands, `static constexpr Room room(const Sizes&)` (room.hpp).
template <const Op* O>
struct Kernel;

/// The last argument of a kernel that stores its result itself.
struct NoEpilogue {};

/// The memory of one run of a launch.
struct Memory {
  unsigned char* const* bases;

  CROCHET_DEVICE_INLINE void* at(const Place& p) const { return p.base < 0 ? nullptr : bases[p.base] + p.offset; }
};

/// A tensor in memory, row-major.
struct Operand {
  void* data;
  const TableOperand& of;

  template <class T>
  CROCHET_DEVICE_INLINE T* as() const {
    return static_cast<T*>(data);
  }
  CROCHET_DEVICE_INLINE int rank() const { return of.rank; }
  CROCHET_DEVICE_INLINE int operator[](int i) const { return of.extents[i]; }
  CROCHET_DEVICE_INLINE int size() const { return of.size; }
  /// The product of extents [from, to).
  CROCHET_DEVICE_INLINE int product(int from, int to) const {
    int n = 1;
    CROCHET_DEVICE_UNROLL(1)
    for (int i = from; i < to; ++i) n *= of.extents[i];
    return n;
  }
  /// The last dimension.
  CROCHET_DEVICE_INLINE int columns() const { return of.rank == 0 ? 1 : of.extents[of.rank - 1]; }
};

/// A step at the sizes of a run.
struct Call {
  const Tables& tables;
  const TableStep& step;
  Memory memory;

  CROCHET_DEVICE_INLINE Operand out() const { return operand(0); }
  CROCHET_DEVICE_INLINE Operand in(int i) const { return operand(1 + i); }
  CROCHET_DEVICE_INLINE int attribute(int i) const { return step.ints[i]; }
  CROCHET_DEVICE_INLINE double real(int i) const { return step.reals[i]; }
  CROCHET_DEVICE_INLINE int first() const { return step.first_block; }
  template <class T>
  CROCHET_DEVICE_INLINE T* scratch() const {
    return reinterpret_cast<T*>(tables.scratch + step.scratch);
  }
  CROCHET_DEVICE_INLINE std::uint32_t* ticket(int i = 0) const { return tables.tickets + step.ticket + i; }

 private:
  CROCHET_DEVICE_INLINE Operand operand(int i) const {
    const TableOperand& of = tables.operands[step.first_operand + i];
    return {memory.at(of.place), of};
  }
};

/// The memory of a program's accesses.
template <class R>
struct RefsOf;
template <std::size_t... I, class... R>
struct RefsOf<kernel::RefSlots<std::index_sequence<I...>, R...>> {
  using Refs = kernel::RefSlots<std::index_sequence<I...>, R...>;
  CROCHET_DEVICE_INLINE static Refs make(const Call& call) {
    Refs refs;
    (set<R>(static_cast<kernel::RefSlot<I, R>&>(refs).ref, call,
            call.tables.accesses[call.step.first_access + static_cast<int>(I)]),
     ...);
    return refs;
  }

 private:
  template <class Ref>
  CROCHET_DEVICE_INLINE static void set(Ref& ref, const Call& call, const TableAccess& access) {
    ref.data = static_cast<decltype(ref.data)>(call.memory.at(access.place));
    ref.pitch = access.pitch;
  }
};

}  // namespace crochet::cuda
