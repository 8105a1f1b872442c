// SPDX-License-Identifier: Apache-2.0
// InMemoryEvaluator: evaluation with hooks of its own, in a session nested in the training's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/epochs.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/placed_chain.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/state_key.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/data_pass.hpp>
#include <crochet/hooks/kit/evaluation.hpp>
#include <crochet/hooks/kit/metric_cursor.hpp>
#include <crochet/session/side_session.hpp>

namespace crochet {

/// When to evaluate, and what to do with the result.
template <class... N>
struct InMemoryEvaluatorOptions {
  std::optional<std::int64_t> every_steps{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  std::optional<std::int64_t> max_batches{};
  PassScope during{};
  std::function<void(const Evaluation<N...>&)> then{};
  Sink sink{};
  Clock clock{};
};

/// Evaluates when the session is created, every N steps and at the end, each time as a nested session with its own
/// hooks. Each of these hooks handles begin, after_create_session, every run of the pass, and end.
///   InMemoryEvaluator{fetches<"accuracy">, test_batches, HookChain{ProgressBar{...}}, {.every_steps = 500}}
///   every_steps  global steps  100    above 0, else begin throws LogicError
///   every_epochs epochs        unset  in place of every_steps
///   anchor       -             global_step   first_run: counted from the step at which the session is created
///   max_batches  batches       unset  maximum number of batches in a pass; above 0, else begin throws LogicError
///   during, then, sink, clock, data   as for Evaluate; the values are scalars too
/// - Fires: with every_steps = 4 and 10 steps, at 0, 4, 8 and 10. At the end only if that step is not already evaluated
///   (TensorFlow evaluates it twice). A pass also ends when one of its hooks requests a stop.
/// - An interrupted session (StopKind) is not evaluated at its end. A resumed or recovered one is not evaluated at its
///   start. The evaluated steps are those of an uninterrupted run.
/// - Fetches: nothing in the main run.
/// - Cost: a comparison per run between passes. The nested session and its memory are made for the first pass and
///   reused; TensorFlow builds a graph and a session for each pass.
/// - On several ranks every rank evaluates its part of the data, as Evaluate does. Hooks of a pass that state
///   RunsOn::chief run on rank 0; in a decorated evaluator these are written as OnChief<H>.
/// - Epochs: a hook of a pass counts those of a CheckpointInputPipeline among the hooks of the pass, else those of the
///   training's session.
/// - Uses the executor's variables in place: nothing is copied, and every kind of saver and initializer is allowed.
/// - Throws: what the runs of a pass and their hooks throw, after on_error of these hooks, except OutOfRangeError and
///   StopIteration, which end the pass. What their begin, after_create_session and end throw leaves the evaluator
///   without on_error of these hooks, an OutOfRangeError as a LogicError: the training would end at it.
template <class FetchList, class Data, class Chain = HookChain<>>
class InMemoryEvaluator;
template <class... N, class Data, class Chain>
class InMemoryEvaluator<Fetches<N...>, Data, Chain> : public PublishesMetrics {
 public:
  static_assert(call_is_usable<detail::pass_reason<Data>>, "crochet: crochet::error says why");
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::save_state, phase::load_state>;
  using Result = Evaluation<N...>;
  static constexpr Fetches<N...> fetches{};  // checked at compile time, fetched in the passes

  InMemoryEvaluator(Fetches<N...>, Data data, Chain hooks = {}, InMemoryEvaluatorOptions<N...> options = {})
      : data_(std::move(data)), hooks_(std::move(hooks)), options_(std::move(options)) {}

  /// The same evaluator with the hooks of its passes in their places on several ranks. Made before begin.
  template <class Unplaced>
  explicit InMemoryEvaluator(InMemoryEvaluator<Fetches<N...>, Data, Unplaced>&& plain)
      : data_(std::move(plain.data_)),
        hooks_(detail::chain_of_hooks_of<Chain>(std::move(plain.hooks_))),
        options_(std::move(plain.options_)) {}

  /// The last result; its step is -1 before the first one.
  [[nodiscard]] const Result& latest() const { return latest_; }
  [[nodiscard]] Chain& hooks() { return hooks_; }

