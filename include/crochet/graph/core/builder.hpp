// SPDX-License-Identifier: Apache-2.0
// GraphBuilder: the interface for a model's `define` and a hook's `extend_graph`.
#pragma once
#include <initializer_list>
#include <string_view>

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/graph.hpp>
#include <crochet/graph/core/initializer.hpp>
#include <crochet/graph/core/name_index.hpp>
#include <crochet/graph/core/sources.hpp>

namespace crochet {

class GraphBuilder;

/// A value of the graph, as used in the code of a model. Two words; valid as long as its GraphBuilder.
struct Tensor {
  GraphBuilder* graph = nullptr;
  int id = -1;

  /// Returned by value, because the graph's table may be reallocated.
  constexpr Shape shape() const;
  constexpr DType dtype() const;
};

/// Builds a graph. Ordinary constexpr code: for a session's model it runs at compile time, in a test also at run time.
/// Misuse ends in graph_error: a compile error at the user's line, or GraphError at run time.
class GraphBuilder {
 public:
  constexpr GraphBuilder() { graph_.names.reserve(64); }
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  /// A dimension whose size is known when the graph is fed. Equal names mean equal sizes.
  constexpr Extent dynamic(std::string_view name) {
    for (const PooledName& s : graph_.symbols) {
      if (graph_.text_of(s) == name) return Extent::symbol(static_cast<std::size_t>(s.node));
    }
    const std::size_t next = graph_.symbols.size();
    if (next == max_symbols) graph_error::too_many_dynamic_dimensions();
    graph_.symbols.push_back(graph_.pool(name, static_cast<int>(next)));
    return Extent::symbol(next);
  }

  /// A value that the caller or a hook feeds.
  template <Element T>
  constexpr Tensor placeholder(std::string_view name, const Shape& shape) {
    return this->name(name, source(op::placeholder, dtype_of<T>, shape));
  }

  /// A value that is kept from step to step and initialised when the session is created. `trainable`: minimize()
  /// updates it. The shape must be static.
  template <Element T>
  constexpr Tensor variable(std::string_view name, const Shape& shape, const Initializer& init, bool trainable = true) {
    return variable(name, dtype_of<T>, shape, init, trainable);
  }
  constexpr Tensor variable(std::string_view name, DType dtype, const Shape& shape, const Initializer& init,
                            bool trainable) {
    if (!shape.size().is_static()) graph_error::variables_have_static_shapes();
    if (shares_variables_ && has(name)) return shared((*this)[name], dtype, shape);
    return this->name(name, source(op::variable, dtype, shape, init.attributes(shape, trainable)));
  }

  /// A constant scalar; it broadcasts. Kept as a double: integers beyond 2^53 are rounded.
  template <Element T>
  constexpr Tensor constant(T value) {
    return constant(dtype_of<T>, static_cast<double>(value));
  }
  constexpr Tensor constant(DType dtype, double value) {
    return source(op::constant, dtype, {}, {.reals = {as_element(dtype, value), 0}});
  }

  /// The number of elements `n` as a scalar; a constant if it is static.
  constexpr Tensor count(const Extent& n, DType dtype) {
    if (n.is_static()) return constant(dtype, static_cast<double>(n.factor));
    Attributes a{.reals = {static_cast<double>(n.factor), 0}};
    for (std::size_t s = 0; s < max_symbols; ++s) a.ints[s] = n.power(s);
    return source(op::count, dtype, {}, a);
  }

  /// Gives a value a name, by which it can be fetched or run as a target. Returns the value.
  constexpr Tensor name(std::string_view name, Tensor t) {
    if (has(name)) graph_error::name_is_taken(name);
    Node& named = graph_.nodes[index(own(t))];
    if (named.name < 0) named.name = static_cast<std::int32_t>(graph_.names.size());
    graph_.names.push_back(graph_.pool(name, t.id));
    index_.add(graph_);
    return t;
  }
  constexpr bool has(std::string_view name) const { return index_.find(graph_, name) >= 0; }
  /// The value with that name, e.g. for a hook's extend_graph to access the model's values.
  constexpr Tensor operator[](std::string_view name) {
    const int id = index_.find(graph_, name);
    if (id < 0) graph_error::no_value_has_this_name(name);
    return {this, id};
  }

  /// Adds an operation: `g.apply(op::add, a, b)`, or with attributes `g.apply(op::conv2d, attributes, image, filter)`.
  /// The operation's rule determines shape and element type.
  // One function without initializer lists, because compilers print every nested call in the error of a wrong model.
  template <class... Argument>
  constexpr Tensor apply(const Op& op, const Argument&... arguments) {
    Node n;
    OpInputs seen;
    n.op = &op;
    (take(arguments, n, seen), ...);
    refuse_arithmetic_on_bfloat16(n);
    const TypedShape result = op.infer(seen);
    n.dtype = result.dtype;
    n.shape = result.shape;
    return add(n);
  }

