// SPDX-License-Identifier: Apache-2.0
// RecordedRun: one entry of a recording, a file in which RecordRun stores the values that the hooks of a session
// requested. A recording is an event file.
//
//   file      event with the version "brain.Event:2", then one event for each entry
//   event     step: the global step after the entry. Its summary has a string tensor with the tag "crochet/run", which
//             begins the entry, and a tensor for each value, tagged with its name. The plug-in of all is "crochet_run"
//   strings   "create" "1"            a session was created; 1 is the version of the format
//             "run" STEP TARGETS      a run: the global step before it, and the caller's targets, joined by spaces
//             "end" "interrupted"|""  the clean end
//             "error" TEXT            the end by an error
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/storage/data_type.hpp>

namespace crochet::io {

/// A fetched value: a scalar has no dimensions. `bytes`: the elements, row-major and little-endian.
struct RecordedValue {
  std::string name{};
  DataType type = DataType::invalid;
  std::vector<std::int64_t> shape{};
  std::string bytes{};
};

struct RecordedRun {
  enum class Kind { create, run, end, error };

  Kind kind = Kind::run;
  std::int64_t step_before = 0;         ///< of a run: the global step before it
  std::int64_t step = 0;                ///< the global step after it
  std::string text{};                   ///< of a run: its targets; of an error: its text
  bool interrupted = false;             ///< of an end
  std::vector<RecordedValue> values{};  ///< of a run
};

inline constexpr std::string_view recording_tag = "crochet/run", recording_plugin = "crochet_run",
                                  recording_version = "1";

}  // namespace crochet::io
