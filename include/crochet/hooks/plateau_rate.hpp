// SPDX-License-Identifier: Apache-2.0
// PlateauRate: a learning rate that falls when a value does not get better any more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <crochet/base/error.hpp>
#include <crochet/hooks/early_stopping.hpp>

namespace crochet {

/// The rule that ReduceOnPlateau and ReduceOnMetricPlateau share; Keras and PyTorch have it under that name. Usable
/// without a hook: `if (rate.reduced(loss, step)) use(rate.now);`.
///   aim        -      -       required: which values are better
///   rate       -      1e-3    the first rate, above 0
///   factor     -      0.1     the rate times this is the next one; above 0 and below 1
///   patience   looks  10      so many in a row that are not better; at least 1
///   min_delta  -      0       better is better by more than this
///   cooldown   looks  0       so many after a reduction do not count
///   min_rate   -      0       it does not fall below
struct PlateauRate {
  Aim aim;
  double rate = 1e-3;
  double factor = 0.1;
  std::int64_t patience = 10;
  double min_delta = 0;
  std::int64_t cooldown = 0;
  double min_rate = 0;

  double now = 0;  // start() makes it `rate`
  Patience seen{.aim = aim};
  std::int64_t cooling = 0;

  /// Forgets everything. Throws LogicError if a setting is out of range; `who` is named.
  void start(const std::string& who) {
    const auto want = [&](bool good, const char* what) {
      if (!good) throw LogicError("crochet: " + who + ": " + what);
    };
    want(rate > 0, "the rate has to be above 0");
    want(factor > 0 && factor < 1, "the factor has to be above 0 and below 1");
    want(patience >= 1, "patience has to be at least 1");
    want(min_delta >= 0 && cooldown >= 0 && min_rate >= 0, "min_delta, cooldown and min_rate must not be below 0");
    now = rate;
    seen = {.aim = aim, .patience = patience, .min_delta = min_delta};
    cooling = 0;
  }

  /// Takes note of a value. True if the rate is another one now.
  bool reduced(double value, std::int64_t step) {
    const bool waits = cooling > 0;
    cooling -= waits ? 1 : 0;
    const bool exhausted = seen.exhausted(value, step);
    if (waits || exhausted) seen.since = 0;
    if (waits || !exhausted) return false;
    cooling = cooldown;
    const double before = now;
    now = std::max(now * factor, std::min(min_rate, now));
    return now != before;
  }

  void save_state(auto& out) const {
    out.put("rate", now);
    out.put("best", seen.best);
    out.put("best_step", seen.best_step);
    out.put("since", seen.since);
    out.put("cooling", cooling);
  }
  void load_state(auto& in) {
    in.get("rate", now);
    in.get("best", seen.best);
    in.get("best_step", seen.best_step);
    in.get("since", seen.since);
    in.get("cooling", cooling);
  }
};

}  // namespace crochet
