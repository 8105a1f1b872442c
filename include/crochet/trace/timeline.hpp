// SPDX-License-Identifier: Apache-2.0
// Converts step statistics to a timeline for trace viewers: TensorFlow's Chrome trace, event by event.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <string>

#include <crochet/io/messages.hpp>

namespace crochet::trace {

struct TimelineOptions {
  bool show_dataflow = true;  ///< an arrow from the producer of a tensor to each consumer in another lane
  bool show_memory = false;   ///< tensors as objects, and a counter for each allocator
};

/// The timeline of step statistics: one JSON object with `traceEvents`, one event per line. As JSON it equals the
/// result of TensorFlow's `timeline.Timeline(stats).generate_chrome_trace_format(show_dataflow, show_memory)` for the
/// same statistics (tests/interop/timeline.py compares).
/// - Times are microseconds since 1970 as in the statistics.
/// - The rows of a device are lanes, not threads: a slice goes into the first free lane.
/// - Invalid UTF-8 is replaced by U+FFFD; sums beyond int64 saturate.
/// - Throws: nothing of its own.
/// - Cost: n log n for n slices, inputs and outputs.
std::string timeline_json(const proto::StepStats& stats, TimelineOptions options = {});

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/timeline.ipp>
#endif