  void mute() { options_.sink = no_lines; }
  void begin() {
    timer_ = required_cadence_of<InMemoryEvaluator>(every(), options_.anchor);
    detail::require_batches("InMemoryEvaluator", options_.max_batches);
    latest_ = {};
    resumes_ = false;
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) {
      cursor_.begin(metrics);
      (metrics.announce(N::view()), ...);
    });
    nested_.reset();
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    detail::require_no_clock_on_ranks<InMemoryEvaluator>(every(), session);
    if (latest_.step > session.step()) latest_ = {};  // its weights were lost
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) { cursor_.open(metrics, session); });
    if (!resumes_) evaluate(session);
    resumes_ = true;  // once it has succeeded
    timer_.start_unless_running(session, options_.clock());
  }
  RunArgs<> before_run(auto& /*run*/) const { return {}; }
  void after_run(auto& run, const auto& /*values*/) {
    if (timer_.due(run, options_.clock)) [[unlikely]] {
      if (run.skipped()) return;
      evaluate(run.session());
      timer_.triggered(run.step(), options_.clock());
    }
  }
  void end(auto& session) {
    if (!session.interrupted() && latest_.step != session.step()) evaluate(session);
    nested_.reset();
  }

  /// State: when the next pass is due, the last result, and the channel's history if `then` is a channel.
  void save_state(auto& out) const {
    timer_.save_state(out, options_.clock());
    out.section("latest", [&] { detail::save_evaluation(latest_, options_.every_epochs.has_value(), out); });
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) { cursor_.save_state(metrics, out); });
  }
  void load_state(auto& in) {
    timer_.load_state(in, options_.clock());
    resumes_ = timer_.started();
    in.section("latest", [&] { resumes_ = (detail::load_evaluation(latest_, in) && latest_.step >= 0) || resumes_; });
    detail::with_channel(options_.then, [&](const MetricChannel& metrics) { cursor_.load_state(metrics, in); });
  }

  [[nodiscard]] std::string cadence() const {
    return "at the start, " + cadence_text(every(), options_.anchor) + ", at the end";
  }

 private:
  template <class, class, class>
  friend class InMemoryEvaluator;

  [[nodiscard]] Intervals every() const {
    return Intervals{options_.every_steps, {}, options_.every_epochs}.or_every(100);
  }
  template <class Session>
  CROCHET_COLD void evaluate(Session& session) {
    const double start = options_.clock();
    latest_ = pass_over(nested<Session>(session), session.step(), session.epochs());
    if (options_.every_epochs) latest_.epoch = session.epoch();
    options_.sink(detail::evaluation_text(latest_) + detail::evaluation_cost(latest_, options_.clock() - start));
    if (options_.then) options_.then(latest_);
  }
  /// The nested session, made for the first pass.
  template <class Session>
  auto& nested(Session& session) {
    using Nested = detail::side_session_of<Session>;
    auto made = std::static_pointer_cast<Nested>(nested_);
    if (!made || !made->belongs_to(session)) nested_ = made = std::make_shared<Nested>(session);
    return *made;
  }
  Result pass_over(auto& nested, std::int64_t step, EpochSource epochs) {
    const auto scope = options_.during ? options_.during() : nullptr;
    Result sums{.step = step};
    const auto body = [&](auto& side) {
      detail::for_each_batch(data_, options_.max_batches, [&](const auto& feeds) {
        const auto& fetched = side.run(fetches, feeds);
        detail::add_batch(sums, side.weight_of_batch(detail::batch_size(feeds)), fetched);
        return !side.should_stop();
      });
    };
    nested.drive(hooks_, step, body, epochs);
    return detail::averaged("InMemoryEvaluator", sums);
  }

  Data data_;
  Chain hooks_;
  InMemoryEvaluatorOptions<N...> options_;
  Cadence timer_;
  Result latest_;
  MetricCursor cursor_;
  bool resumes_ = false;  // the training began in an earlier session
  std::shared_ptr<void> nested_;
};

namespace detail {

/// An evaluator with the hooks of its passes in their places. Its state has the key of the one without places.
template <class Plain, class Placed>
struct PlacedEvaluator : Placed {
  using Placed::Placed;
  static constexpr std::string_view state_key = state_key_of<Plain>();
};
template <class E, class FetchList, class Data, class Chain>
requires has_hooks_to_place<E, Chain>
struct PlacedHook<E, InMemoryEvaluator<FetchList, Data, Chain>> {
  using type = PlacedEvaluator<InMemoryEvaluator<FetchList, Data, Chain>,
                               InMemoryEvaluator<FetchList, Data, placed_chain<E, Chain>>>;
};

}  // namespace detail

template <class... N, class Data>
InMemoryEvaluator(Fetches<N...>, Data) -> InMemoryEvaluator<Fetches<N...>, Data>;
template <class... N, class Data, class Chain>
InMemoryEvaluator(Fetches<N...>, Data, Chain) -> InMemoryEvaluator<Fetches<N...>, Data, Chain>;
template <class... N, class Data, class Chain>
InMemoryEvaluator(Fetches<N...>, Data, Chain, InMemoryEvaluatorOptions<N...>)
    -> InMemoryEvaluator<Fetches<N...>, Data, Chain>;

}  // namespace crochet
