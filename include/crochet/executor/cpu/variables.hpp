// SPDX-License-Identifier: Apache-2.0
// The variables of an executor: one block of memory, each variable in its layout. Whoever is not a kernel sees them
// row-major: what lies in panels is copied out when it is asked for, and back before the next run if it may have
// changed.
#pragma once
#include <array>

#include <crochet/executor/cpu/initialize.hpp>
#include <crochet/executor/cpu/tables.hpp>
#include <crochet/kernels/team.hpp>

namespace crochet::cpu {

/// T: the tables of the graph. Movable.
template <class T>
class Variables {
  static constexpr std::size_t count = T::variables.size();

 public:
  Variables() { block_.reserve(T::offsets.back() + 1); }

  std::byte* data() const { return block_.data(); }

  /// Gives every variable its first value, from the seed.
  void initialize(std::uint64_t seed) {
    for (std::size_t v = 0; v < count; ++v) {
      const VariableInfo& info = T::variables[v];
      if (info.layout == Layout::row_major) {
        cpu::initialize(place(info), info.dtype, info.size, info.initial, info.name, seed);
      } else {
        cpu::initialize(mirror(v), info.dtype, info.size, info.initial, info.name, seed);
        copy<true>(v);
      }
      written_[v] = false;
    }
    any_written_ = false;
  }

  /// Variable v's elements in row-major order: to read, until the next run.
  void* read(std::size_t v) const {
    const VariableInfo& info = T::variables[v];
    if (info.layout == Layout::row_major) return place(info);
    void* elements = mirror(v);
    if (!written_[v]) copy<false>(v);
    return elements;
  }
  /// The same to overwrite.
  void* write(std::size_t v) {
    void* elements = read(v);
    if (T::variables[v].layout != Layout::row_major) any_written_ = written_[v] = true;
    return elements;
  }
  /// Before a run: what was written since the last one is put where kernels find it. Costs nothing if nothing was.
  void settle() {
    if constexpr (any_panels) put_back();
  }

 private:
  static constexpr bool any_panels = [] {
    for (const VariableInfo& v : T::variables) {
      if (v.layout != Layout::row_major) return true;
    }
    return false;
  }();
  void put_back() {
    if (!any_written_) return;
    for (std::size_t v = 0; v < count; ++v) {
      if (written_[v]) copy<true>(v);
      written_[v] = false;
    }
    any_written_ = false;
  }

  void* place(const VariableInfo& info) const { return block_.data() + info.offset; }
  void* mirror(std::size_t v) const {
    mirrors_[v].reserve(static_cast<std::size_t>(T::variables[v].size) * size_of(T::variables[v].dtype));
    return mirrors_[v].data();
  }

  template <bool Pack>
  void copy(std::size_t v) const {
    if (T::variables[v].dtype == DType::float64) return copy<Pack, double>(v);
    return copy<Pack, float>(v);
  }
  template <bool Pack, class E>
  void copy(std::size_t v) const {
    const VariableInfo& info = T::variables[v];
    auto* panels = static_cast<E*>(place(info));
    auto* rows = reinterpret_cast<E*>(mirrors_[v].data());
    if constexpr (Pack) {
      kernel::pack(rows, info.size / info.columns, info.columns, panels);
    } else {
      kernel::unpack(panels, info.size / info.columns, info.columns, rows);
    }
  }

  kernel::AlignedBytes block_;
  mutable std::array<kernel::AlignedBytes, count> mirrors_;
  std::array<bool, count> written_{};
  bool any_written_ = false;
};

}  // namespace crochet::cpu
