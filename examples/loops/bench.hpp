// SPDX-License-Identifier: Apache-2.0
// Measures a loop with the chain against the loop alone.
#pragma once

#include <crochet/crochet.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string_view>
#include <vector>

#include "chain.hpp"

namespace loops {

/// Seconds that `repeat` calls take.
double seconds_of(std::int64_t repeat, auto&& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < repeat; ++i) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

constexpr std::int64_t never = std::int64_t{1} << 60;
inline Run quiet(const std::filesystem::path& folder, std::int64_t rarely) {
  return {.folder = folder, .last_step = never, .rarely = rarely, .patience = never, .sink = [](std::string_view) {}};
}

/// Seconds of a step alone, and with the chain in which nothing is due.
struct Steps {
  double alone = std::numeric_limits<double>::infinity();
  double hooked = alone;
  double ratio = 0;  // the median of the ratios of neighbours
};

/// The same steps of two equal loops, in turns: for `budget` seconds, in pieces of at least 4 ms and 200 steps.
template <class Loop>
Steps race(const std::filesystem::path& folder, double budget) {
  Loop alone, hooked;
  auto step = hooked.executor();
  cr::MonitoredSession session{step, chain_of<never>(hooked, quiet(folder, never))};
  const auto by_hand = [&] { alone.advance(); };
  const auto by_session = [&] { session.run(); };
  const double first =
      std::max(1e-9, (seconds_of(200, by_hand), seconds_of(200, by_session), seconds_of(200, by_hand)));
  seconds_of(200, by_session);
  const std::int64_t piece = 200 * (1 + static_cast<std::int64_t>(0.004 / first));
  Steps best;
  std::vector<double> ratios;
  for (double spent = 0; spent < budget;) {
    const bool swapped = ratios.size() % 2 == 1;
    double other = swapped ? seconds_of(piece, by_session) : 0;
    const double plain = seconds_of(piece, by_hand);
    if (!swapped) other = seconds_of(piece, by_session);
    best.alone = std::min(best.alone, plain / static_cast<double>(piece));
    best.hooked = std::min(best.hooked, other / static_cast<double>(piece));
    ratios.push_back(other / plain);
    spent += plain + other;
  }
  best.ratio = median(ratios);
  session.close();
  return best;
}

/// Median seconds of a step in which everything is due: log line, row, summary, dump, profile, checkpoint.
template <class Loop>
double all_due(const std::filesystem::path& folder) {
  Loop loop;
  auto step = loop.executor();
  cr::MonitoredSession session{step, chain_of<1>(loop, quiet(folder, 1))};
  std::vector<double> times;
  for (int i = 0; i < 41; ++i) times.push_back(seconds_of(1, [&] { session.run(); }));
  session.close();
  return median(times);
}

/// Prints one row of the table in README.md.
template <class Loop>
int bench(const std::filesystem::path& folder) {
  std::filesystem::remove_all(folder);
  const Steps steps = race<Loop>(folder / "nothing_due", 20);
  const double due = all_due<Loop>(folder / "all_due") - steps.alone;
  std::printf("%.2f us alone; nothing due: %+.0f ns, %+.2f %% (median of pairs %+.2f %%); all due: %.2f ms\n",
              steps.alone * 1e6, (steps.hooked - steps.alone) * 1e9, (steps.hooked / steps.alone - 1) * 100,
              (steps.ratio - 1) * 100, due * 1e3);
  return 0;
}

}  // namespace loops
