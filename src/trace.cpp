// SPDX-License-Identifier: Apache-2.0
// The compiled half of trace/.
#include <crochet/trace/figures.ipp>
#include <crochet/trace/lanes.ipp>
#include <crochet/trace/op_label.ipp>
#include <crochet/trace/perfetto.ipp>
#include <crochet/trace/profile_table.ipp>
#include <crochet/trace/run_trace.ipp>
#include <crochet/trace/run_writer.ipp>
#include <crochet/trace/step_recorder.ipp>
#include <crochet/trace/step_stats.ipp>
#include <crochet/trace/timeline.ipp>
#include <crochet/trace/wiring.ipp>
#include <crochet/trace/worker.ipp>
