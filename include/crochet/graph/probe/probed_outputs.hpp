// SPDX-License-Identifier: Apache-2.0
// Probes of step functions. The function (node 0) and its outputs are the nodes of a graph with one step; outputs are
// shown after the function returns. For executors without a graph; included only where there is a probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/graph/names/node_names.hpp>
#include <crochet/graph/probe/probe_calls.hpp>
#include <crochet/graph/probe/watch_fits.hpp>

namespace crochet::detail {

/// The memory of an output. A contiguous range is one-dimensional unless it has extents.
template <class X>
struct OutputMemory {
  struct Element {};
};
template <NumberElement X>
struct OutputMemory<X> {
  using Element = X;
  static constexpr std::size_t rank = 0;
  static std::span<const X> elements(const X& x) { return {&x, 1}; }
  static std::array<std::int64_t, 0> shape(const X&) { return {}; }
};
template <class X>
requires requires(const X& x) {
  std::data(x);
  std::size(x);
  requires NumberElement<std::remove_cvref_t<decltype(*std::data(x))>>;
}
struct OutputMemory<X> {
  using Element = std::remove_cvref_t<decltype(*std::data(std::declval<const X&>()))>;
  static constexpr bool shaped = requires { X::rank; };
  static constexpr std::size_t rank = [] {
    if constexpr (shaped) return std::size_t{X::rank};
    return std::size_t{1};
  }();
  static std::span<const Element> elements(const X& x) { return {std::data(x), std::size(x)}; }
  static std::array<std::int64_t, rank> shape(const X& x) {
    if constexpr (shaped) {
      return x.shape();
    } else {
      return {static_cast<std::int64_t>(std::size(x))};
    }
  }
};

/// The DType with this size and signedness: `long long` is int64 wherever it has 8 bytes. Empty: there is none.
template <class X>
constexpr std::optional<DType> output_dtype() {
  if constexpr (std::is_same_v<X, bool>) return DType::boolean;
  if constexpr (std::is_floating_point_v<X> && sizeof(X) == 4) return DType::float32;
  if constexpr (std::is_floating_point_v<X> && sizeof(X) == 8) return DType::float64;
  if constexpr (std::is_integral_v<X> && std::is_signed_v<X> && sizeof(X) == 4) return DType::int32;
  if constexpr (std::is_integral_v<X> && std::is_signed_v<X> && sizeof(X) == 8) return DType::int64;
  if constexpr (std::is_same_v<X, unsigned char>) return DType::uint8;
  if constexpr (std::is_same_v<X, bfloat16>) return DType::bfloat16;
  return {};
}
/// The DType of an output of type X.
template <class X>
inline constexpr std::optional<DType> shown_dtype = output_dtype<typename OutputMemory<X>::Element>();

template <class X>
constexpr void describe_output(GraphTable::Node& to, std::string_view name) {
  to.name = name;
  to.op = "output";
  to.kind = OpKind::view;
  to.inputs[0] = 0;
  to.has_tensor = shown_dtype<X>.has_value();
  if constexpr (shown_dtype<X>) {
    to.dtype = *shown_dtype<X>;
    to.has_shape = OutputMemory<X>::rank <= max_rank;
    for (std::size_t i = 0; to.has_shape && i < OutputMemory<X>::rank; ++i) to.shape.push_back(Extent::symbol(0));
  }
}

/// An output of the name N, of type X.
template <class N, class X>
struct ShownOutput {
  using name = N;
  using type = X;
};

/// Output: ShownOutputs. An output without a DType (e.g. a string) has a node but no tensor.
template <class... Output>
class ProbedOutputs {
  static constexpr auto nodes = [] {
    std::array<GraphTable::Node, 1 + sizeof...(Output)> all{};
    for (GraphTable::Node& n : all) {
      for (std::int32_t& input : n.inputs) input = -1;
    }
    all[0].op = "step_function";
    all[0].kind = OpKind::kernel;
    all[0].has_tensor = false;
    std::size_t i = 0;
    (describe_output<typename Output::type>(all[++i], Output::name::view()), ...);
    return all;
  }();
  using Names = NodeNames<nodes>;

 public:
  /// Whether the watches W match an output.
  template <class W>
  static constexpr bool fits = WatchFits<nodes, W>::any;

  /// Runs step() with calls of `probes` (DueProbes), then shows `value(name)` of each output that this run fetches. D:
  /// the Demand of the run. `task`: ProbedDevice::task.
  template <class D, class Probes, class Step, class Value>
  static void run(const Probes& probes, std::span<const std::string_view> fetches,
                  std::span<const std::string_view> feeds, Step&& step, Value&& value, int task = -1) {
    const auto made = nodes_of<D>();
    const ProbedStep only{0, made, -1, 0, 0, 0};
    const auto& request = probes.request();
    ProbedRun run;
    run.graph = {nodes};
    run.node_names = names();
    run.steps = {&only, 1};
    run.device.task = task;
    run.step = request.step;
    run.caller_fetches = request.fetches, run.caller_targets = request.targets, run.caller_feeds = request.feeds;
    run.fetches = fetches, run.feeds = feeds;
    probes.each([&](auto& probe) { show_run_begin(probe, run); });
    probes.each([](auto& probe) { show_node_begin<0>(probe, 0); });
    step();
    probes.each([](auto& probe) { show_node_end<0>(probe, 0); });
    show_all<D>(probes, value, std::index_sequence_for<Output...>{});
    probes.each([](auto& probe) { show_run_end(probe); });
  }

 private:
  static std::span<const std::string_view> names() {
    static const std::vector<std::string> text = node_names({nodes});
    static const std::vector<std::string_view> views(text.begin(), text.end());
    return views;
  }
  /// The function, and the outputs of this run.
  template <class D>
  static std::span<const std::int32_t> nodes_of() {
    static constexpr auto all = [] {
      std::array<std::int32_t, 1 + (0 + ... + (D::template fetches<typename Output::name> ? 1U : 0U))> list{};
      std::int32_t node = 0;
      std::size_t n = 1;
      ((++node, D::template fetches<typename Output::name> ? void(list[n++] = node) : void()), ...);
      return list;
    }();
    return all;
  }

  template <class D, class Probes, class Value, std::size_t... K>
  static void show_all(const Probes& probes, Value& value, std::index_sequence<K...>) {
    (show<1 + K, D, typename Output::name, typename Output::type>(probes, value), ...);
  }
  template <std::size_t I, class D, class N, class X, class Probes, class Value>
  static void show(const Probes& probes, Value& value) {
    if constexpr (D::template fetches<N> && shown_dtype<X>) {
      const X& held = value(N{});
      const auto shape = OutputMemory<X>::shape(held);
      const ProbedTensor tensor{static_cast<std::int32_t>(I), 0, *shown_dtype<X>,
                                std::as_bytes(OutputMemory<X>::elements(held)), shape};
      probes.each([&]<class P>(P& probe) {
        if constexpr (watched<P, I>()) {
          if (probe_takes(probe, I)) show_tensor<I>(probe, tensor);
        }
      });
    }
  }
  template <class P, std::size_t I>
  static constexpr bool watched() {
    if constexpr (requires { typename P::watches; }) {
      return watch_matches<typename P::watches>(Names::of(I), nodes[I]);
    } else {
      return false;
    }
  }
};

}  // namespace crochet::detail
