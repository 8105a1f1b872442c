// SPDX-License-Identifier: Apache-2.0
// What an operation is: a named object with a shape rule and a gradient rule. Its kernels are specialisations found by
// the object's address (kernels/), so that a new operation touches no list.
#pragma once
#include <cstdint>
#include <string_view>

#include <crochet/graph/core/dtype.hpp>
#include <crochet/graph/core/layout.hpp>
#include <crochet/graph/core/shape.hpp>

namespace crochet {

class GradientScope;
struct OpInputs;

/// How the executor treats an operation.
enum class OpKind : std::uint8_t {
  source,       ///< placeholder, variable, constant: no work in a step
  elementwise,  ///< one value per element of the result; fused into loops, an `Elementwise` functor says which value
  kernel,       ///< has a `Kernel` of its own
  view,         ///< the same elements under another shape
  assign,       ///< writes its second input into the variable that is its first
  group         ///< stands for all its inputs
};

/// What one use of an operation fixes beside its inputs; each operation documents the meaning it gives them.
struct Attributes {
  std::int32_t ints[8]{};
  double reals[2]{};
  friend constexpr bool operator==(const Attributes&, const Attributes&) = default;
};

struct TypedShape {
  DType dtype = DType::float32;
  Shape shape;
};

/// Values of Op::epilogue_rows.
inline constexpr std::int8_t no_epilogue = -1, all_but_last = -2;

/// An operation. Define it as `inline constexpr Op my_op{...}`: its address is its identity.
struct Op {
  std::string_view name;
  OpKind kind = OpKind::kernel;
  /// The result's element type and shape; reports misuse through graph_error. Null for sources.
  TypedShape (*infer)(const OpInputs&) = nullptr;
  /// Gives each input that wants one its gradient. Null: no gradient passes.
  void (*gradient)(GradientScope&) = nullptr;
  /// A kernel that hands its results to an epilogue (the elementwise operations fused behind it) sees them as rows and
  /// columns: this many leading dimensions make the rows, or all_but_last. no_epilogue: it stores its result itself.
  std::int8_t epilogue_rows = no_epilogue;
  /// Which inputs are taken item by item: bit k is set if item i of the result (its index along dimension 0) is made
  /// from item i of input k, and of the other inputs as a whole. Input and result then have the same number of items,
  /// or numbers of which one divides the other. Null, or 0: the result cannot be made item by item. A kernel that says
  /// so may be called for a range of items at a time, with operands that begin there. Elementwise operations need not
  /// say: their shapes do.
  unsigned (*itemwise)(const Attributes&) = nullptr;
  /// Which inputs its kernel also takes in panels (Layout): bit k for input k. A variable that only such inputs and
  /// elementwise operations read lives in panels.
  unsigned panel_inputs = 0;
  /// Whether it joins elements along some axes (attributes: ints[0] = mask of these axes, ints[1] = whether they stay
  /// as dimensions of 1) as its kernel::Reduction says. A loop that makes its input can then do so on the way.
  bool reduces = false;

  constexpr bool has_epilogue() const { return epilogue_rows != no_epilogue; }
  /// How many leading dimensions of a result of this rank make the epilogue's rows.
  constexpr std::size_t row_dimensions(std::size_t rank) const {
    return epilogue_rows == all_but_last ? rank - 1 : static_cast<std::size_t>(epilogue_rows);
  }
};

inline constexpr std::size_t max_inputs = 6;

/// One row of the graph's table.
struct Node {
  const Op* op = nullptr;
  DType dtype = DType::float32;
  Layout layout = Layout::row_major;  ///< of a variable, and of what is assigned to it
  Shape shape;
  std::int32_t inputs[max_inputs] = {-1, -1, -1, -1, -1, -1};
  Attributes attributes;
  std::int32_t name = -1;    ///< which of the graph's names is its first; -1: it has none
  std::int32_t origin = -1;  ///< after passes: the node of the model's graph that it is, or helps to compute; -1: none
  std::int32_t moment =
      -1;  ///< reads variables as they are at this node of the graph; -1: as they are at its own place

  // NOLINTNEXTLINE(google-explicit-constructor): shape rules pass an input's type on
  constexpr operator TypedShape() const { return {dtype, shape}; }
  constexpr bool is(const Op& o) const { return op == &o; }
  friend constexpr bool operator==(const Node& a, const Node& b) {
    for (std::size_t i = 0; i < max_inputs; ++i) {
      if (a.inputs[i] != b.inputs[i]) return false;
    }
    return a.op == b.op && a.dtype == b.dtype && a.shape == b.shape && a.attributes == b.attributes;
  }
};

/// What a shape rule sees.
struct OpInputs {
  const Node* in[max_inputs]{};
  std::size_t count = 0;
  Attributes attributes;

  /// The i-th input: its `dtype` and its `shape`.
  constexpr const Node& operator[](std::size_t i) const { return *in[i]; }
  constexpr const Shape& shape(std::size_t i) const { return in[i]->shape; }
  constexpr void want_rank(std::size_t i, std::size_t rank) const {
    const std::size_t given = in[i]->shape.rank;
    if (given != rank) graph_error::wrong_rank(static_cast<std::int64_t>(rank), static_cast<std::int64_t>(given));
  }
  constexpr void want_floating(std::size_t i) const {
    if (!is_floating(in[i]->dtype)) graph_error::element_type_not_supported();
  }
  constexpr void want_same_type(std::size_t i, std::size_t j) const {
    if (in[i]->dtype != in[j]->dtype) graph_error::element_types_differ();
  }
};

}  // namespace crochet
