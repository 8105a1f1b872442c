// SPDX-License-Identifier: Apache-2.0
// The variables of an executor: one block of memory, with each variable in its layout. All code except kernels accesses
// them row-major: a variable in panels is copied out on access, and back before the next run if it may have changed.
// Each variable has a flag for whether it has a value.
#pragma once
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/message.hpp>
#include <crochet/executor/plan/initialize.hpp>
#include <crochet/executor/plan/tables.hpp>
#include <crochet/kernels/team.hpp>

namespace crochet::cpu::CROCHET_ISA {

namespace detail {
inline std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all.append(all.empty() ? "" : ", ").append(name);
  return all;
}
}  // namespace detail

/// T: the tables of the graph. Movable.
template <class T>
class Variables {
  static constexpr std::size_t count = T::variables.size();

 public:
  Variables() {
    block_.reserve(T::offsets.back() + 1, "the variables of a model");
    std::memset(block_.data(), 0, T::offsets.back() + 1);
  }

  std::byte* data() const { return block_.data(); }

  /// Gives every variable its initial value, from the seed.
  CROCHET_COLD void initialize(std::uint64_t seed) {
    for (std::size_t v = 0; v < count; ++v) {
      const VariableInfo& info = T::variables[v];
      if (info.layout == Layout::row_major) {
        cpu::initialize(place(info), info.dtype, info.size, info.initial, info.name, seed);
      } else {
        cpu::initialize(mirror(v), info.dtype, info.size, info.initial, info.name, seed);
        pack(v);
      }
      written_[v] = false;
      initialized_[v] = true;
    }
    settled_ = true;
  }

  /// Variable v's elements in row-major order, for reading. Valid until the next run. The memory is kept: a caller that
  /// reads it later finds old elements.
  void* read(std::size_t v) const {
    lent_[v] = lent_[v] || T::variables[v].layout != Layout::row_major;
    return rows(v);
  }
  /// As read(), for overwriting; the variable then has a value.
  void* write(std::size_t v) {
    void* elements = read(v);
    initialized_[v] = true;
    if (T::variables[v].layout != Layout::row_major) {
      written_[v] = true;
      settled_ = false;
    }
    return elements;
  }
  /// Before a run of the plan P: copies values written since the last run to the kernels' memory. Throws
  /// UninitializedError if P reads a variable without a value. Costs one test of a flag if every variable has a value
  /// and nothing was written.
  template <class P>
  void settle() {
    if constexpr (count > 0) {
      if (!settled_) [[unlikely]] {
        put_back();
        require_values(P::nodes_of_variables);
      }
    }
  }

  /// The same for every plan: throws UninitializedError if any variable has no value. Then settle() of a run writes
  /// nothing, until a variable is written.
  void settle_all() {
    if (settled_) return;
    put_back();
    if (const auto missing = uninitialized(); !missing.empty()) refuse(missing);
  }

  /// Whether every variable has a value.
  bool initialized() const {
    for (const bool yes : initialized_) {
      if (!yes) return false;
    }
    return true;
  }
  /// The names of the variables without a value.
  std::vector<std::string> uninitialized() const {
    std::vector<std::string> names;
    for (std::size_t v = 0; v < count; ++v) {
      if (!initialized_[v]) names.emplace_back(T::variables[v].name);
    }
    return names;
  }

