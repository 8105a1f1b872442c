// SPDX-License-Identifier: Apache-2.0
// WholeState: the state of a step function on all ranks, for a checkpoint that one of them writes or restores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/executor/step/divided_variable.hpp>
#include <crochet/ranks/rank_group.hpp>

namespace crochet::detail {

/// The part of this rank.
template <class Variable>
PartOfRank part_of(const Variable& variable) {
  PartOfRank part;
  const auto note = [&](std::string_view, auto elements, std::span<const std::int64_t> shape) {
    part.bytes = std::as_writable_bytes(elements);
    part.shape.bytes = static_cast<std::int64_t>(part.bytes.size());
    part.shape.rank = static_cast<std::int64_t>(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) part.shape.extents[i] = shape[i];
  };
  variable.template show<typename Variable::Element>(note);
  return part;
}

/// Variables: those of a StepState, of which some are divided. Keeps the memory of what it reads of all ranks.
template <class... V>
class WholeState {
  using Variables = std::tuple<V...>;

 public:
  /// For RankGroup::set_parts.
  static auto parts_of(const Variables& variables) {
    return [variables](std::size_t number) {
      PartOfRank part;
      std::size_t at = 0;
      std::apply([&](const auto&... v) { ((at++ == number ? void(part = part_of(v)) : void()), ...); }, variables);
      return part;
    };
  }

  /// Visits all variables in the order of their declaration (session/variables.hpp): those that are the same on all
  /// ranks as this rank has them, the others as read of all ranks. Writes of `visit` reach all parts. Spans of elements
  /// are valid until the next visit. IsConst: of a const executor.
  /// Throws ShapeError if parts that are divided by rows differ in other extents, and as RankGroup::read_parts.
  template <bool IsConst, class Ranks, class Visit>
  void visit(Ranks& ranks, const Variables& variables, Visit& visit) {
    wholes_.resize(sizeof...(V));
    visit_each<IsConst>(ranks, variables, visit, std::index_sequence_for<V...>{});
  }

 private:
  template <bool IsConst, class Ranks, class Visit, std::size_t... I>
  void visit_each(Ranks& ranks, const Variables& variables, Visit& visit, std::index_sequence<I...>) {
    (visit_one<IsConst, I>(ranks, std::get<I>(variables), visit), ...);
  }
  template <bool IsConst, std::size_t I, class Ranks, class Variable, class Visit>
  void visit_one(Ranks& ranks, const Variable& variable, Visit& visit) {
    using Element = std::conditional_t<IsConst, const typename Variable::Element, typename Variable::Element>;
    if constexpr (!is_divided<Variable>) {
      variable.template show<Element>(visit);
    } else {
      std::vector<std::byte>& whole = wholes_[I];
      const std::span<const PartShape> parts = ranks.read_parts(I, whole);
      const std::span<Element> elements{reinterpret_cast<Element*>(whole.data()), whole.size() / sizeof(Element)};
      bool written = false;
      if constexpr (Variable::division == Division::by_rows) {
        const PartShape shape = shape_of_all(Variable::name::view(), parts);
        written = visit_may_write(visit, Variable::name::view(), elements, shape.shape());
      } else {
        written = visit_parts(visit, Variable::name::view(), elements, parts);
      }
      if (!IsConst && written) ranks.write_parts(I, whole);
    }
  }

  template <class Visit, class T>
  static bool visit_parts(Visit& visit, std::string_view name, std::span<T> elements,
                          std::span<const PartShape> parts) {
    bool written = false;
    for (std::size_t r = 0; r < parts.size(); ++r) {
      const std::size_t size = static_cast<std::size_t>(parts[r].bytes) / sizeof(T);
      const std::string name_of_part =
          parts.size() == 1 ? std::string(name) : message({name, "/rank_", number(r), "_of_", number(parts.size())});
      written |= visit_may_write(visit, name_of_part, elements.first(size), parts[r].shape());
      elements = elements.subspan(size);
    }
    return written;
  }
  static std::int64_t number(std::size_t n) { return static_cast<std::int64_t>(n); }
  static PartShape shape_of_all(std::string_view name, std::span<const PartShape> parts) {
    PartShape all = parts[0];
    for (std::size_t r = 1; r < parts.size(); ++r) {
      all.extents[0] += parts[r].extents[0];
      for (std::size_t i = 1; i < PartShape::most_extents; ++i) {
        if (parts[r].extents[i] != all.extents[i]) refuse(name, r, i);
      }
    }
    return all;
  }
  [[noreturn]] CROCHET_COLD static void refuse(std::string_view name, std::size_t rank, std::size_t extent) {
    throw ShapeError(
        message({"crochet: the parts of \"", name, "\" on ranks 0 and ", number(rank), " differ in extent ",
                 number(extent), "; ranks divide the rows, extent 0, and have the others in common"}));
  }

  std::vector<std::vector<std::byte>> wholes_;
};

template <class... V>
WholeState<V...> whole_state_of(const std::tuple<V...>&);

}  // namespace crochet::detail
