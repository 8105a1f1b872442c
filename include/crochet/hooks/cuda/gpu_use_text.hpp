// SPDX-License-Identifier: Apache-2.0
// A reading of a GPU as a line and as a summary.
#pragma once

#include <optional>
#include <string>

#include <crochet/base/number_text.hpp>
#include <crochet/hooks/cuda/gpu_use.hpp>
#include <crochet/hooks/kit/value_text.hpp>
#include <crochet/storage/summary.hpp>

namespace crochet::detail {

/// `step 1000: GPU memory = 12.0 of 80.0 GiB, 98 % busy, 65 C, 412 W`, without the figures that are not there.
inline std::string line_of(const GpuUse& use) {
  constexpr double gibibyte = 1024.0 * 1024 * 1024;
  std::string line = step_text(use.step) +
                     "GPU memory = " + fixed_text(static_cast<double>(use.memory_used) / gibibyte, 1) + " of " +
                     fixed_text(static_cast<double>(use.memory_total) / gibibyte, 1) + " GiB";
  const auto add = [&](const std::optional<double>& value, double scale, const char* unit) {
    if (value) line += ", " + fixed_text(*value * scale, 0) + " " + unit;
  };
  add(use.busy, 100, "% busy");
  add(use.celsius, 1, "C");
  add(use.watts, 1, "W");
  return line;
}

inline io::Summary summary_of(const GpuUse& use) {
  io::Summary summary;
  const auto add = [&](const char* tag, const std::optional<double>& value) {
    if (value) summary.scalar(tag, *value);
  };
  add("gpu/memory_used", static_cast<double>(use.memory_used));
  add("gpu/memory_total", static_cast<double>(use.memory_total));
  add("gpu/busy", use.busy);
  add("gpu/memory_busy", use.memory_busy);
  add("gpu/celsius", use.celsius);
  add("gpu/watts", use.watts);
  return summary;
}

}  // namespace crochet::detail
