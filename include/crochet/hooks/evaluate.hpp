// SPDX-License-Identifier: Apache-2.0
// Evaluate: evaluates a whole data set at an interval, beside the main run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/data_pass.hpp>
#include <crochet/hooks/kit/evaluation.hpp>
#include <crochet/hooks/kit/metric_cursor.hpp>

namespace crochet {

/// When to evaluate, and what to do with the result.
template <class... N>
struct EvaluateOptions {
  std::optional<std::int64_t> every_steps{};  ///< global steps
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  bool at_start = false;  ///< also when the session is created, unless it resumes a training
  bool at_end = true;     ///< also at the end of the training, unless that step is already evaluated
  std::optional<std::int64_t> max_batches{};  ///< maximum number of batches in a pass
  PassScope during{};                         ///< scope of a pass: averages.swapped() runs it with averaged weights
  std::function<void(const Evaluation<N...>&)> then{};
  std::function<bool(const Evaluation<N...>&)> stop_if{};  ///< true: requests a stop
  Sink sink{};
  Clock clock{};
};

/// Runs over `data` without hooks, fetches the names and averages them, each batch weighted by its size:
///   Evaluate{fetches<"accuracy", "loss">, test_batches, {.every_steps = 500}}
///   every_steps    global steps  unset   at most one of the three; out of range or never due at all: begin throws
///   every_seconds  seconds       unset   LogicError
///   every_epochs   epochs        unset   epochs of the data
///   anchor         -             global_step   first_run: after runs 1, 1 + N, 1 + 2N, ...
///   at_start       -             false   also when the session is created, unless it resumes a training
///   at_end         -             true    also at the end of the training, unless that step is already evaluated
///   max_batches    batches       unset   maximum number of batches in a pass; above 0, else begin throws LogicError
///   during         -             unset   scope of a pass
///   then           -             unset   receives the result of each pass
///   stop_if        -             unset   receives the result of each pass at the interval; true requests a stop
///   sink, clock                          standard error, steady
/// - data: a range of feeds (of Feed, Feeds or RunArgs), or a callable that returns a std::optional of them. An empty
///   optional, or an OutOfRangeError, ends the pass; the next call starts a new one. passes_over(batches, ...) makes
///   such a callable of Batches. A callable with restart() is restarted before each pass; others continue where
///   max_batches ended the pass, at the beginning if that was behind the last batch. The size of a batch is the leading
///   extent of its first feed that is not a scalar; the values of a batch without rows do not count. The fetched values
///   are scalars.
/// - Fires: after the run that makes a multiple of every_steps, before the hooks behind it handle that run. The first
///   interval of seconds begins when the session is created.
/// - Fetches: nothing in the main run.
/// - On several ranks every rank evaluates its part of the data, and a loss or an accuracy is that of all of it,
///   weighted by the rows of all ranks' batches. Rank 0 writes the line.
/// - After each pass: a line `step 500: accuracy = 0.8921, loss = 0.3012 (79 batches, 0.520 sec)` to the sink, then
///   `then`. `stop_if` is called after a pass at the interval only, not at the start or at the end. `latest()` is the
///   last result.
/// - The state of these functions is not saved. For early stopping of a resumable training, publish to a MetricChannel
///   and use stop_if_no_increase or stop_if_no_decrease.
/// - A pass has its own workspace, so the main run's values stay unchanged. It shares the variables of the main run: a
///   pass that runs a train target trains, and one that draws random numbers (dropout) changes those of later steps.
///   For the same steps with and without evaluations fetch a network without dropout (SharedVariables).
/// - A stop by interruption (StopKind: a signal, a time budget, an error of a thread) and a resume cause no evaluation.
///   A resumed training evaluates the same steps as an uninterrupted one.
/// - Cost: a comparison per run between passes.
/// - Throws: LogicError for a pass without a batch, or whose batches are all empty; what the data and the runs throw. A
///   StopIteration ends the training: another rank has ended, or a stop was requested while the data were awaited.
/// - See also InMemoryEvaluator, which runs its passes with hooks.
template <class FetchList, class Data>
class Evaluate;
template <class... N, class Data>
class Evaluate<Fetches<N...>, Data> : public PublishesMetrics {
 public:
  static_assert(call_is_usable<detail::pass_reason<Data>>, "crochet: crochet::error says why");
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::save_state, phase::load_state>;
  using Result = Evaluation<N...>;
  static constexpr Fetches<N...> fetches{};  // checked at compile time, fetched in the passes

