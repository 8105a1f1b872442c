// SPDX-License-Identifier: Apache-2.0
// One run as probes see it: the run itself, sources before its steps, watched values after the steps, and
// assigned values at the end.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/plan/step_facts.hpp>
#include <crochet/executor/plan/variables.hpp>
#include <crochet/executor/plan/watched.hpp>
#include <crochet/graph/names/node_names.hpp>
#include <crochet/graph/probe/probe_calls.hpp>

namespace crochet::cpu::CROCHET_ISA {

namespace detail {

/// A node's type, for the running program.
struct ShownType {
  DType dtype = DType::float32;
  Shape shape;
};

/// A tensor at the sizes of the run; stores its extents.
class ShownTensor {
 public:
  ShownTensor(std::int32_t node, const ShownType& type, const void* data, const Dims& dims)
      : node_(node), dtype_(type.dtype), rank_(type.shape.rank), data_(data) {
    bytes_ = size_of(type.dtype);
    for (std::size_t i = 0; i < rank_; ++i) {
      extents_[i] = type.shape[i].at(dims);
      bytes_ *= static_cast<std::size_t>(extents_[i]);
    }
  }
  ProbedTensor view() const {
    return {node_, 0, dtype_, {static_cast<const std::byte*>(data_), bytes_}, {extents_.data(), rank_}};
  }

 private:
  std::int32_t node_;
  DType dtype_;
  std::size_t rank_, bytes_ = 0;
  std::array<std::int64_t, max_rank> extents_{};
  const void* data_;
};

/// A constant as bytes of its type.
inline std::array<std::byte, 8> constant_bytes(DType type, double value) {
  std::array<std::byte, 8> bytes{};
  const auto put = [&](auto x) { std::memcpy(bytes.data(), &x, sizeof x); };
  if (type == DType::float32) put(static_cast<float>(value));
  if (type == DType::float64) put(value);
  if (type == DType::int32) put(static_cast<std::int32_t>(value));
  if (type == DType::int64) put(static_cast<std::int64_t>(value));
  if (type == DType::uint8) put(static_cast<std::uint8_t>(value));
  if (type == DType::boolean) put(value != 0);
  if (type == DType::bfloat16) put(bfloat16(value));
  return bytes;
}

/// The names of an executor's nodes, computed once.
template <class E>
std::span<const std::string_view> node_names_of() {
  static const std::vector<std::string> names = node_names(graph_table<E>());
  static const std::vector<std::string_view> views(names.begin(), names.end());
  return {views.data(), views.size()};
}

template <class Name>
struct NamesOfDemand;
template <class... N, class... R>
struct NamesOfDemand<Demand<Names<N...>, Names<R...>>> {
  static constexpr std::array<std::string_view, sizeof...(N)> fetches{N::view()...};
  static constexpr std::array<std::string_view, sizeof...(R)> targets{R::view()...};
  template <class T>
  static constexpr std::array<std::int32_t, sizeof...(N)> fetch_nodes{T::template node_id<N>...};
  template <class T>
  static constexpr std::array<std::int32_t, sizeof...(R)> target_nodes{T::template node_id<R>...};
};

}  // namespace detail

/// What a run is shown with, besides its steps.
struct RunFacts {
  int members = 1;
  std::size_t workspace_bytes = 0;
  ProbedDevice device{};
};

/// Makes values readable on the host before they are shown: those of the CPU's runs are.
struct ValuesInPlace {
  void variable(std::size_t /*index*/) const {}
  void slot(std::size_t /*index*/, std::size_t /*bytes*/) const {}
  void feed(std::size_t /*node*/, std::size_t /*bytes*/) const {}
};

/// T: the tables, E: the executor, Plan: what runs, Plain: the plan without watches, Watch: the WatchedNodes, D: the
/// Demand.
template <class T, class E, class Plan, class Plain, class Watch, class D>
class ProbedRunOf {
  static constexpr std::size_t steps = Plan::plan.step_count;
  static constexpr std::size_t fetches = detail::NamesOfDemand<D>::fetches.size();
  static constexpr std::size_t count = Watch::nodes.size();
  static constexpr const auto& graph = T::graph;

