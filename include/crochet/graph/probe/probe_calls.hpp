// SPDX-License-Identifier: Apache-2.0
// Calls of probes by executors. A probe has any subset of the members listed in graph/probe/probe.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/graph/core/text_pool.hpp>
#include <crochet/graph/names/graph_op_name.hpp>
#include <crochet/graph/names/node_name.hpp>
#include <crochet/graph/probe/probed_run.hpp>

namespace crochet::detail {

/// Whether a class of watches (void: none) matches a node with a tensor.
template <class W>
constexpr bool watch_matches(const NodeName& name, const GraphTable::Node& node) {
  TextPool spelt;
  spell_node_name(name, [&](char c) { spelt.append({&c, 1}); });
  const GraphOpName op(node.op);
  return W::matches(spelt.view(), op.view(), name_of(node.dtype));
}

template <class P>
void show_run_begin(P& probe, const ProbedRun& run) {
  if constexpr (requires { probe.on_run_begin(run); }) probe.on_run_begin(run);
}
template <class P>
void show_run_end(P& probe) {
  if constexpr (requires { probe.on_run_end(); }) probe.on_run_end();
}

/// Whether P observes the beginning or end of steps.
template <class P>
inline constexpr bool sees_steps = requires(P& probe) {
  probe.template on_node_begin<0>(0);
}
|| requires(P& probe) { probe.template on_node_end<0>(0); };
template <std::size_t I, class P>
inline void show_node_begin(P& probe, int member) {
  if constexpr (requires { probe.template on_node_begin<I>(member); }) probe.template on_node_begin<I>(member);
}
template <std::size_t I, class P>
inline void show_node_end(P& probe, int member) {
  if constexpr (requires { probe.template on_node_end<I>(member); }) probe.template on_node_end<I>(member);
}
/// Whether a due probe is shown the value of a node that it watches.
template <class P>
bool probe_takes(P& probe, std::size_t node) {
  if constexpr (requires { probe.takes(std::int32_t{}); }) {
    return probe.takes(static_cast<std::int32_t>(node));
  } else {
    return true;
  }
}
template <std::size_t I, class P>
void show_tensor(P& probe, const ProbedTensor& tensor) {
  if constexpr (requires { probe.template on_node_end<I>(tensor); }) probe.template on_node_end<I>(tensor);
}

/// Whether P observes times of a device.
template <class P>
inline constexpr bool takes_device_times = requires(P& probe) {
  probe.template on_node_device_times<0>(0.0, 0.0);
};
template <class P>
void show_device_begin(P& probe) {
  if constexpr (requires { probe.on_device_begin(); }) probe.on_device_begin();
}
template <class P>
void show_launch_begin(P& probe) {
  if constexpr (requires { probe.on_launch_begin(); }) probe.on_launch_begin();
}
template <class P>
void show_launch_end(P& probe) {
  if constexpr (requires { probe.on_launch_end(); }) probe.on_launch_end();
}
template <std::size_t I, class P>
void show_device_times(P& probe, double begin, double end) {
  if constexpr (takes_device_times<P>) probe.template on_node_device_times<I>(begin, end);
}

}  // namespace crochet::detail
