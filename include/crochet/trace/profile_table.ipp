// SPDX-License-Identifier: Apache-2.0
// The compiled half of profile_table.hpp.
#pragma once

#include <crochet/trace/profile_table.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/hook/short_name.hpp>
#include <crochet/trace/figures.hpp>
#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

CROCHET_INLINE void ProfileTable::add(const RunTrace& run) {
  ++runs_;
  run_seconds_ += run.end - run.begin;
  const std::vector<double> seconds = seconds_of_steps(run);
  for (std::size_t k = 0; k < run.steps.size(); ++k) {
    const TracedStep& step = run.steps[k];
    Node& node = nodes_[std::string(run.names[static_cast<std::size_t>(step.node)])];
    if (node.op.empty()) node.op = op_text(run, step);
    node.seconds += seconds[k];
    node.flops += step.flops;
    node.bytes += step.bytes_read + step.bytes_written;
  }
  for (const StepPart& part : run.device.empty() ? run.parts : run.device_parts) {
    if (part.member <= 0) nodes_[std::string(step_name(run, part))].calls += part.calls;
  }
  for (const HookPhase& p : run.phases) {
    Hook& hook = hooks_[p.hook];
    (p.phase == "before_run" ? hook.before : hook.after) += p.end - p.begin;
  }
}

CROCHET_INLINE std::vector<std::string> ProfileTable::lines(std::size_t rows) const {
  if (runs_ == 0) return {};
  std::vector<std::string> all = aligned(node_rows(rows), 2);
  all.insert(all.begin(), std::to_string(runs_) + (runs_ == 1 ? " run" : " runs") + " recorded, " +
                              microseconds(run_seconds_) + " us a run; times are per run");
  if (hooks_.empty()) return all;
  const std::vector<std::string> hooks = aligned(hook_rows(), 1);
  all.insert(all.end(), hooks.begin(), hooks.end());
  return all;
}

CROCHET_INLINE std::string ProfileTable::share(double seconds) const {
  return run_seconds_ > 0 ? fixed_figure(100 * seconds / run_seconds_, 1) : "-";
}

CROCHET_INLINE std::string ProfileTable::rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? figure(amount / seconds * 1e-9) : "-";
}

CROCHET_INLINE std::vector<ProfileTable::Row> ProfileTable::node_rows(std::size_t rows) const {
  std::vector<Named<Node>> order;
  for (const auto& [name, node] : nodes_) order.emplace_back(name, &node);
  std::stable_sort(order.begin(), order.end(),
                   [](const Named<Node>& a, const Named<Node>& b) { return a.second->seconds > b.second->seconds; });
  std::vector<Row> table{{"node", "operations", "self us", "share %", "calls", "GFLOP/s", "GB/s"}};
  double rest = run_seconds_;
  for (std::size_t i = 0; i < std::min(rows, order.size()); ++i) {
    const Node& n = *order[i].second;
    rest -= n.seconds;
    table.push_back({std::string(order[i].first), n.op, microseconds(n.seconds), share(n.seconds),
                     figure(per_run(static_cast<double>(n.calls))), rate(n.flops, n.seconds),
                     rate(n.bytes, n.seconds)});
  }
  // Other nodes, and the time between the steps.
  table.push_back({"(the rest)", "", microseconds(std::max(rest, 0.0)), share(std::max(rest, 0.0)), "", "", ""});
  return table;
}

CROCHET_INLINE std::vector<ProfileTable::Row> ProfileTable::hook_rows() const {
  std::vector<Row> table{{"hook", "us a step", "share %", "before_run us", "after_run us"}};
  for (const auto& [name, hook] : hooks_) {
    const double all = hook.before + hook.after;
    table.push_back({name, microseconds(all), share(all), microseconds(hook.before), microseconds(hook.after)});
  }
  std::stable_sort(table.begin() + 1, table.end(),
                   [this](const Row& a, const Row& b) { return sum_of(hooks_.at(a[0])) > sum_of(hooks_.at(b[0])); });
  for (Row& row : table) row[0] = crochet::detail::short_name(std::move(row[0]));
  return table;
}

CROCHET_INLINE std::vector<std::string> ProfileTable::aligned(const std::vector<Row>& table, std::size_t left) {
  std::vector<std::size_t> widths(table[0].size());
  for (const Row& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<std::string> lines;
  for (const Row& row : table) {
    std::string& line = lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      if (i > 0) line += "  ";
      line += i < left ? row[i] + gap : gap + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return lines;
}

}  // namespace crochet::trace
