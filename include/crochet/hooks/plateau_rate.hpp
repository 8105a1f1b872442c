// SPDX-License-Identifier: Apache-2.0
// PlateauRate: a learning rate that is reduced when a value no longer improves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include <crochet/base/error.hpp>
#include <crochet/hooks/kit/load_count.hpp>
#include <crochet/hooks/kit/patience.hpp>

namespace crochet {

/// The rule of ReduceOnPlateau and ReduceOnMetricPlateau (ReduceLROnPlateau in Keras and PyTorch). Usable without a
/// hook: `if (rate.reduced(loss, step)) use(rate.now);`.
///   aim        -       -     required: which values are better
///   rate       -       1e-3  the first rate, above 0
///   factor     -       0.1   the next rate is the rate times this; above 0 and below 1
///   patience   values  10    number of consecutive values without improvement; at least 1
///   min_delta  -       0     an improvement is larger than this
///   cooldown   values  0     number of values after a reduction that do not count for `patience`; a better one among
///                            them still becomes the best value
///   min_rate   -       0     lower bound of the rate
struct PlateauRate {
  Aim aim;
  double rate = 1e-3;
  double factor = 0.1;
  std::int64_t patience = 10;
  double min_delta = 0;
  std::int64_t cooldown = 0;
  double min_rate = 0;

  double now = 0;  // start() sets it to `rate`
  Patience seen{.aim = aim};
  std::int64_t cooling = 0;

  /// Resets the state. Throws LogicError if a setting is out of range; the message names `who`.
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

  /// Records a value. True if the rate has changed.
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
    double saved = 0;  // by a session in which the hook was off: Switched
    if (in.get("rate", saved) && saved > 0) now = saved;
    in.get("best", seen.best);
    if (in.get("best_step", seen.best_step)) seen.last_step = seen.best_step;
    detail::load_count(in, "since", seen.since);
    detail::load_count(in, "cooling", cooling);
  }
};

}  // namespace crochet
