// SPDX-License-Identifier: Apache-2.0
// DebugProbe: observes a run and publishes the watched tensors. DumpingDebugHook and GrpcDebugHook use it.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/name.hpp>
#include <crochet/debug/event/debug_graph.hpp>
#include <crochet/debug/event/graph_hash.hpp>
#include <crochet/debug/probe/debug_run.hpp>
#include <crochet/debug/probe/named_graph.hpp>
#include <crochet/debug/probe/timestamps.hpp>
#include <crochet/debug/watch/resolved_watches.hpp>
#include <crochet/debug/watch/watch_fn.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/io/graph_def.hpp>

namespace crochet::debug {

/// Options of a DebugProbe.
struct DebugProbeOptions {
  WatchFn watch_fn{};    ///< the watches of each run, a subset of what W watches
  std::string device{};  ///< the device name of the published tensors and graph; empty: that of the run
  std::function<void(std::string_view)>
      report{};  ///< called once for each omitted operation, and for watches that match no node
  std::function<std::int64_t()> microseconds{};  ///< clock, microseconds since 1970, UTC; default: the system's
};

/// The probe of a hook (graph/probe/probe.hpp).
/// - Before a run it selects, among the nodes that `W` watches, those that match the run's WatchOptions, with their
///   operations.
/// - During the run it passes each watched value to the publisher P when the operation that computes it is complete.
///   The times of the firings increase.
/// - Throws LogicError for invalid options: a malformed pattern or operation, or an operation that does not support a
///   tensor's element type, unless tolerate_debug_op_creation_failures is set.
/// - Cost: the graph is named when it or the device changes, and serialized once for each set of urls. Each firing
///   costs the debug operation and the publisher.
template <class W, Publisher P>
class DebugProbe {
  static_assert(sizeof(W) > 0);  // reports a malformed Watch here, near the user's line, not in the executor

 public:
  using watches = W;

  DebugProbe(P publisher, DebugProbeOptions options)
      : publisher_(std::move(publisher)), options_(std::move(options)), times_(options_.microseconds) {}

  [[nodiscard]] P& publisher() { return publisher_; }
  [[nodiscard]] const P& publisher() const { return publisher_; }

  void on_run_begin(const ProbedRun& run) {
    const WatchOptions wanted = options_.watch_fn(run.caller_fetches, run.caller_feeds);
    std::string device = options_.device.empty() ? full_name(run.device) : options_.device;
    if (!named_.is_of(run.graph) || device != device_) name_graph(run, std::move(device));
    if (!watches_ || !(watches_->options() == wanted)) {
      watches_.emplace(wanted, named_.nodes(), &W::matches);
      graph_.reset();
      if (watches_->choose_nothing()) report_nothing_watched();
    }
    const std::int64_t now = times_.next();
    const std::vector<std::string> urls = publisher_.urls(now);
    DebugRun seen = request_of(run);
    seen.microseconds = now;
    seen.combination = combination_of(seen.metadata, urls);
    seen.metadata.executor_step_index = count(seen.combination);
    seen.metadata.session_run_index = next_session_run_index();
    seen.device = device_;
    seen.graph = graph_with(urls);
    publisher_.begin_run(seen);
  }

  /// Whether an operation of this run's watches needs the value. It is not copied from a GPU otherwise.
  bool takes(std::int32_t index) {
    const WatchedNode& node = watches_->node(static_cast<std::size_t>(index));
    if (!node.refused.empty()) return true;
    for (const DebugOp& op : node.ops) {
      if (publisher_.wants(node.name, 0, op)) return true;
    }
    return false;
  }
  template <std::size_t I>
  void on_node_end(const ProbedTensor& tensor) {
    show(tensor);
  }
  void on_run_end() { publisher_.end_run(); }

 private:
  static std::string full_name(const ProbedDevice& device) {
    return io::device_name(device.name.empty() ? "CPU" : "GPU", device.number, device.task);
  }
  void name_graph(const ProbedRun& run, std::string device) {
    device_ = std::move(device);
    named_ = NamedGraph{run.graph, device_};
    watches_.reset();
    graph_.reset();
  }

