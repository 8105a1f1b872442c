// SPDX-License-Identifier: Apache-2.0
// MovingAverage: keeps exponential moving averages of the weights, for evaluation and saving.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/weight_averages.hpp>

namespace crochet {

/// After each run, average = decay * average + (1 - decay) * weight, starting with the weights' first values:
///   WeightAverages averages;
///   HookChain{MovingAverage{.averages = averages, .decay = 0.999},
///             Evaluate{fetches<"accuracy">, data, {.every_steps = 500, .during = averages.swapped()}}}
///   averages     -      its own      storage of the averages, which other hooks swap in
///   decay        -      0.999        not below 0, below 1
///   warm_up      -      false        min(decay, (1 + n) / (10 + n)) in update n, from 0: TensorFlow's num_updates
///   every_steps  steps  1            between two updates; above 0
///   every_epochs epochs unset        in place of every_steps
///   anchor       -      global_step      first_run: after runs 1, 1 + N, 1 + 2N, ...
///   include      -      all          filter of variables by name; only floating-point ones, and of a graph only the
///                                    trainable ones, are averaged, so no optimizer's slots
/// - Fires: after each run, or every N steps.
/// - Fetches: nothing; reads the executor's variables (HasVariables).
/// - Cost: a pass over the weights; memory for a copy of them.
/// - State: the averages and the number of updates. A resumed session continues exactly. A recovery does so too, and
///   begins with the weights if it goes back to an earlier step and restores no state of this hook.
/// - Throws: LogicError from begin for a setting out of range, from session creation if no variable is averaged, and
///   from after_run if the variables hold the averages then (WeightAverages::swap).
/// - Source: Tarvainen and Valpola, NIPS 2017; TensorFlow's ExponentialMovingAverage, which is part of its graph.
struct MovingAverage {
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::after_run, phase::save_state, phase::load_state>;

  WeightAverages averages{};
  double decay = 0.999;
  bool warm_up = false;
  std::optional<std::int64_t> every_steps{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  std::function<bool(std::string_view)> include{};

  Cadence timer{};

  void begin() {
    if (!(decay >= 0 && decay < 1)) throw LogicError("crochet: MovingAverage: decay has to be from 0 to below 1");
    timer = required_cadence_of<MovingAverage>(every(), anchor);
    averages.clear();
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    if (is_lost(session.step())) averages.forget();
    timer.session_begins(session, 0);
    averages.bind(session.executor(), include);
  }
  void after_run(auto& run, const auto& /*values*/) {
    constexpr auto no_clock = [] { return 0.0; };
    if (!timer.due(run, no_clock) || run.skipped()) return;
    timer.triggered(run.step(), 0);
    if (averages.are_swapped()) [[unlikely]] {
      refuse();
    }
    averages.update(run.session().executor(), decay_now());
  }

  void save_state(auto& out) const {
    averages.save_state(out);
    out.section("Cadence", [&] { timer.save_state(out, 0); });
  }
  void load_state(auto& in) {
    averages.load_state(in);
    in.section("Cadence", [&] { timer.load_state(in, 0); });
  }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), anchor); }

 private:
  [[nodiscard]] Intervals every() const { return Intervals{every_steps, {}, every_epochs}.or_every(1); }
  /// Whether the averages are of a training that a recovery has begun anew, at an earlier step.
  [[nodiscard]] bool is_lost(std::int64_t step) const {
    const std::int64_t last = timer.last_step().value_or(step);
    return last > step || (last == step && averages.updates() == 0);
  }
  [[nodiscard]] double decay_now() const {
    const auto n = static_cast<double>(averages.updates());
    return warm_up ? std::min(decay, (1 + n) / (10 + n)) : decay;
  }
  [[noreturn]] CROCHET_COLD static void refuse() {
    throw LogicError("crochet: MovingAverage: a run trained averaged weights; swap them back before it");
  }
};

/// A saver that writes the averages in place of the weights, for BestCheckpoint and for exports: `AveragedSaver{saver,
/// averages}`. It restores as the saver does. Not for CheckpointSaver: a training would continue from averages.
template <class Saver>
struct AveragedSaver {
  Saver saver;
  WeightAverages averages;

  auto save(auto& session, std::int64_t step) {
    const auto scope = averages.swap_for_a_while();
    return saver.save(session, step);
  }
  auto restore(auto& session, const auto& path) { return saver.restore(session, path); }
  auto restore_variables(auto& session, const auto& path) requires requires { saver.restore_variables(session, path); }
  { return saver.restore_variables(session, path); }
  auto remove(const auto& path) { return saver.remove(path); }
  bool has(const auto& path) const requires requires { saver.has(path); }
  { return saver.has(path); }
  auto here(const auto& path) const requires requires { saver.here(path); }
  { return saver.here(path); }
  void make_latest(const auto& path) requires requires { saver.make_latest(path); }
  { saver.make_latest(path); }
  /// Of the saver: BestCheckpoint checks max_to_keep.
  const auto& options() const requires requires(const Saver& s) { s.options(); }
  { return saver.options(); }
  void prepare() requires requires(Saver& s) { s.prepare(); }
  { saver.prepare(); }
};
template <class Saver>
AveragedSaver(Saver, WeightAverages) -> AveragedSaver<Saver>;

}  // namespace crochet