  static constexpr auto behind_step = [] {
    if constexpr (count > 0) {
      return Plan::template shown_behind<Watch>;
    } else {
      return std::array<int, 0>{};
    }
  }();
  static constexpr std::size_t count_behind(int step) {
    std::size_t n = 0;
    for (const int s : behind_step) n += s == step ? 1U : 0U;
    return n;
  }
  /// The indices in Watch::nodes of the values shown after a step, in the graph's order.
  template <int Step>
  static constexpr auto shown = [] {
    std::array<std::size_t, count_behind(Step)> list{};
    std::size_t n = 0;
    for (std::size_t k = 0; k < behind_step.size(); ++k) {
      if (behind_step[k] == Step) list[n++] = k;
    }
    return list;
  }();

 public:
  template <std::size_t Step>
  static constexpr bool any = count_behind(static_cast<int>(Step)) > 0;

  template <class Frame>
  ProbedRunOf(const Frame& frame, const Variables<T>& variables)
      : variables_(variables),
        dims_(frame.dims),
        block_(frame.variables),
        slots_(frame.slots),
        placeholders_(frame.placeholders.data()) {}

  /// Calls on_run_begin, then shows sources and values that no step computes. Copies: as ValuesInPlace, called for each
  /// value that a probe takes.
  template <class Probes, class Facts, class... N, class... X, class Copies = ValuesInPlace>
  void begin(const Probes& probes, const Facts& facts, const RunFacts& about, crochet::detail::List<Feed<N, X>...>,
             const Copies& copies = {}) {
    using Wanted = detail::NamesOfDemand<D>;
    static constexpr std::array<std::string_view, sizeof...(N)> feeds{N::view()...};
    const auto& request = probes.request();
    ProbedRun run;
    run.graph = graph_table<E>();
    run.node_names = detail::node_names_of<E>();
    run.steps = facts.steps;
    run.members = about.members;
    run.device = about.device;
    run.step = request.step;
    run.caller_fetches = request.fetches, run.caller_targets = request.targets, run.caller_feeds = request.feeds;
    run.fetches = Wanted::fetches, run.targets = Wanted::targets, run.feeds = feeds;
    run.fetch_nodes = Wanted::template fetch_nodes<T>, run.target_nodes = Wanted::template target_nodes<T>;
    run.variable_bytes = T::offsets.back();
    run.workspace_bytes = about.workspace_bytes;
    run.slots = facts.slots;
    for (std::size_t s = 0; s < max_symbols; ++s) run.dims[s] = dims_[s] < 0 ? 0 : dims_[s];
    probes.each([&](auto& probe) { crochet::detail::show_run_begin(probe, run); });
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      // An array instead of a fold expression: clang nests folds and limits their depth to 256.
      [[maybe_unused]] const bool done[] = {true, (show_source<K, N...>(probes, copies), true)...};
    }
    (std::make_index_sequence<Watch::sources.size()>{});
    show_list<-1>(probes, copies);
  }
  /// Shows the values that are complete after a step.
  template <std::size_t Step, class Probes, class Copies = ValuesInPlace>
  void behind(const Probes& probes, const Copies& copies = {}) const {
    show_list<static_cast<int>(Step)>(probes, copies);
  }
  /// Shows assigned values, then calls on_run_end.
  template <class Probes, class Copies = ValuesInPlace>
  void end(const Probes& probes, const Copies& copies = {}) const {
    show_list<static_cast<int>(steps)>(probes, copies);
    probes.each([](auto& probe) { crochet::detail::show_run_end(probe); });
  }