  /// Adds an operation whose result has a shape chosen and checked by the caller (reshape, broadcast_to, gradients with
  /// the shape of their inputs). The element type is that of the first input.
  constexpr Tensor shaped(const Op& op, std::initializer_list<Tensor> inputs, const Shape& shape,
                          const Attributes& attributes = {}) {
    return shaped_as(op, inputs, inputs.begin()->dtype(), shape, attributes);
  }
  /// As above, with an element type chosen by the caller. There may be no inputs.
  constexpr Tensor shaped_as(const Op& op, std::initializer_list<Tensor> inputs, DType dtype, const Shape& shape,
                             const Attributes& attributes = {}) {
    refuse_negative(shape);
    Node n{.op = &op, .dtype = dtype, .shape = shape, .attributes = attributes};
    std::size_t i = 0;
    for (Tensor t : inputs) n.inputs[i++] = own(t);
    refuse_arithmetic_on_bfloat16(n);
    return add(n);
  }

  /// Assigns `value` to `variable` in runs whose targets or fetched values need the assignment. Returns the new value.
  /// - In such a run, uses of the variable before this line in the model read the old value; later uses and fetches
  ///   read the new one.
  /// - In other runs all uses read the old value: fetching the variable does not cause the assignment.
  /// - Using the returned value does cause it.
  constexpr Tensor assign(Tensor variable, Tensor value) {
    const auto assign_to_part = node(variable).op->assign;
    if (!node(variable).is(op::variable) && assign_to_part == nullptr) graph_error::only_variables_can_be_assigned();
    if (guard_ != nullptr) value = guard_({this, guarded_by_}, value, variable);
    if (assign_to_part != nullptr) return assign_to_part(*this, variable, value);
    return apply(op::assign, variable, value);
  }
  /// From here on assignments write guard(condition, value, variable). With crochet::select the variable keeps its
  /// value unless the condition holds. Null: no guard.
  constexpr void guard_assignments(Tensor (*guard)(Tensor, Tensor, Tensor), Tensor condition) {
    guard_ = guard;
    guarded_by_ = condition.id;
  }

  /// Assigns a value that follows training, such as a moving average. Every optimizer step whose scope contains the
  /// variable runs the assignment, and nothing else does. If gradients are accumulated each of a step's runs does.
  constexpr void assign_in_training(Tensor variable, Tensor value) {
    training_assignments_.push_back(assign(variable, value).id);
  }
  constexpr const ConstexprVector<int>& training_assignments() const { return training_assignments_; }
  /// Whether variable() returns an existing variable of the same name instead of reporting a taken name
  /// (SharedVariables). Returns the previous setting.
  constexpr bool share_variables(bool on) {
    const bool before = shares_variables_;
    shares_variables_ = on;
    return before;
  }
  constexpr bool shares_variables() const { return shares_variables_; }

  /// From here on the graph is that of one rank, which computes a part of the rows of each batch: means and sums over
  /// ranks are operations (graph/ops/over_ranks.hpp). Called before `define`.
  /// `each_run`: gradients that minimize_in_parts() accumulates are exchanged in each run, and not only when they are
  /// applied.
  /// `overlaps`: exchanges of gradients begin and end in steps of their own, with computation between them.
  constexpr void divide_batch(bool each_run = false, bool overlaps = false) {
    divides_batch_ = true, shares_each_run_ = each_run, overlaps_exchanges_ = overlaps;
  }
  /// From here on each of `ranks` ranks updates its part of every large variable, and has that part of the optimizer's
  /// variables only (graph/ops/parts_of_ranks.hpp). Called after divide_batch().
  constexpr void divide_optimizer(int ranks) { optimizer_parts_ = ranks; }
  /// The number of these parts; 0: each rank updates all of a variable.
  constexpr int optimizer_parts() const { return optimizer_parts_; }
  /// States that `part`, a variable, has a rank's part of a value for each element of `whole`, a variable.
  constexpr void note_part(Tensor part, Tensor whole) {
    graph_.nodes[index(own(part))].attributes.ints[whole_of_part] = own(whole) + 1;
  }
  /// States that every rank has a value of `variable` of its own.
  constexpr void note_own_of_rank(Tensor variable) {
    graph_.nodes[index(own(variable))].attributes.ints[own_of_rank] = 1;
  }
  /// Indices in ints of the attributes of op::variable: 1 + the number of the node of note_part(), or 0; and whether
  /// note_own_of_rank() was called.
  static constexpr std::size_t whole_of_part = 7, own_of_rank = 6;
  /// Whether a variable with these attributes has other values on every rank.
  static constexpr bool is_of_one_rank(const Attributes& a) {
    return a.ints[whole_of_part] != 0 || a.ints[own_of_rank] != 0;
  }
  constexpr bool divides_batch() const { return divides_batch_; }
  constexpr bool shares_each_run() const { return shares_each_run_; }
  constexpr bool overlaps_exchanges() const { return overlaps_exchanges_; }
  /// The number of nodes that the model has so far on one machine. Nodes that only a divided graph has do not count, so
  /// that random numbers are the same.
  constexpr int position() const { return size() - more_nodes_; }
  constexpr void set_position(int position) { more_nodes_ = size() - position; }
  /// Moves a name to another value: from here on the name means that value.
  constexpr void rename(std::size_t name, Tensor t) { graph_.names[name].node = own(t); }

