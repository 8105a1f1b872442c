// SPDX-License-Identifier: Apache-2.0
// Checks of the sizes that feeds give to a run: every tensor must be addressable, and no mean may be over no elements.
// The checks run when a dynamic dimension changes. Later products of sizes in a run cannot overflow.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/message.hpp>
#include <crochet/graph/core/graph.hpp>
#include <crochet/graph/ops/arithmetic.hpp>
#include <crochet/graph/ops/reduce.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// The value of a dynamic dimension that no feed has determined yet.
inline constexpr std::int64_t unknown_dim = -1;
/// The dimensions before the first run.
inline constexpr Dims no_dims{unknown_dim, unknown_dim, unknown_dim, unknown_dim};

/// A number of elements that depends on dynamic dimensions, and the placeholder of that size for messages.
struct DynamicSize {
  Extent elements;
  std::string_view placeholder;  ///< its name; empty if no placeholder has this size
};

/// The maximum size of one tensor in bytes: a pebibyte. Sums over the tensors of a plan then fit in 64 bits.
inline constexpr std::int64_t max_tensor_bytes = std::int64_t{1} << 50;

/// Whether `elements` of the widest type take at most max_tensor_bytes. Dimensions of 0 count as 1, as in numpy, so
/// that partial products are in range as well.
constexpr bool can_be_addressed(const Extent& elements, const Dims& dims) {
  std::int64_t bytes = 8;
  if (__builtin_mul_overflow(bytes, elements.factor, &bytes)) return false;
  for (std::size_t s = 0; s < max_symbols; ++s) {
    for (int p = elements.power(s); p > 0; --p) {
      if (dims[s] > 1 && __builtin_mul_overflow(bytes, dims[s], &bytes)) return false;
    }
  }
  return bytes <= max_tensor_bytes;
}

namespace detail {

/// "batch=3, time=7"
CROCHET_COLD inline std::string spell(const Dims& dims, std::span<const std::string_view> symbols) {
  std::string s;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (dims[i] == unknown_dim) continue;
    s.append(s.empty() ? "" : ", ").append(symbols[i]).append("=").append(std::to_string(dims[i]));
  }
  return s;
}

/// Throws ShapeError if a tensor of the graph is too large to be addressed.
CROCHET_COLD inline void check_sizes(std::span<const DynamicSize> sizes, const Dims& dims,
                                     std::span<const std::string_view> symbols) {
  for (const DynamicSize& size : sizes) {
    if (can_be_addressed(size.elements, dims)) continue;
    const bool fed = !size.placeholder.empty();
    throw ShapeError(crochet::detail::message(
        {"crochet: ", fed ? "placeholder '" : "a tensor of the model", fed ? size.placeholder : "", fed ? "'" : "",
         " would have more elements than memory can address, with ", spell(dims, symbols)}));
  }
}

/// Throws ShapeError for a dimension in `powers` that is 0.
[[noreturn]] CROCHET_COLD inline void refuse_nothing(std::uint32_t powers, std::span<const DynamicSize> sizes,
                                                     const Dims& dims, std::span<const std::string_view> symbols) {
  std::string fed;
  for (const DynamicSize& size : sizes) {
    bool empty = false;
    for (std::size_t s = 0; s < max_symbols; ++s) {
      empty = empty || (((powers >> (8 * s)) & 255U) != 0 && size.elements.power(s) > 0 && dims[s] == 0);
    }
    if (!empty || size.placeholder.empty()) continue;
    fed.append(fed.empty() ? "'" : ", '").append(size.placeholder).append("'");
  }
  throw ShapeError(crochet::detail::message(
      {"crochet: the feed of ", fed, " is empty (", spell(dims, symbols),
       "), and this run takes a mean over it; of nothing there is none: leave out empty batches"}));
}

/// Collects the distinct dynamic sizes among the nodes of T::graph, placeholders first. Returns their number.
template <class T>
constexpr std::size_t collect_sizes(DynamicSize* into) {
  std::size_t count = 0;
  const Node* const nodes = T::graph.nodes.data();
  for (std::size_t i = 0; i < T::graph.nodes.size(); ++i) {
    if (nodes[i].is(op::placeholder) && !nodes[i].shape.size().is_static())
      into[count++] = {nodes[i].shape.size(), T::name_of(i)};
  }
  for (std::size_t i = 0; i < T::graph.nodes.size(); ++i) {
    const Extent elements = nodes[i].shape.size();
    bool is_new = !elements.is_static();
    for (std::size_t k = 0; k < count && is_new; ++k) is_new = !(into[k].elements == elements);
    if (is_new) into[count++] = {elements, {}};
  }
  return count;
}

}  // namespace detail

/// The distinct dynamic sizes of the tensors in T::graph.
template <class T>
inline constexpr auto dynamic_sizes = [] {
  constexpr std::size_t nodes = T::graph.nodes.size();
  constexpr auto all = [] {
    std::pair<std::array<DynamicSize, nodes>, std::size_t> found{};
    found.second = detail::collect_sizes<T>(found.first.data());
    return found;
  }();
  std::array<DynamicSize, all.second> some{};
  for (std::size_t k = 0; k < some.size(); ++k) some[k] = all.first[k];
  return some;
}();

/// The dynamic dimensions, as a bit mask, over which plan P computes a mean, or by which it divides, as in the gradient
/// of a mean.
template <class P>
inline constexpr std::uint32_t nonempty_dims = [] {
  std::uint32_t powers = 0;
  const SubgraphView graph = P::selected.view();
  const Node* const nodes = graph.nodes.data();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = nodes[i];
    if (n.is(op::reduce_mean)) {
      const Shape& reduced = nodes[n.inputs[0]].shape;
      for (std::size_t axis = 0; axis < reduced.rank; ++axis) {
        if (((static_cast<unsigned>(n.attributes.ints[0]) >> axis) & 1U) != 0) powers |= reduced.dims[axis].powers;
      }
    } else if (n.is(op::div) && nodes[n.inputs[1]].is(op::count)) {
      for (std::size_t s = 0; s < max_symbols; ++s) {
        powers |= static_cast<std::uint32_t>(nodes[n.inputs[1]].attributes.ints[s]) << (8 * s);
      }
    }
  }
  return powers;
}();

/// Checks the dimensions of a run of plan P. Throws ShapeError. `before`: the valid dimensions of the last run. If they
/// are the same the cost is one comparison, plus a test of each dimension that a mean is computed over.
template <class T, class P>
void check_dims(const Dims& dims, const Dims& before) {
  if constexpr (T::symbols.size() > 0) {
    if (dims != before) [[unlikely]] {
      detail::check_sizes(dynamic_sizes<T>, dims, T::symbols);
    }
    constexpr std::uint32_t powers = nonempty_dims<P>;
    if constexpr (powers != 0) {
      bool empty = false;
      CROCHET_SHORT_LOOP
      for (std::size_t s = 0; s < max_symbols; ++s) {
        if (((powers >> (8 * s)) & 255U) != 0) empty = empty || dims[s] == 0;
      }
      if (empty) [[unlikely]] {
        detail::refuse_nothing(powers, dynamic_sizes<T>, dims, T::symbols);
      }
    }
  }
}

}  // namespace crochet::cpu::CROCHET_ISA