  /// Calls `visit(name, std::span<const T>, shape)` for every variable. Throws UninitializedError if one has no value.
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (const auto missing = uninitialized(); !missing.empty()) refuse(missing);
    for (std::size_t v = 0; v < count; ++v) {
      with_elements<const void>(v, rows(v), visit);
    }
  }
  /// The same, with the elements in a copy of data(). All variables must be row-major.
  template <class Visit>
  void for_each_in(const std::byte* block, Visit&& visit) const {
    if (const auto missing = uninitialized(); !missing.empty()) refuse(missing);
    for (std::size_t v = 0; v < count; ++v) {
      with_elements<const void>(v, static_cast<const void*>(block + T::variables[v].offset), visit);
    }
  }
  /// Calls `visit(name, std::span<T>, shape)` for every variable. If it returns false the variable is unchanged;
  /// otherwise it has a value now.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::size_t v = 0; v < count; ++v) {
      if (with_elements<void>(v, rows(v), visit)) write_over(v);
    }
  }

 private:
  CROCHET_COLD void put_back() {
    for (std::size_t v = 0; v < count; ++v) {
      if (written_[v]) pack(v);
      written_[v] = false;
    }
    settled_ = initialized();
  }
  template <class Nodes>
  CROCHET_COLD void require_values(const Nodes& nodes) const {
    std::vector<std::string> missing;
    for (std::size_t v = 0; v < count; ++v) {
      bool is_read = false;
      for (const auto node : nodes) is_read = is_read || node == T::variables[v].node;
      if (is_read && !initialized_[v]) missing.emplace_back(T::variables[v].name);
    }
    if (!missing.empty()) refuse(missing);
  }
  [[noreturn]] CROCHET_COLD static void refuse(const std::vector<std::string>& missing) {
    throw UninitializedError(crochet::detail::message(
        {"crochet: ", detail::joined(missing), missing.size() == 1 ? " has" : " have",
         " no value yet; call initialize(), restore a checkpoint or write every element first"}));
  }
  void write_over(std::size_t v) {
    initialized_[v] = true;
    if (T::variables[v].layout != Layout::row_major) written_[v] = true;
    settled_ = false;
  }

  template <class Void, class Visit>
  static bool with_elements(std::size_t v, Void* elements, Visit&& visit) {
    switch (T::variables[v].dtype) {
      case DType::float32:
        return visit_one<float>(v, elements, visit);
      case DType::float64:
        return visit_one<double>(v, elements, visit);
      case DType::int32:
        return visit_one<std::int32_t>(v, elements, visit);
      case DType::int64:
        return visit_one<std::int64_t>(v, elements, visit);
      case DType::uint8:
        return visit_one<std::uint8_t>(v, elements, visit);
      case DType::boolean:
        return visit_one<bool>(v, elements, visit);
      case DType::bfloat16:
        // Only where it is used, since each visit adds code to the program.
        if constexpr (has_bfloat16) return visit_one<bfloat16>(v, elements, visit);
        break;
    }
    return false;
  }
  template <class E, class Void, class Visit>
  static bool visit_one(std::size_t v, Void* elements, Visit&& visit) {
    using X = std::conditional_t<std::is_const_v<Void>, const E, E>;
    const VariableInfo& info = T::variables[v];
    const std::span<X> all(static_cast<X*>(elements), static_cast<std::size_t>(info.size));
    const std::span<const std::int64_t> shape(info.extents.data(), info.rank);
    if constexpr (std::is_void_v<decltype(visit(info.name, all, shape))>) {
      visit(info.name, all, shape);
      return true;
    } else {
      return visit(info.name, all, shape);
    }
  }

  void* place(const VariableInfo& info) const { return block_.data() + info.offset; }
  void* rows(std::size_t v) const {
    const VariableInfo& info = T::variables[v];
    return info.layout == Layout::row_major ? place(info) : unpacked(v);
  }
  CROCHET_COLD void* unpacked(std::size_t v) const {
    void* elements = mirror(v);
    if (!written_[v]) copy<false>(v);
    return elements;
  }
  void* mirror(std::size_t v) const {
    mirrors_[v].reserve(static_cast<std::size_t>(T::variables[v].size) * size_of(T::variables[v].dtype),
                        "a variable's elements");
    return mirrors_[v].data();
  }

  /// Frees the mirror, unless a caller may have its address: else all variables would be in memory twice.
  CROCHET_COLD void pack(std::size_t v) {
    copy<true>(v);
    if (!lent_[v]) mirrors_[v] = {};
  }

  /// Whether there are variables of the type, in panels only or in any layout.
  static constexpr bool exists(DType type, bool in_panels) {
    for (const VariableInfo& v : T::variables) {
      if (v.dtype == type && !(in_panels && v.layout == Layout::row_major)) return true;
    }
    return false;
  }
  static constexpr bool has_bfloat16 = exists(DType::bfloat16, false);
  template <bool Pack>
  void copy(std::size_t v) const {
    if constexpr (exists(DType::float64, true)) {
      if (T::variables[v].dtype == DType::float64) return copy<Pack, double>(v);
    }
    if constexpr (exists(DType::bfloat16, true)) {
      if (T::variables[v].dtype == DType::bfloat16) return copy<Pack, bfloat16>(v);
    }
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
  // A vector instead of an array: an executor is movable, and moving many elements is much code.
  mutable std::vector<kernel::AlignedBytes> mirrors_ = std::vector<kernel::AlignedBytes>(count);
  mutable std::array<bool, count> lent_{};  // whether a caller may have the address of the mirror
  std::array<bool, count> written_{};
  std::array<bool, count> initialized_{};
  bool settled_ = false;  // nothing to copy back, and every variable has a value
};

}  // namespace crochet::cpu::CROCHET_ISA
