// SPDX-License-Identifier: Apache-2.0
// The compiled half of figures.hpp.
#pragma once

#include <crochet/trace/figures.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/number_text.hpp>
#include <crochet/graph/names/graph_op_name.hpp>
#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

CROCHET_INLINE std::string figure(double value, int digits) { return crochet::detail::general_text(value, digits); }

CROCHET_INLINE std::string fixed_figure(double value, int digits) { return crochet::detail::fixed_text(value, digits); }

CROCHET_INLINE std::string op_text(const RunTrace& run, const TracedStep& step) {
  constexpr std::size_t shown = 4;
  std::string text;
  for (std::size_t i = 0; i < step.nodes.size() && i < shown; ++i) {
    if (i > 0) text += '+';
    text += GraphOpName(run.graph.nodes[static_cast<std::size_t>(step.nodes[i])].op).view();
  }
  if (step.nodes.size() > shown) text.append("+").append(std::to_string(step.nodes.size() - shown)).append("_more");
  return text;
}

CROCHET_INLINE std::vector<Figure> figures_of(const RunTrace& run, const StepPart& part, double seconds) {
  const TracedStep& step = run.steps[static_cast<std::size_t>(part.step)];
  const double bytes = step.bytes_read + step.bytes_written;
  std::vector<Figure> all;
  const auto add = [&all](std::string_view name, double value, std::string text) {
    all.push_back({name, value, std::move(text)});
  };
  const auto add_whole = [&add](std::string_view name, double value) { add(name, value, fixed_figure(value, 0)); };
  const auto add_rate = [&](std::string_view name, double amount) {
    if (amount > 0 && seconds > 0) add(name, amount / seconds * 1e-9, figure(amount / seconds * 1e-9));
  };
  if (part.member >= 0) add_whole("thread", part.member);
  add("us", part.busy * 1e6, fixed_figure(part.busy * 1e6, 3));
  if (step.nodes.size() > 1) add_whole("nodes", static_cast<double>(step.nodes.size()));
  if (step.flops > 0) add_whole("FLOP", step.flops);
  if (bytes > 0) add_whole("bytes", bytes);
  add_rate("GFLOP/s", step.flops);
  add_rate("GB/s", bytes);
  if (step.region >= 0) {  // not run as one contiguous interval, as drawn
    add_whole("region", step.region);
    add_whole("calls", part.calls);
    add("spread_us", (part.end - part.begin) * 1e6, fixed_figure((part.end - part.begin) * 1e6, 3));
  }
  return all;
}

}  // namespace crochet::trace
