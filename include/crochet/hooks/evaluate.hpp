// SPDX-License-Identifier: Apache-2.0
// Evaluate: runs another plan over a whole data set now and then, beside the main run.
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
#include <crochet/hooks/kit/evaluation.hpp>
#include <crochet/hooks/kit/metric_cursor.hpp>

namespace crochet {

/// When to evaluate, and what to do with the result.
template <class... N>
struct EvaluateOptions {
  std::optional<std::int64_t> every_steps{};  ///< global steps
  std::optional<double> every_seconds{};
  Anchor anchor = Anchor::global_step;
  bool at_start = false;  ///< also when the session is created, unless it resumes a training
  bool at_end = true;     ///< also at the end of the training, unless that step is evaluated already
  std::optional<std::int64_t> max_batches{};  ///< a pass ends after so many
  PassScope during{};                         ///< what holds during a pass: averages.swapped() has averaged weights
  std::function<void(const Evaluation<N...>&)> then{};
  std::function<bool(const Evaluation<N...>&)> stop_if{};  ///< true: asks to stop
  Sink sink{};
  Clock clock{};
};

/// Runs over `data` without hooks, fetches the names, and averages them, each batch weighted by its size:
///   Evaluate{fetches<"accuracy", "loss">, test_batches, {.every_steps = 500}}
///   every_steps    global steps  unset   at most one of the two; out of range or nothing ever due: begin throws
///   every_seconds  seconds       unset   LogicError
///   anchor         -             global_step   first_run: after runs 1, 1 + N, 1 + 2N, ...
///   at_start       -             false   also when the session is created, unless it resumes a training
///   at_end         -             true    also at the end of the training, unless that step is evaluated already
///   max_batches    batches       unset   a pass ends after so many
///   during         -             unset   holds during a pass
///   then, stop_if                unset   are given each result; stop_if asks to stop by returning true
///   sink, clock                          standard error, steady
/// `data` is a range of feeds (of Feed, Feeds or RunArgs), or a callable that returns a std::optional of them: an empty
/// one ends the pass, and the next call begins a new one; passes_over(batches, ...) makes one of Batches. A callable
/// that has restart() is restarted before each pass; others go on where max_batches left them. The size of a batch is
/// the leading extent of its first feed that is not a scalar. The values must be scalars. After each pass: a line
/// `step 500: accuracy = 0.8921, loss = 0.3012 (79 batches, 0.520 sec)` to the sink, then `then`, then `stop_if`. What
/// these functions hold is not saved: for early stopping of a training that is resumed, publish to a MetricChannel and
/// take stop_if_no_increase or stop_if_no_decrease. `latest()` is the last result. The main run's values stay as
/// they are: the pass has memory of its own. The graph's variables are the main run's, so a pass that runs a train
/// target trains. Fires: after the run that makes a multiple of every_steps, before the hooks behind it see that run;
/// the first interval of seconds begins when the session is created. Fetches: nothing in the main run. Cost: a
/// comparison between passes. A session that is interrupted (StopKind: a signal, a time budget, an error of a thread)
/// or that resumes a training makes no evaluation for that: it evaluates the steps that an undisturbed run evaluates,
/// and no others. A pass without a batch throws LogicError. InMemoryEvaluator does the same under hooks of its own.
template <class FetchList, class Data>
class Evaluate;
template <class... N, class Data>
class Evaluate<Fetches<N...>, Data> : public PublishesMetrics {
 public:
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::save_state, phase::load_state>;
  using Result = Evaluation<N...>;
  static constexpr Fetches<N...> fetches{};  // checked at once, asked for in passes of its own

  Evaluate(Fetches<N...>, Data data, EvaluateOptions<N...> options = {})
      : data_(std::move(data)), options_(std::move(options)) {}

  /// The last result; its step is -1 while there is none.
  [[nodiscard]] const Result& latest() const { return latest_; }

  void begin() {
    timer_ = cadence_of<Evaluate>(options_.every_steps, options_.every_seconds, options_.anchor,
                                  Cadence::First::after_interval);
    if (!options_.every_steps && !options_.every_seconds && !options_.at_start && !options_.at_end) {
      throw LogicError("crochet: Evaluate: set every_steps, every_seconds, at_start or at_end");
    }
    latest_ = {};
    resumes_ = false;
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) { cursor_.begin(metrics); });
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    timer_.session_begins(session.step(), options_.clock());
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) { cursor_.open(metrics, session); });
    if (options_.at_start && !std::exchange(resumes_, true)) evaluate(session);
  }
  RunArgs<> before_run(auto& /*run*/) const { return {}; }
  void after_run(auto& run, const auto& /*values*/) {
    if (timer_.due(run.step(), options_.clock)) [[unlikely]] {
      evaluate(run.session());
      timer_.triggered(run.step(), options_.clock());
      if (options_.stop_if && options_.stop_if(latest_)) run.request_stop(detail::evaluation_text(latest_));
    }
  }
  void end(auto& session) {
    if (options_.at_end && !session.interrupted() && latest_.step != session.step()) evaluate(session);
  }

  /// When the next pass is due, the last result, and the history of the channel if `then` is one.
  void save_state(auto& out) const {
    timer_.save_state(out, options_.clock());
    out.put("step", latest_.step);
    out.put("batches", latest_.batches);
    out.put("weight", latest_.weight);
    out.put("values", latest_.values);
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) { cursor_.save_state(metrics, out); });
  }
  void load_state(auto& in) {
    timer_.load_state(in, options_.clock());
    resumes_ = in.get("step", latest_.step);
    in.get("batches", latest_.batches);
    in.get("weight", latest_.weight);
    in.get("values", latest_.values);
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) { cursor_.load_state(metrics, in); });
  }

  [[nodiscard]] std::string cadence() const {
    std::string all = options_.at_start ? "at the start" : "";
    const auto add = [&](const std::string& when) { (all += all.empty() || when.empty() ? "" : ", ") += when; };
    add(cadence_text(options_.every_steps, options_.every_seconds, options_.anchor));
    if (options_.at_end) add("at the end");
    return all;
  }

 private:
  CROCHET_COLD void evaluate(auto& session) {
    const double start = options_.clock();
    latest_ = pass_over(session);
    options_.sink(detail::evaluation_text(latest_) + detail::evaluation_cost(latest_, options_.clock() - start));
    if (options_.then) options_.then(latest_);
  }
  Result pass_over(auto& session) {
    const auto scope = options_.during ? options_.during() : nullptr;
    Result sums{.step = session.step()};
    const auto run = [&](const auto& feeds) { return session.run(fetches, feeds); };
    detail::add_pass(sums, data_, options_.max_batches, run, [] { return false; });
    return detail::averaged(sums);
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
