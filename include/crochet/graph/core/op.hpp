// SPDX-License-Identifier: Apache-2.0
// Operations: a named object with a shape rule and a gradient rule. The object's address selects its kernels, which are
// template specialisations (kernels/), so a new operation needs no registration.
#pragma once
#include <cstdint>
#include <string_view>

#include <crochet/graph/core/dtype.hpp>
#include <crochet/graph/core/layout.hpp>
#include <crochet/graph/core/shape.hpp>

namespace crochet {

class GradientScope;
class GraphBuilder;
struct Tensor;
struct OpInputs;

/// The kind of an operation, which determines how the executor runs it.
enum class OpKind : std::uint8_t {
  source,       ///< placeholder, variable, constant: no work in a step
  elementwise,  ///< one value per element of the result, computed by an `Elementwise` functor; fused into loops
  kernel,       ///< has a `Kernel`
  view,         ///< the same elements with another shape
  assign,       ///< writes its second input to the variable that is its first
  group         ///< represents all its inputs
};

/// The parameters of one use of an operation. Each operation documents their meaning.
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
  /// The result's element type and shape. Reports misuse through graph_error. Null for sources.
  TypedShape (*infer)(const OpInputs&) = nullptr;
  /// Adds the gradient of each input that needs one. Null: no gradient flows.
  void (*gradient)(GradientScope&) = nullptr;
  /// For a kernel with an epilogue (fused elementwise operations): the number of leading dimensions of the result that
  /// form the rows of the epilogue, or all_but_last. no_epilogue: the kernel stores its result itself.
  std::int8_t epilogue_rows = no_epilogue;
  /// The inputs that are split into items. Bit k is set if item i of the result (index i along dimension 0) depends on
  /// item i of input k only, and on other inputs as a whole.
  /// - The numbers of items of input and result are equal, or one divides the other.
  /// - Null or 0: the result cannot be computed item by item.
  /// - Otherwise the kernel may be called for a range of items, with operands that begin there.
  /// - Not needed for elementwise operations, whose shapes determine it.
  unsigned (*itemwise)(const Attributes&) = nullptr;
  /// The inputs that the kernel also accepts in panels (Layout): bit k for input k. A variable read only by such inputs
  /// and by elementwise operations is stored in panels.
  unsigned panel_inputs = 0;
  /// Whether it reduces along some axes by its kernel::Reduction (attributes: ints[0] = mask of these axes, ints[1] =
  /// whether they are kept as dimensions of 1). The loop that computes its input can then include the reduction.
  bool reduces = false;
  /// For an operation whose result is a part of a variable: assigns a value to that part, in the graph. Null: its
  /// result cannot be assigned to.
  Tensor (*assign)(GraphBuilder&, Tensor part, Tensor value) = nullptr;
  /// Whether its inputs may be bfloat16: it moves or converts elements, or sums them as floats.
  bool accepts_bfloat16 = false;

  constexpr bool has_epilogue() const { return epilogue_rows != no_epilogue; }
  /// The number of leading dimensions that form the epilogue's rows, for a result of this rank.
  constexpr std::size_t row_dimensions(std::size_t rank) const {
    return epilogue_rows == all_but_last ? rank - 1 : static_cast<std::size_t>(epilogue_rows);
  }
};

namespace detail {
constexpr Op accepting_bfloat16(Op op) {
  op.accepts_bfloat16 = true;
  return op;
}
}  // namespace detail

inline constexpr std::size_t max_inputs = 6;

/// One row of the graph's table.
struct Node {
  const Op* op = nullptr;
  DType dtype = DType::float32;
  Layout layout = Layout::row_major;  ///< of a variable, and of values assigned to it
  Shape shape;
  std::int32_t inputs[max_inputs] = {-1, -1, -1, -1, -1, -1};
  Attributes attributes;
  std::int32_t name = -1;    ///< the index of its first name in the graph; -1: none
  std::int32_t origin = -1;  ///< after passes: the node of the model's graph that it is, or helps to compute; -1: none
  std::int32_t moment = -1;  ///< reads variables as of this node of the graph; -1: as of its own position

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

/// The arguments of a shape rule.
struct OpInputs {
  const Node* in[max_inputs]{};
  std::size_t count = 0;
  Attributes attributes;

  /// The i-th input; has `dtype` and `shape`.
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