 private:
  /// The value of watched node number K.
  template <std::size_t K>
  static constexpr Value value_of = Plan::plan.values[static_cast<std::size_t>(Plan::plan.fetched[fetches + K])];

  template <std::size_t Node>
  static constexpr detail::ShownType type_of{graph.nodes[Node].dtype, graph.nodes[Node].shape};

  /// copy(): makes the value readable. Called once, if a probe takes it.
  template <std::size_t Node, class Probes, class Copy>
  void show(const Probes& probes, const void* data, const Copy& copy) const {
    const detail::ShownTensor tensor(static_cast<std::int32_t>(Node), type_of<Node>, data, dims_);
    bool readable = false;
    probes.each([&]<class P>(P& probe) {
      if constexpr (detail::watches<E, Plain, P>(Node)) {
        if (!crochet::detail::probe_takes(probe, Node)) return;
        if (!std::exchange(readable, true)) copy(tensor.view().bytes.size());
        crochet::detail::show_tensor<Node>(probe, tensor.view());
      }
    });
  }
  template <std::size_t Node, class Probes, class Copies>
  void show_variable(const Probes& probes, std::size_t index, const Copies& copies) const {
    show<Node>(probes, variables_.read(index), [&](std::size_t /*bytes*/) { copies.variable(index); });
  }

  /// The value of a placeholder.
  template <std::size_t Node, class Probes, class Copies>
  void show_feed(const Probes& probes, std::size_t placeholder, const Copies& copies) const {
    show<Node>(probes, placeholders_[placeholder], [&](std::size_t bytes) { copies.feed(placeholder, bytes); });
  }

  template <std::size_t K, class... Fed, class Probes, class Copies>
  void show_source(const Probes& probes, const Copies& copies) const {
    constexpr auto node = static_cast<std::size_t>(Watch::sources[K]);
    constexpr bool fed = ((T::template node_id<Fed> == static_cast<int>(node)) || ...);
    if constexpr (graph.nodes[node].is(op::variable)) {
      show_variable<node>(probes, T::variable_index(static_cast<int>(node)), copies);
    } else if constexpr (graph.nodes[node].is(op::constant)) {
      constexpr double value = graph.nodes[node].attributes.reals[0];
      const auto bytes = detail::constant_bytes(type_of<node>.dtype, value);
      show<node>(probes, bytes.data(), [](std::size_t /*bytes*/) {});
    } else if constexpr (fed) {
      show_feed<node>(probes, node, copies);
    }
  }

  template <int Step, class Probes, class Copies>
  void show_list(const Probes& probes, const Copies& copies) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] const bool done[] = {true, (show_value<shown<Step>[I]>(probes, copies), true)...};
    }
    (std::make_index_sequence<shown<Step>.size()>{});
  }
  template <std::size_t K, class Probes, class Copies>
  void show_value(const Probes& probes, const Copies& copies) const {
    constexpr auto node = static_cast<std::size_t>(Watch::nodes[K]);
    constexpr Value value = value_of<K>;
    constexpr auto index = static_cast<std::size_t>(value.index);
    if constexpr (value.space == AddressSpace::placeholder) {
      show_feed<node>(probes, index, copies);
    } else if constexpr (value.space == AddressSpace::arena) {
      show<node>(probes, slots_[index], [&](std::size_t bytes) { copies.slot(index, bytes); });
    } else if constexpr (value.layout == Layout::row_major) {
      show<node>(probes, block_ + T::offsets[index],
                 [&](std::size_t /*bytes*/) { copies.variable(T::variable_index(static_cast<int>(index))); });
    } else {  // an assigned value
      show_variable<node>(probes, T::variable_index(static_cast<int>(index)), copies);
    }
  }

  const Variables<T>& variables_;
  const Dims& dims_;
  std::byte* block_;
  const std::array<std::byte*, Plan::plan.slot_count>& slots_;
  const void* const* placeholders_;
};

}  // namespace crochet::cpu::CROCHET_ISA
