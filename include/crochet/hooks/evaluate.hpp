// SPDX-License-Identifier: Apache-2.0
// Evaluate: runs another plan over a whole data set now and then, beside the main run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/config.hpp>
#include <crochet/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/cadence.hpp>
#include <crochet/hooks/clock.hpp>
#include <crochet/hooks/data_pass.hpp>
#include <crochet/hooks/sink.hpp>
#include <crochet/hooks/value_text.hpp>

namespace crochet {

/// The averages over one pass; N are Name types.
template <class... N>
struct Evaluation {
  std::int64_t step = -1;  ///< the global step at which it was made; -1: none was
  std::int64_t batches = 0;
  double weight = 0;  ///< the sum of the batches' sizes
  std::array<double, sizeof...(N)> values{};

  template <class Wanted>
  [[nodiscard]] constexpr double operator[](Wanted) const {
    static_assert((std::is_same_v<Wanted, N> || ...), "crochet: this name is not among those that Evaluate fetches");
    std::size_t index = 0;
    (void)((std::is_same_v<Wanted, N> || (++index, false)) || ...);
    return values[index];
  }
};

/// When to evaluate, and what to do with the result.
template <class... N>
struct EvaluateOptions {
  std::optional<std::int64_t> every_steps{};  ///< global steps
  std::optional<double> every_seconds{};
  bool at_start = false;  ///< also when the session is created
  bool at_end = true;     ///< also at the end, unless that step is evaluated already
  std::function<void(const Evaluation<N...>&)> then{};
  std::function<bool(const Evaluation<N...>&)> stop_if{};  ///< true: asks to stop
  Sink sink{};
  Clock clock{};
};

/// Runs over `data` without hooks, fetches the names, and averages them, each batch weighted by its size:
///   Evaluate{fetches<"accuracy", "loss">, test_batches, {.every_steps = 500}}
/// `data` is a range of feeds (of Feed, Feeds or RunArgs), or a callable that returns a std::optional of them: an empty
/// one ends the pass, and the next call begins a new one; passes_over(batches, ...) makes one of Batches. The size of a
/// batch is the leading extent of its first feed that is not a scalar. The values must be scalars. After each pass: a
/// line `step 500: accuracy = 0.8921, loss = 0.3012 (79 batches, 0.520 sec)` to the sink, then `then`, then `stop_if`,
/// which is where early stopping on a validation value belongs. `latest()` is the last result. The main run's values
/// stay as they are: the pass has memory of its own. The graph's variables are the main run's, so a pass that runs a
/// train target trains. begin throws LogicError if both intervals are given or one is out of range, or if it would
/// never be due; a pass without a batch throws LogicError. Cost: a comparison between passes. The original's in-memory
/// evaluator builds a second session for every evaluation and averages by metric variables.
template <class FetchList, class Data>
class Evaluate;
template <class... N, class Data>
class Evaluate<Fetches<N...>, Data> {
 public:
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end>;
  using Result = Evaluation<N...>;
  static constexpr Fetches<N...> fetches{};  // checked at once, asked for in passes of its own

  Evaluate(Fetches<N...>, Data data, EvaluateOptions<N...> options = {})
      : data_(std::move(data)), options_(std::move(options)) {}

  /// The last result; its step is -1 while there is none.
  [[nodiscard]] const Result& latest() const { return latest_; }

  void begin() {
    timer_ = cadence_of<Evaluate>(options_.every_steps, options_.every_seconds, Cadence::First::after_interval);
    if (!options_.every_steps && !options_.every_seconds && !options_.at_start && !options_.at_end) {
      throw LogicError("crochet: Evaluate: set every_steps, every_seconds, at_start or at_end");
    }
    latest_ = {};
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    timer_.start(session.step(), options_.clock());
    if (options_.at_start) evaluate(session);
  }
  RunArgs<> before_run(auto& /*run*/) const { return {}; }
  void after_run(auto& run, const auto& /*values*/) {
    if (timer_.due(run.step(), options_.clock)) [[unlikely]] {
      evaluate(run.session());
      timer_.triggered(run.step(), options_.clock());
      if (options_.stop_if && options_.stop_if(latest_)) run.request_stop(text());
    }
  }
  void end(auto& session) {
    if (options_.at_end && latest_.step != session.step()) evaluate(session);
  }

  [[nodiscard]] std::string cadence() const {
    std::string all = options_.at_start ? "at the start" : "";
    const auto add = [&](const std::string& when) { (all += all.empty() || when.empty() ? "" : ", ") += when; };
    add(cadence_text(options_.every_steps, options_.every_seconds));
    if (options_.at_end) add("at the end");
    return all;
  }

 private:
  CROCHET_COLD void evaluate(auto& session) {
    const double start = options_.clock();
    Result sums{.step = session.step()};
    detail::for_each_batch(data_, [&](const auto& feeds) {
      const double weight = detail::batch_size(feeds);
      const auto fetched = session.run(fetches, feeds);
      add(sums, weight, fetched);
    });
    if (sums.batches == 0) {
      throw LogicError("crochet: Evaluate: the data gave no batch; after the last one it has to begin again");
    }
    for (double& value : sums.values) value /= sums.weight;
    latest_ = sums;
    say(options_.clock() - start);
    if (options_.then) options_.then(latest_);
  }

  static void add(Result& sums, double weight, const auto& fetched) {
    std::size_t i = 0;
    ((sums.values[i++] += weight * scalar(fetched[N{}])), ...);
    sums.weight += weight;
    ++sums.batches;
  }
  template <class T>
  static double scalar(const T& value) {
    static_assert(std::is_arithmetic_v<T>, "crochet: Evaluate averages scalars; fetch a mean, not a tensor");
    return static_cast<double>(value);
  }

  [[nodiscard]] std::string text() const {
    std::string all = "step " + std::to_string(latest_.step) + ": ";
    std::size_t i = 0;
    const auto add = [&](std::string_view name) {
      char value[40];
      std::snprintf(value, sizeof value, " = %.4g", latest_.values[i]);
      (all += i++ == 0 ? "" : ", ").append(name).append(value);
    };
    (add(N::view()), ...);
    return all;
  }
  void say(double seconds) const {
    char cost[64];
    std::snprintf(cost, sizeof cost, " (%lld batches, %.3f sec)", static_cast<long long>(latest_.batches), seconds);
    options_.sink(text() + cost);
  }

  Data data_;
  EvaluateOptions<N...> options_;
  Cadence timer_;
  Result latest_;
};
template <class... N, class Data>
Evaluate(Fetches<N...>, Data) -> Evaluate<Fetches<N...>, Data>;
template <class... N, class Data>
Evaluate(Fetches<N...>, Data, EvaluateOptions<N...>) -> Evaluate<Fetches<N...>, Data>;

}  // namespace crochet
