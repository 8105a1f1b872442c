// SPDX-License-Identifier: Apache-2.0
// FitHistory: the table that fit() returns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/number_text.hpp>
#include <crochet/hooks/kit/aim.hpp>
#include <crochet/hooks/kit/metric_channel.hpp>
#include <crochet/session/stop.hpp>

namespace crochet {

/// The epochs of a training, oldest first; a resumed one has those of all its sessions.
struct FitHistory {
  /// One epoch. The values are in the order of `names`.
  struct Epoch {
    std::int64_t epoch = 0;          ///< counted from 1
    std::int64_t step = 0;           ///< the global step at its end
    std::vector<double> training;    ///< means over its runs
    std::vector<double> validation;  ///< after it; empty without validation data
  };

  std::vector<std::string> names;
  std::vector<Epoch> epochs;
  StopReason reason;                   ///< which hook ended the training and why
  std::optional<std::int64_t> best{};  ///< the index in `epochs` of the best one, whose weights were restored

  /// As a table, a line for each epoch; the best one is marked:
  ///   epoch  step  loss    val loss
  ///       1    20  0.6931  0.7012
  [[nodiscard]] std::string text() const {
    std::string all = cell("epoch", 5) + cell("step", 9);
    const bool validated = !epochs.empty() && !epochs.front().validation.empty();
    for (const std::string& name : names) all += cell(name, 12);
    for (const std::string& name : names) all += validated ? cell("val " + name, 16) : "";
    for (std::size_t i = 0; i < epochs.size(); ++i) {
      all += '\n' + cell(std::to_string(epochs[i].epoch), 5) + cell(std::to_string(epochs[i].step), 9);
      for (const double value : epochs[i].training) all += cell(number(value), 12);
      for (const double value : epochs[i].validation) all += cell(number(value), 16);
      if (best == static_cast<std::int64_t>(i)) all += " *";
    }
    return all + '\n';
  }

  /// Reads what EpochMeans and Evaluate have published.
  static FitHistory of(const MetricChannel& metrics, std::vector<std::string> names, bool validated) {
    FitHistory history;
    history.names = std::move(names);
    if (metrics.empty()) return history;
    for (const auto& [step, epoch] : metrics.history("training/epoch"))
      history.epochs.push_back({whole_number(epoch), step, {}, {}});
    for (const std::string& name : history.names) {
      history.add(metrics.history("training/" + name), &Epoch::training);
      if (validated) history.add(metrics.history(name), &Epoch::validation);
    }
    return history;
  }

  /// Sets `best` by the values of the monitored metric, the first of equal ones.
  void find_best(const std::vector<MetricChannel::Entry>& monitored, Aim aim) {
    const MetricChannel::Entry* found = nullptr;
    for (const MetricChannel::Entry& entry : monitored) {
      if (found == nullptr ? !std::isnan(entry.value) : aim.better(entry.value, found->value)) found = &entry;
    }
    if (found != nullptr) set_best(found->step);
  }
  /// Sets `best` to the epoch that ended at this step, if there is one.
  void set_best(std::int64_t step) {
    for (std::size_t i = 0; i < epochs.size(); ++i) {
      if (epochs[i].step == step) best = static_cast<std::int64_t>(i);
    }
  }

 private:
  static std::string cell(std::string_view text, std::size_t width) {
    return std::string(width > text.size() ? width - text.size() : 1, ' ').append(text);
  }
  /// 0 for a value that counts nothing: the history may be of a checkpoint.
  static std::int64_t whole_number(double value) {
    constexpr double most = 1e15;  // below it each whole number is a double
    return value > 0 && value < most ? static_cast<std::int64_t>(value) : 0;
  }
  static std::string number(double value) { return detail::general_text(value, 4); }
  /// Adds a value to each epoch: that of its step, NaN if there is none.
  void add(const std::vector<MetricChannel::Entry>& entries, std::vector<double> Epoch::*list) {
    for (Epoch& epoch : epochs) {
      const auto found =
          std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.step == epoch.step; });
      (epoch.*list).push_back(found == entries.end() ? std::numeric_limits<double>::quiet_NaN() : found->value);
    }
  }
};

}  // namespace crochet