  constexpr const Node& node(Tensor t) const { return graph_.nodes[index(t.id)]; }
  constexpr const Node& node(int id) const { return graph_.nodes[index(id)]; }
  constexpr int size() const { return static_cast<int>(graph_.nodes.size()); }
  constexpr std::string_view name_of(int id) const { return name_of_node(graph_, id); }
  /// The graph built so far.
  constexpr const Graph& graph() const { return graph_; }
  /// Adds a copy of a node that reads variables as of node `original`.
  constexpr Tensor repeat(Node n, int original) {
    n.moment = node(original).moment < 0 ? original : node(original).moment;
    return {this, graph_.add(n)};
  }

  /// From here on nodes read variables as of node `moment`, as gradients do. -1: as of their own position.
  constexpr void read_variables_as_at(int moment) { moment_ = moment; }

 private:
  static constexpr std::size_t index(int id) { return static_cast<std::size_t>(id); }

  constexpr void take(const Attributes& attributes, Node& n, OpInputs& seen) const {
    n.attributes = seen.attributes = attributes;
  }
  constexpr void take(Tensor input, Node& n, OpInputs& seen) const {
    if (seen.count == max_inputs) graph_error::too_many_inputs();
    n.inputs[seen.count] = own(input);
    seen.in[seen.count++] = &node(input);
  }
  constexpr Tensor add(Node n) {
    n.moment = moment_;
    return {this, graph_.add(n)};
  }
  constexpr void refuse_arithmetic_on_bfloat16(const Node& n) const {
    if (n.op->accepts_bfloat16 || n.op->kind == OpKind::view || n.op->kind == OpKind::group) return;
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      if (node(n.inputs[k]).dtype == DType::bfloat16) graph_error::bfloat16_is_for_storage(n.op->name);
    }
  }
  constexpr Tensor shared(Tensor v, DType dtype, const Shape& shape) const {
    const Node& n = node(v);
    if (!n.is(op::variable) || n.dtype != dtype || !(n.shape == shape)) graph_error::shared_variable_differs();
    return v;
  }
  constexpr Tensor source(const Op& op, DType dtype, const Shape& shape, const Attributes& attributes = {}) {
    refuse_negative(shape);
    return add({.op = &op, .dtype = dtype, .shape = shape, .attributes = attributes});
  }
  /// The value that an element of the type has; passes compute with it.
  static constexpr double as_element(DType dtype, double value) {
    if (dtype == DType::bfloat16) return static_cast<double>(float{bfloat16(value)});
    const bool is_integer = !is_floating(dtype) && dtype != DType::boolean;
    const bool has_fraction = value > -0x1p53 && value < 0x1p53;  // or may have one
    return is_integer && has_fraction ? static_cast<double>(static_cast<std::int64_t>(value)) : value;
  }
  static constexpr void refuse_negative(const Shape& shape) {
    for (std::size_t i = 0; i < shape.rank; ++i) {
      if (shape[i].factor < 0) graph_error::dimension_is_negative();
    }
  }
  constexpr int own(Tensor t) const {
    if (t.graph != this) graph_error::tensors_of_different_graphs();
    return t.id;
  }

  Graph graph_;
  detail::NameIndex index_;
  int moment_ = -1;
  Tensor (*guard_)(Tensor, Tensor, Tensor) = nullptr;
  int guarded_by_ = -1;
  ConstexprVector<int> training_assignments_;
  bool shares_variables_ = false;
  bool divides_batch_ = false, shares_each_run_ = false, overlaps_exchanges_ = false;
  int optimizer_parts_ = 0;
  int more_nodes_ = 0;
};

constexpr Shape Tensor::shape() const { return graph->node(*this).shape; }
constexpr DType Tensor::dtype() const { return graph->node(*this).dtype; }

}  // namespace crochet
