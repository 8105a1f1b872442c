// SPDX-License-Identifier: Apache-2.0
// Times of blocks of runs, and the lines of JSON in which the programs of this folder report them.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// Options of every program: --filter TEXT, --seconds S.
struct Options {
  std::string filter;    ///< only cases whose name contains it
  double seconds = 0.2;  ///< of a measurement; 0: one run each, which compiles the plans
};

/// Microseconds a run, of several blocks of n runs.
struct Measured {
  double median = 0, least = 0;
  long n = 1;
};

/// `run(n)` makes n runs and waits for them. Warms up, then measures blocks of about a tenth of the time; n is a
/// multiple of 32, so that launches are full. Throws what `run` throws.
template <class Run>
Measured measure(const Run& run, const Options& options) {
  const auto seconds_of = [&](long n) {
    const auto start = std::chrono::steady_clock::now();
    run(n);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  long n = 1;
  double spent = seconds_of(n);
  if (options.seconds > 0) {
    for (double taken = 0, warm = 0; warm < options.seconds / 4; warm += taken) {
      taken = seconds_of(n);
      const double fitting = static_cast<double>(n) * options.seconds / 10 / std::max(taken, 1e-7);
      n = std::clamp(static_cast<long>(fitting), 1L, 10 * n);
    }
    if (n > 32) n = (n + 31) / 32 * 32;
    spent = 0;
  }
  std::vector<double> us;
  do {
    const double taken = seconds_of(n);
    us.push_back(taken / static_cast<double>(n) * 1e6);
    spent += taken;
  } while (spent < options.seconds);
  std::sort(us.begin(), us.end());
  return {us[us.size() / 2], us.front(), n};
}

/// A value of a line of JSON.
class JsonValue {
 public:
  JsonValue(double x) : text_(std::isfinite(x) ? number(x) : "null") {}  // NOLINT(google-explicit-constructor)
  JsonValue(long x) : text_(std::to_string(x)) {}                        // NOLINT(google-explicit-constructor)
  JsonValue(int x) : text_(std::to_string(x)) {}                         // NOLINT(google-explicit-constructor)
  JsonValue(std::string_view x) : text_(1, '"') {                        // NOLINT(google-explicit-constructor)
    for (const char c : x) {
      if (c == '"' || c == '\\') text_ += '\\';
      text_ += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    text_ += '"';
  }
  JsonValue(const char* x) : JsonValue(std::string_view(x)) {}         // NOLINT(google-explicit-constructor)
  JsonValue(const std::string& x) : JsonValue(std::string_view(x)) {}  // NOLINT(google-explicit-constructor)

  const std::string& text() const { return text_; }

 private:
  static std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", x);
    return text;
  }

  std::string text_;
};

/// Prints a line of JSON at once, so that the results of a program that is stopped are not lost.
inline void report(std::initializer_list<std::pair<const char*, JsonValue>> values) {
  std::string line;
  for (const auto& [key, value] : values) {
    line += std::string(line.empty() ? "{\"" : ", \"") + key + "\": " + value.text();
  }
  std::puts((line + "}").c_str());
  std::fflush(stdout);
}

}  // namespace bench
