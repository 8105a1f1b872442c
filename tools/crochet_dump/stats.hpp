// SPDX-License-Identifier: Apache-2.0
// crochet-dump stats: statistics of tensors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "facts.hpp"
#include "session.hpp"
#include "table.hpp"

namespace crochet_dump {

namespace detail {

inline std::string number_or_dash(const std::optional<double>& value) { return value ? brief(*value) : "-"; }
inline std::string count_or_dash(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

inline const Table::Row& stats_titles() {
  static const Table::Row titles{"tensor", "dtype", "shape", "elements", "min", "max",
                                 "mean",   "std",   "zeros", "NaN",      "Inf"};
  return titles;
}

inline Table::Row stats_row(const crochet::debug::DumpEntry& entry, const Facts& facts) {
  return {printable(entry.tensor()),
          dtype_text(facts),
          facts.initialized ? shape_text(facts) : shape_text(facts) + " not initialized",
          count_or_dash(facts.elements),
          number_or_dash(facts.min),
          number_or_dash(facts.max),
          number_or_dash(facts.mean),
          number_or_dash(facts.deviation),
          count_or_dash(facts.zeros),
          std::to_string(facts.nan),
          std::to_string(facts.infinite())};
}

/// One tensor in all runs.
struct Series {
  std::uint64_t dumps = 0, wrong_dumps = 0, nan = 0, infinite = 0;
  std::optional<double> min{}, max{}, first_mean{}, last_mean{};
  std::string first_wrong{};  // the first run with NaN or infinity

  void add(const std::string& run, const Facts& facts) {
    ++dumps;
    nan += facts.nan;
    infinite += facts.infinite();
    if (facts.nan + facts.infinite() > 0 && ++wrong_dumps == 1) first_wrong = run;
    if (facts.min) min = min ? std::min(*min, *facts.min) : facts.min;
    if (facts.max) max = max ? std::max(*max, *facts.max) : facts.max;
    if (facts.mean && !first_mean) first_mean = facts.mean;
    if (facts.mean) last_mean = facts.mean;
  }
};

inline void print_series(const std::vector<std::pair<std::string, Series>>& all, bool json, std::ostream& out) {
  Table table{{"tensor", "dumps", "min", "max", "first mean", "last mean", "NaN", "Inf", "not finite since"}};
  for (const auto& [tensor, series] : all) {
    if (!json) {
      table.add({printable(tensor), std::to_string(series.dumps), number_or_dash(series.min),
                 number_or_dash(series.max), number_or_dash(series.first_mean), number_or_dash(series.last_mean),
                 std::to_string(series.nan), std::to_string(series.infinite),
                 series.first_wrong.empty() ? "-" : printable(series.first_wrong)});
      continue;
    }
    nlohmann::ordered_json object;
    object["tensor"] = tensor;
    object["dumps"] = series.dumps;
    object["min"] = json_or_null(series.min);
    object["max"] = json_or_null(series.max);
    object["first_mean"] = json_or_null(series.first_mean);
    object["last_mean"] = json_or_null(series.last_mean);
    object["nan"] = series.nan;
    object["inf"] = series.infinite;
    object["not_finite_dumps"] = series.wrong_dumps;
    object["not_finite_since"] =
        series.first_wrong.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(series.first_wrong);
    out << json_line(object);
  }
  if (!json) table.print(out);
}

inline int stats_by_node(const StatsOptions& options, const Session& session, const NameFilter& names,
                         std::ostream& out, Troubles& troubles) {
  std::vector<std::pair<std::string, Series>> all;  // in the order of their first occurrence
  std::map<std::string, std::size_t> places;
  session.each_run([&](const crochet::debug::DumpRun& run) {
    for (const crochet::debug::DumpEntry* entry : Selected{run, options.selection, names, true}) {
      troubles.attempt([&] {
        const Facts facts = facts_of(run, *entry);
        const auto [at, is_new] = places.try_emplace(entry->tensor(), all.size());
        if (is_new) all.emplace_back(entry->tensor(), Series{});
        all[at->second].second.add(run.name(), facts);
      });
    }
    return true;
  });
  if (!all.empty()) print_series(all, options.selection.json, out);
  return troubles.status(!all.empty(), session.size(), options.selection.json,
                         all.empty() ? hint_of_nodes(options.selection, session) : std::string());
}

}  // namespace detail

/// Prints a table for each run with selected tensors: one line per tensor, in step order. By node: one table for all
/// runs, one line per tensor.
inline int stats(const StatsOptions& options, std::ostream& out, std::ostream& err) {
  Troubles troubles{err};
  const Session session{options.selection, troubles};
  const NameFilter names{options.selection.node};
  if (options.by_node) return detail::stats_by_node(options, session, names, out, troubles);
  bool found = false;
  session.each_run([&](const crochet::debug::DumpRun& run) {
    const Selected selected{run, options.selection, names, true};
    if (selected.size() == 0) return true;
    found = true;
    if (!options.selection.json) out << printable(run.name()) << "\n";
    Table table{detail::stats_titles()};
    for (const crochet::debug::DumpEntry* entry : selected) {
      troubles.attempt([&] {
        const Facts facts = facts_of(run, *entry);
        if (!options.selection.json) return table.add(detail::stats_row(*entry, facts));
        nlohmann::ordered_json json = json_head(run, *entry);
        add_facts(json, facts);
        out << json_line(json);
      });
    }
    if (!options.selection.json) table.print(out);
    return true;
  });
  return troubles.status(found, session.size(), options.selection.json,
                         found ? std::string() : hint_of_nodes(options.selection, session));
}

}  // namespace crochet_dump