  DebugRun request_of(const ProbedRun& run) const {
    DebugRun request;
    request.metadata = named_.metadata_of(run);
    request.caller_fetches = named_.spelt_tensors(run.caller_fetches, run);
    for (std::string& target : named_.spelt(run.caller_targets, run)) {
      request.caller_fetches.push_back(std::move(target));
    }
    request.caller_feeds = named_.spelt_tensors(run.caller_feeds, run);
    return request;
  }

  [[nodiscard]] std::uint64_t combination_of(const CoreMetadata& request, const std::vector<std::string>& urls) const {
    CoreMetadata names = request;
    names.global_step = 0;
    std::string text = metadata_json(names) + watches_->text() + std::to_string(named_.hash());
    for (const std::string& url : urls) text += '\n' + url;
    return graph_hash(text);
  }
  /// The number of earlier runs of this combination. The counts are cleared above 1000 combinations: with a url for
  /// each run, no combination recurs.
  std::int64_t count(std::uint64_t combination) {
    if (counts_.size() > 1000) counts_.clear();
    return counts_[combination]++;
  }

  std::shared_ptr<DebugGraph> graph_with(const std::vector<std::string>& urls) {
    if (graph_ == nullptr || urls != graph_->urls()) {
      graph_ = std::make_shared<DebugGraph>(named_.message(), watches_->graph_watches(), urls);
    }
    return graph_;
  }

  void show(const ProbedTensor& shown) {
    const WatchedNode& node = watches_->node(static_cast<std::size_t>(shown.node));
    if (!node.refused.empty()) refuse(node, data_type_of(shown.dtype));
    const Tensor tensor{data_type_of(shown.dtype), shown.shape, shown.bytes};
    for (const DebugOp& op : node.ops) {
      if (!publisher_.wants(node.name, shown.slot, op)) continue;
      op.evaluate(tensor, [&](const Tensor& result) {
        publisher_.publish({device_, node.name, shown.slot, op.name(), times_.next(), result});
      });
    }
  }
  /// Reports each pattern once. A watch that matches nothing is usually a mistake, and an empty dump does not show it.
  void report_nothing_watched() {
    if (!options_.report) return;
    std::string pattern(watches_->options().node_name_regex_allowlist);
    if constexpr (requires { std::string(W::node_pattern); }) {
      if (pattern.empty()) pattern = W::node_pattern;
    }
    std::vector<std::string_view> names;
    for (const GraphNode& node : named_.nodes()) names.push_back(node.name);
    std::string what = "crochet: a debug hook watches nothing: none of the " + std::to_string(names.size()) +
                       " nodes of the model fits its Watch and its watch_fn";
    if (!pattern.empty()) {
      const std::string_view near = closest(pattern, names);
      what += ", node names \"" + pattern + "\"" +
              (near.empty() ? std::string() : "; did you mean " + std::string(near) + "?");
    }
    if (reported_.insert(what).second) options_.report(what);
  }
  void refuse(const WatchedNode& node, io::DataType type) {
    const std::string what =
        node.refused + " cannot be had for " + node.name + ", which is " + std::string(name_of(type));
    if (!watches_->options().tolerate_debug_op_creation_failures) {
      throw LogicError("crochet: " + what +
                       ": watch fewer element types (tensor_dtype_regex_allowlist), or set "
                       "tolerate_debug_op_creation_failures");
    }
    if (reported_.insert(what).second && options_.report) options_.report("crochet: " + what + "; left out");
  }

  P publisher_;
  DebugProbeOptions options_;
  Timestamps times_;
  std::string device_;  // of the current run
  NamedGraph named_;
  std::optional<ResolvedWatches> watches_;
  std::shared_ptr<DebugGraph> graph_;  // with the debug nodes of these watches
  std::map<std::uint64_t, std::int64_t> counts_;
  std::set<std::string> reported_;
};

}  // namespace crochet::debug
