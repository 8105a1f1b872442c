// SPDX-License-Identifier: Apache-2.0
// A recorded run as TensorFlow's step statistics.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <crochet/io/messages.hpp>
#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

/// The statistics of a run: a device for each thread of the team, CPU:0, CPU:0/thread:1 and so on, with a node for each
/// part of a step, sorted by start; and the device HOOKS:0 with the phases of hooks.
/// - One device for all threads would suffice for TensorFlow's viewer, which assigns lanes, but Perfetto treats lane 0
///   of process 1 and lane 1 as one thread, and drops overlapping slices there.
/// - A label is
///     name = Conv2D+Add+Relu(images, conv1/kernel, thread=0, us=812.4, FLOP=..., bytes=..., GFLOP/s=81.2, GB/s=3.1)
///   so that TensorFlow's timeline shows these figures too: it treats them as unknown inputs without a flow.
/// - The steps of a region run slice by slice. Each is one node with the total time of its slices, with `calls` and
///   `spread_us`, the time from the first to the last.
/// - Outputs belong to the part that ended last.
/// - A run on a GPU has the device GPU:0 (its number) with the steps by the GPU's clock, their figures, outputs and
///   memory (allocator GPU_0). CPU:0 then has the launches, `name = Launch(us=7.1)`; `all_steps` is one of all steps.
///   `/device:GPU:0/stream:all` has the steps once more, as the kernels of TensorFlow's tracer, for readers of such
///   statistics.
/// - Times are rounded to microseconds as in TensorFlow, at least 1; nanoseconds are exact.
proto::StepStats step_stats(const RunTrace& run);

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/step_stats.ipp>
#endif