  Evaluate(Fetches<N...>, Data data, EvaluateOptions<N...> options = {})
      : data_(std::move(data)), options_(std::move(options)) {}

  /// The last result; its step is -1 before the first one.
  [[nodiscard]] const Result& latest() const { return latest_; }

  void mute() { options_.sink = no_lines; }
  void begin() {
    timer_ = cadence_of<Evaluate>(every(), options_.anchor, Cadence::First::after_interval);
    detail::require_batches("Evaluate", options_.max_batches);
    if (!every().any() && !options_.at_start && !options_.at_end) {
      throw LogicError("crochet: Evaluate: set every_steps, every_seconds, every_epochs, at_start or at_end");
    }
    latest_ = {};
    resumes_ = false;
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) {
      cursor_.begin(metrics);
      (metrics.announce(N::view()), ...);
    });
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    detail::require_no_clock_on_ranks<Evaluate>(every(), session);
    if (latest_.step > session.step()) latest_ = {};  // its weights were lost
    timer_.session_begins(session, options_.clock());
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) { cursor_.open(metrics, session); });
    if (options_.at_start && !resumes_) evaluate(session);
    resumes_ = true;  // once it has succeeded
  }
  RunArgs<> before_run(auto& /*run*/) const { return {}; }
  void after_run(auto& run, const auto& /*values*/) {
    if (timer_.due(run, options_.clock)) [[unlikely]] {
      if (run.skipped()) return;
      evaluate(run.session());
      timer_.triggered(run.step(), options_.clock());
      if (options_.stop_if && options_.stop_if(latest_)) run.request_stop(detail::evaluation_text(latest_));
    }
  }
  void end(auto& session) {
    if (options_.at_end && !session.interrupted() && latest_.step != session.step()) evaluate(session);
  }

  /// State: when the next pass is due, the last result, and the channel's history if `then` is a channel.
  void save_state(auto& out) const {
    timer_.save_state(out, options_.clock());
    detail::save_evaluation(latest_, options_.every_epochs.has_value(), out);
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) { cursor_.save_state(metrics, out); });
  }
  void load_state(auto& in) {
    timer_.load_state(in, options_.clock());
    resumes_ = detail::load_evaluation(latest_, in);
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) { cursor_.load_state(metrics, in); });
  }

  [[nodiscard]] std::string cadence() const {
    std::string all = options_.at_start ? "at the start" : "";
    const auto add = [&](const std::string& when) { (all += all.empty() || when.empty() ? "" : ", ") += when; };
    add(cadence_text(every(), options_.anchor));
    if (options_.at_end) add("at the end");
    return all;
  }

 private:
  [[nodiscard]] Intervals every() const {
    return {options_.every_steps, options_.every_seconds, options_.every_epochs};
  }
  CROCHET_COLD void evaluate(auto& session) {
    const double start = options_.clock();
    latest_ = pass_over(session);
    options_.sink(detail::evaluation_text(latest_) + detail::evaluation_cost(latest_, options_.clock() - start));
    if (options_.then) options_.then(latest_);
  }
  Result pass_over(auto& session) {
    const auto scope = options_.during ? options_.during() : nullptr;
    Result sums{.step = session.step(), .epoch = options_.every_epochs ? session.epoch() : -1};
    try {
      detail::for_each_batch(data_, options_.max_batches, [&](const auto& feeds) {
        const auto& fetched = session.run(fetches, feeds);
        detail::add_batch(sums, session.weight_of_side_batch(detail::batch_size(feeds)), fetched);
        return true;
      });
    } catch (const OutOfRangeError&) {  // of a run or a range: it would end the training, without an error
    }
    return detail::averaged("Evaluate", sums);
  }

  Data data_;
  EvaluateOptions<N...> options_;
  Cadence timer_;
  Result latest_;
  MetricCursor cursor_;
  bool resumes_ = false;  // the training began in an earlier session
};
template <class... N, class Data>
Evaluate(Fetches<N...>, Data) -> Evaluate<Fetches<N...>, Data>;
template <class... N, class Data>
Evaluate(Fetches<N...>, Data, EvaluateOptions<N...>) -> Evaluate<Fetches<N...>, Data>;

}  // namespace crochet
