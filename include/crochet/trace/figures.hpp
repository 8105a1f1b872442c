// SPDX-License-Identifier: Apache-2.0
// Numbers in traces and tables, as locale-independent text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <crochet/trace/run_trace.hpp>

namespace crochet::trace {

/// With this number of significant digits: 81.25, 0.003, 1.2e+09.
std::string figure(double value, int digits = 4);
/// With this number of digits after the decimal point.
std::string fixed_figure(double value, int digits);

/// The operations of a step in TensorFlow's names: "Conv2D+Add+Relu"; of a long group the first ones.
std::string op_text(const RunTrace& run, const TracedStep& step);

/// A property of a part of a step besides its times, shown as one line in a viewer.
struct Figure {
  std::string_view name;
  double value = 0;
  std::string text;
};

/// The figures of a part: its thread, its duration, and the work of the whole step. `seconds`: of the whole step, see
/// seconds_of_steps(). FLOP and bytes are the plan's estimates for the actual sizes; rates are these over `seconds`.
std::vector<Figure> figures_of(const RunTrace& run, const StepPart& part, double seconds);

}  // namespace crochet::trace

#ifdef CROCHET_HEADER_ONLY
#include <crochet/trace/figures.ipp>
#endif
