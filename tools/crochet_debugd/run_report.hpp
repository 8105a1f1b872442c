// SPDX-License-Identifier: Apache-2.0
// RunReport: the report of a run at the end of its stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include <crochet/debug/event/core_metadata.hpp>
#include <crochet/debug/watch/watch_key.hpp>

#include "output.hpp"

namespace crochet::debugd {

struct RunReport {
  std::optional<debug::CoreMetadata> run;  // empty: not received
  std::size_t graphs = 0, tensors = 0;
  std::uint64_t bytes = 0;  // received
  std::optional<debug::WatchKey> first_nan, first_infinite;
  std::size_t incomplete = 0;   // with missing chunks
  std::size_t not_written = 0;  // received, but not in the dump
  std::string why_not_written;  // the first of these
  std::string directory;        // of the dump; empty: no dump
  std::string error;            // why the stream ended; empty: it is complete

  [[nodiscard]] bool complete() const { return error.empty() && incomplete == 0 && not_written == 0; }
};

/// For an incomplete run: "its stream ended early: ...".
inline std::string what_is_missing(const RunReport& report) {
  if (!report.error.empty()) return "its stream ended early: " + report.error;
  if (report.incomplete != 0)
    return "chunks of " + std::to_string(report.incomplete) + " tensors or graphs did not come";
  return std::to_string(report.not_written) + " of what came could not be written: " + report.why_not_written;
}

/// "1.5 MB"
inline std::string bytes_text(std::uint64_t bytes) {
  char text[32];
  double size = static_cast<double>(bytes);
  int unit = 0;
  for (; size >= 999.5 && unit < 4; ++unit) size /= 1000;
  constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
  return text;
}

inline Json to_json(const RunReport& report) {
  const auto key = [](const std::optional<debug::WatchKey>& found) {
    return found ? Json(debug::to_string(*found)) : Json();
  };
  Json json{{"event", "run"}};
  json["run"] = report.run ? Json(report.run->session_run_index) : Json();
  json["global_step"] = report.run ? Json(report.run->global_step) : Json();
  json["graphs"] = report.graphs;
  json["tensors"] = report.tensors;
  json["bytes"] = report.bytes;
  json["first_nan"] = key(report.first_nan);
  json["first_infinite"] = key(report.first_infinite);
  json["dropped_by_sender"] = report.run && report.run->dropped ? Json(*report.run->dropped) : Json();
  json["incomplete"] = report.incomplete;
  json["not_written"] = report.not_written;
  if (!report.why_not_written.empty()) json["why_not_written"] = report.why_not_written;
  json["directory"] = report.directory.empty() ? Json() : Json(report.directory);
  json["error"] = report.error.empty() ? Json() : Json(report.error);
  return json;
}

/// "step 12 (run 3): 5 tensors, 1.5 MB, first NaN in net/ratio:0:DebugIdentity -> run_1700000000000000_0"
inline std::string to_text(const RunReport& report) {
  std::string text = "a run that did not say which";
  if (report.run) {
    text = "run " + std::to_string(report.run->session_run_index);
    if (report.run->global_step >= 0) text = "step " + std::to_string(report.run->global_step) + " (" + text + ")";
  }
  text += ": " + std::to_string(report.tensors) + (report.tensors == 1 ? " tensor, " : " tensors, ") +
          bytes_text(report.bytes);
  const auto say = [&](std::uint64_t count, const char* what) {
    if (count != 0) text += ", " + std::to_string(count) + " " + what;
  };
  if (report.first_nan) text += ", first NaN in " + debug::to_string(*report.first_nan);
  if (report.first_infinite) text += ", first infinity in " + debug::to_string(*report.first_infinite);
  if (report.run && report.run->dropped) {
    say(static_cast<std::uint64_t>(*report.run->dropped), "dropped by the sender so far");
  }
  say(report.incomplete, "incomplete");
  say(report.not_written, "not written");
  if (!report.why_not_written.empty()) text += " (" + report.why_not_written + ")";
  if (!report.directory.empty()) text += " -> " + report.directory.substr(report.directory.rfind('/') + 1);
  if (!report.error.empty()) text += "; ended early: " + report.error;
  return text;
}

}  // namespace crochet::debugd
