// SPDX-License-Identifier: Apache-2.0
// crochet-dump ls: the runs and their tensors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iomanip>
#include <ostream>
#include <string>

#include "facts.hpp"
#include "session.hpp"

namespace crochet_dump {

namespace detail {

inline std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " B";
  double size = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* next : {"KiB", "MiB", "GiB"}) {
    if (size < 1024) break;
    size /= 1024;
    unit = next;
  }
  return brief(std::round(size * 10) / 10) + " " + unit;
}

inline void print_run(const crochet::debug::DumpRun& run, std::size_t shown, std::ostream& out) {
  out << printable(run.name());
  for (const crochet::debug::CoreMetadata& metadata : run.metadata()) {
    out << "  step " << metadata.global_step << "  session run " << metadata.session_run_index;
    for (const std::string& name : metadata.input_names) out << "  feeds " << printable(name);
    for (const std::string& name : metadata.output_names) out << "  fetches " << printable(name);
    for (const std::string& name : metadata.target_nodes) out << "  runs " << printable(name);
  }
  out << "\n";
  for (const crochet::debug::DumpDevice& device : run.devices()) {
    out << "  " << printable(device.name) << "  ";
    if (device.has_graph) {
      out << "graph of " << device.graph.nodes().size() << " nodes\n";
    } else {
      out << "no graph\n";
    }
  }
  if (shown == 0) out << "  no tensors\n";
}

inline nlohmann::ordered_json run_json(const crochet::debug::DumpRun& run) {
  nlohmann::ordered_json json;
  json["run"] = run.name();
  json["tensors"] = run.tensors().size();
  json["metadata"] = nlohmann::ordered_json::array();
  for (const crochet::debug::CoreMetadata& metadata : run.metadata()) {
    json["metadata"].push_back(nlohmann::ordered_json::parse(crochet::debug::metadata_json(metadata)));
  }
  json["fetches"] = run.fetches();
  json["feeds"] = run.feeds();
  json["devices"] = nlohmann::ordered_json::array();
  for (const crochet::debug::DumpDevice& device : run.devices()) {
    nlohmann::ordered_json entry;
    entry["name"] = device.name;
    entry["graph_nodes"] = device.has_graph ? nlohmann::ordered_json(device.graph.nodes().size()) : nullptr;
    json["devices"].push_back(std::move(entry));
  }
  return json;
}

inline std::string state_text(crochet::debug::TensorState state) {
  return state == crochet::debug::TensorState::uninitialized ? "  not initialized" : "";
}

}  // namespace detail

/// Prints the runs and, for each, the tensors in step order: milliseconds since the first of them, debug op, type,
/// shape and size.
inline int list(const Selection& selection, std::ostream& out, std::ostream& err) {
  Troubles troubles{err};
  const Session session{selection, troubles};
  const NameFilter names{selection.node};
  std::size_t found = 0;
  session.each_run([&](const crochet::debug::DumpRun& run) {
    const Selected selected{run, selection, names, false};
    found += selected.size();
    if (selection.json) {
      out << json_line(detail::run_json(run));
    } else {
      detail::print_run(run, selected.size(), out);
    }
    std::size_t width = 0, op_width = 0;
    for (const crochet::debug::DumpEntry* entry : selected) {
      width = std::max(width, printable(entry->tensor()).size());
      op_width = std::max(op_width, printable(entry->name.op).size());
    }
    for (const crochet::debug::DumpEntry* entry : selected) {
      troubles.attempt([&] {
        const crochet::debug::DumpedTensor tensor = run.open(*entry);
        if (selection.json) {
          nlohmann::ordered_json json = json_head(run, *entry);
          json["dtype"] = crochet::io::name_of(tensor.dtype());
          json["shape"] = tensor.shape();
          json["initialized"] = tensor.state() != crochet::debug::TensorState::uninitialized;
          json["bytes"] = tensor.byte_size();
          out << json_line(json);
          return;
        }
        const double ms = static_cast<double>(entry->name.time - run.tensors().front().name.time) / 1000;
        out << "  " << std::fixed << std::setprecision(3) << std::setw(10) << ms << " ms  " << std::left
            << std::setw(static_cast<int>(width)) << printable(entry->tensor()) << "  "
            << std::setw(static_cast<int>(op_width)) << printable(entry->name.op) << "  " << std::setw(10)
            << crochet::io::name_of(tensor.dtype()) << std::setw(18) << shape_text(tensor.shape()) << std::right
            << std::setw(10) << detail::bytes_text(tensor.byte_size()) << detail::state_text(tensor.state()) << "\n";
      });
    }
    return true;
  });
  const bool selects = !selection.node.empty() || !selection.op.empty();
  return troubles.status(found > 0 || !selects, session.size(), selection.json);
}

}  // namespace crochet_dump
