// SPDX-License-Identifier: Apache-2.0
// The line of a progress display, formatted from plain numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/number_text.hpp>

namespace crochet::detail {

/// The progress of the loop.
struct ProgressLine {
  std::int64_t step = 0;
  std::optional<std::int64_t> total{};
  double rate = 0;  ///< steps per second

  /// The completed fraction, 0 to 1; 0 without a total.
  [[nodiscard]] double part() const {
    if (!total) return 0;
    return *total <= 0 ? 1
                       : static_cast<double>(std::clamp<std::int64_t>(step, 0, *total)) / static_cast<double>(*total);
  }

  /// `1200/2000 [===========>        ]  60% 153.2 steps/s 0:05 left`.
  [[nodiscard]] CROCHET_COLD std::string text(bool with_bar) const {
    std::string line = std::to_string(step);
    if (total) {
      line += "/" + std::to_string(*total) + (with_bar ? " " + bar() : "") +
              print(" %3d%%", static_cast<int>(100 * part()));
    }
    if (rate > 0) line += " " + fixed_text(rate, 1) + " steps/s";
    return line + left();
  }

 private:
  template <class... A>
  static std::string print(const char* format, A... args) {
    char text[64];
    std::snprintf(text, sizeof text, format, args...);
    return text;
  }

  [[nodiscard]] std::string bar() const {
    constexpr std::size_t width = 20;
    std::string drawn(static_cast<std::size_t>(part() * static_cast<double>(width)), '=');
    if (drawn.size() < width) drawn += '>';
    drawn.resize(width, ' ');
    return "[" + drawn + "]";
  }

  [[nodiscard]] std::string left() const {
    if (!total || rate <= 0 || step >= *total) return "";
    const auto seconds = std::llround(static_cast<double>(*total - step) / rate);
    if (seconds < 3600) return print(" %lld:%02lld left", seconds / 60, seconds % 60);
    return print(" %lld:%02lld:%02lld left", seconds / 3600, seconds / 60 % 60, seconds % 60);
  }
};

}  // namespace crochet::detail
