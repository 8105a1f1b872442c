// SPDX-License-Identifier: Apache-2.0
// The rules of stop_if_higher and its sisters over the published values of a metric: CrossedThreshold, NoImprovement,
// ExhaustedPatience. Each returns the reason of a stop, or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <crochet/hooks/kit/aim.hpp>
#include <crochet/hooks/kit/metric_channel.hpp>
#include <crochet/hooks/kit/patience.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// Whether any value is beyond the threshold; an equal one is not.
struct CrossedThreshold {
  MetricChannel metrics;
  std::string metric;
  double threshold;
  Aim beyond;  ///< highest: stops above the threshold; lowest: below it
  std::int64_t min_steps;

  std::optional<std::string> operator()() const {
    std::optional<std::string> reason;
    metrics.for_each(metric, [&](std::int64_t step, double value) {
      if (reason || step < min_steps || !crossed(value)) return;
      reason = metric + " = " + detail::value_text(value) + " at step " + std::to_string(step) + " is " +
               (beyond == Aim::highest ? "above " : "below ") + detail::value_text(threshold);
    });
    return reason;
  }
  [[nodiscard]] std::string warning() const {
    if (!metrics.empty()) return "";
    return "crochet: early stopping has never seen " + metric + "; does an evaluator publish to its MetricChannel?";
  }

 private:
  [[nodiscard]] bool crossed(double value) const {
    return beyond == Aim::highest ? value > threshold : value < threshold;
  }
};

/// Whether no value was strictly better than the best for the number of steps. NaN is never better.
struct NoImprovement {
  MetricChannel metrics;
  std::string metric;
  std::int64_t max_steps;
  Aim aim;
  std::int64_t min_steps;

  std::optional<std::string> operator()() const {
    Patience seen{.aim = aim, .patience = 1};
    std::optional<std::int64_t> since;  // the step of the best value, or of the first one if all are NaN
    std::optional<std::string> reason;
    metrics.for_each(metric, [&](std::int64_t step, double value) {
      if (reason || step < min_steps) return;
      if (!seen.exhausted(value, step) || !since) since = step;
      if (step - *since >= max_steps) reason = text(seen, step - *since);
    });
    return reason;
  }
  [[nodiscard]] std::string warning() const { return CrossedThreshold{metrics, metric, 0, aim, 0}.warning(); }

 private:
  [[nodiscard]] std::string text(const Patience& seen, std::int64_t steps) const {
    if (seen.best_step < 0) return metric + " was not a number for " + std::to_string(steps) + " steps";
    return metric + " is not " + std::string(aim.comparative()) + " than " + detail::value_text(seen.best) +
           ", of step " + std::to_string(seen.best_step) + ", for " + std::to_string(steps) + " steps";
  }
};

/// Whether the published values have exhausted a Patience.
struct ExhaustedPatience {
  MetricChannel metrics;
  std::string metric;
  Patience rule;
  std::int64_t min_steps;

  std::optional<std::string> operator()() const {
    Patience seen{.aim = rule.aim, .patience = rule.patience, .min_delta = rule.min_delta};
    std::optional<std::string> reason;
    metrics.for_each(metric, [&](std::int64_t step, double value) {
      if (reason || step < min_steps || !seen.exhausted(value, step)) return;
      reason = text(seen);
    });
    return reason;
  }
  [[nodiscard]] std::string warning() const { return CrossedThreshold{metrics, metric, 0, rule.aim, 0}.warning(); }

 private:
  [[nodiscard]] std::string text(const Patience& seen) const {
    const std::string count = std::to_string(seen.since) + " evaluations";
    if (seen.best_step < 0) return metric + " was not a number for " + count;
    return metric + " is not " + std::string(rule.aim.comparative()) + " than " + detail::value_text(seen.best) +
           ", of step " + std::to_string(seen.best_step) + ", for " + count;
  }
};

}  // namespace crochet
