// SPDX-License-Identifier: Apache-2.0
// fit(): a training over epochs with evaluation, early stopping and the best checkpoint, made of the library's hooks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/checkpoint/fit_history.hpp>
#include <crochet/checkpoint/fit_saver.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/epochs.hpp>
#include <crochet/hooks/best_checkpoint.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/epoch_means.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/progress_bar.hpp>
#include <crochet/hooks/stop_at_epoch.hpp>
#include <crochet/hooks/stop_if.hpp>
#include <crochet/hooks/switched.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/session/run_session.hpp>

namespace crochet {

/// What fit() does. `Data` is the type of the training data, and of the validation data.
template <class Data>
struct FitOptions {
  std::int64_t epochs = 1;           ///< the training ends after this epoch, counted over all its sessions
  std::optional<Data> validation{};  ///< evaluated after each epoch; then the monitored value is that of these data
  std::string monitor{};             ///< the name that selects the best epoch, one of the names; empty: the first one
  /// The direction of the monitored value. Unset: Aim::lowest if its name is "loss"; else fit() throws LogicError.
  std::optional<Aim> aim{};
  std::int64_t patience = 0;  ///< epochs without improvement after which it stops; 0: no early stopping
  /// The folder of the checkpoints: the newest two, and in `best` the best one. A training found there continues.
  /// Empty: no checkpoints, and no recovery from a PreemptionError.
  std::filesystem::path folder{};
  bool bar = true;  ///< a progress bar, or lines where standard error is no terminal
  Sink sink{};      ///< receives a line for each evaluation and each best checkpoint
};

namespace detail {

/// The name that selects the best epoch.
template <class Data>
const std::string& monitor_of(const FitOptions<Data>& options, const std::vector<std::string>& names) {
  if (options.monitor.empty()) return names.front();
  std::string all;
  for (const std::string& name : names) {
    if (name == options.monitor) return name;
    all += (all.empty() ? "" : ", ") + name;
  }
  throw LogicError("crochet: fit: .monitor \"" + options.monitor + "\" is none of its scalars: " + all);
}
template <class Data>
Aim aim_of(const FitOptions<Data>& options, const std::string& monitor) {
  if (options.aim) return *options.aim;
  if (monitor == "loss") return Aim::lowest;
  throw LogicError("crochet: fit: set .aim for the monitored \"" + monitor + "\": Aim::lowest or Aim::highest");
}
template <class Data>
void check(const FitOptions<Data>& options) {
  if (options.epochs < 1) throw LogicError("crochet: fit: epochs has to be at least 1");
  if (options.patience < 0) throw LogicError("crochet: fit: patience must not be negative; 0: no early stopping");
}

/// The chain of fit(). Text: the names of the scalars.
template <FixedString... Text, class Data, class Saver, class... H>
auto fit_chain(Data& data, const FitOptions<Data>& options, const MetricChannel& metrics,
               const BestCheckpoint<Saver>& best, const Saver& newest, HookChain<H...> hooks) {
  using Passes = Evaluate<Fetches<Name<Text>...>, Data>;
  using Stops = StopIfMetric<ExhaustedPatience>;
  using Saves = CheckpointSaver<Saver>;
  const std::string& monitored = best.metric();
  return HookChain{CheckpointInputPipeline{data},
                   std::move(hooks),
                   EpochMeans<Text...>{metrics},
                   Switched<Passes>{Passes{crochet::fetches<Text...>,
                                           options.validation.value_or(data),
                                           {.every_epochs = 1, .at_end = false, .then = metrics, .sink = options.sink}},
                                    {.on = options.validation.has_value()}},
                   Switched<Stops>{stop_if_exhausted(metrics, monitored,
                                                     Patience{.aim = best.aim(),
                                                              .patience = std::max<std::int64_t>(1, options.patience)}),
                                   {.on = options.patience > 0}},
                   best,
                   Switched<Progress<Text...>>{Progress<Text...>{.epochs = options.epochs}, {.on = options.bar}},
                   StopAtEpoch{.last_epoch = options.epochs},
                   Switched<Saves>{Saves{newest, {.save_epochs = 1, .sink = options.sink}}, {.on = newest.on_disk()}},
                   best.restore_at_end()};
}

/// The chain of fit() as far as the names decide: what is wrong with them or with the data is one short error.
template <class Exec, class Data, FixedString... Text>
using FitLoop = Loop<Exec&, HookChain<EpochMeans<Text...>>, DataSource<Data>>;

/// fit() of names and data that are usable.
template <FixedString... Text, class Exec, class Data, class Chain>
FitHistory fitted(Exec& executor, Data training, const FitOptions<Data>& options, Chain hooks) {
  check(options);
  if constexpr (requires { std::move(training).repeat(); }) training = std::move(training).repeat();
  if constexpr (requires { training.restart(); }) training.restart();  // a program may have taken batches of them
  const bool validated = options.validation.has_value();
  const std::vector<std::string> names{std::string(Text.view())...};
  const std::string& monitor = monitor_of(options, names);
  MetricChannel metrics;
  FitSaver newest{options.folder, ""};
  const std::string monitored = validated ? monitor : "training/" + monitor;
  BestCheckpoint best{
      FitSaver{options.folder, "best"}, metrics, monitored, {.aim = aim_of(options, monitor), .sink = options.sink}};
  auto chain = fit_chain<Text...>(training, options, metrics, best, newest, std::move(hooks));
  SessionOptions how;
  if (!newest.on_disk()) how.recovery.max_attempts = 0;  // there is nothing to continue from
  MonitoredSession session{executor, std::move(chain), FitCreator{newest}, how};
  run_session(session, [&](auto& s) {
    constexpr auto target = main_target<typename std::remove_reference_t<decltype(s)>::Executor>();
    // The batch is taken inside the step, so that a step that is repeated after a recovery takes the batch of the
    // restored position.
    const auto step = [&](auto& context) { context.run_with_hooks(target, training.next()); };
    while (!s.should_stop()) s.run_step_fn(step);
  });
  FitHistory history = FitHistory::of(metrics, names, validated);
  history.reason = session.stop_reason();
  if (!best.kept().empty()) {
    history.set_best(best.kept().front().step);
  } else if (!metrics.empty()) {
    history.find_best(metrics.history(monitored), best.aim());  // as `best` did on rank 0
  }
  return history;
}

}  // namespace detail

/// Trains an executor over epochs, and leaves it with the weights of the best one: `fit<"loss", "accuracy">(executor,
/// training, {.epochs = 10, .validation = validation, .patience = 3, .folder = "out"})`.
/// - The executor is initialized, or continues the training in the folder.
/// - Text: names of scalars of the model; the first one is monitored unless `.monitor` is set.
/// - training: batches that count epochs, as DataSet::batch makes them; endless inside, so `repeat` is not needed. A
///   training that begins takes them from the first one on (`restart()`, if they have it), also if the program has
///   iterated over them before.
/// - hooks: further hooks; in the chain they follow CheckpointInputPipeline and precede all others. Default: none.
/// - It is this chain and nothing else (docs/data.md has it as a program): CheckpointInputPipeline, the further hooks,
///   EpochMeans, Evaluate, stop_if_exhausted, BestCheckpoint, Progress, StopAtEpoch, CheckpointSaver, RestoreBest.
/// - With a folder, a later call with the same folder continues with the next batch, and Predictor{device, folder /
///   "best"} uses the best weights.
/// - Returns the means of each epoch. Throws LogicError for settings out of range, and what the hooks throw.
template <FixedString... Text, class Exec, class Data, class Chain = HookChain<>>
requires(!std::is_const_v<Exec>) FitHistory
    fit(Exec& executor, Data training, std::type_identity_t<FitOptions<Data>> options = {}, Chain hooks = {}) {
  static_assert(sizeof...(Text) > 0, "crochet: fit needs the name of a scalar: fit<\"loss\">(executor, ...)");
  static_assert(CountsEpochs<Data>, "crochet: fit needs data that count epochs: data.batch(32)");
  static_assert(std::is_copy_constructible_v<Data>,
                "crochet: fit needs batches that can be copied: without prefetch()");
  using Loop = detail::FitLoop<Exec, Data, Text...>;
  [[maybe_unused]] detail::hook_error<typename Loop::verdict> checked_hooks;
  static_assert(call_is_usable<typename Loop::reason>, "crochet: crochet::error says why");
  if constexpr (Loop::good) {
    return detail::fitted<Text...>(executor, std::move(training), options, std::move(hooks));
  } else {
    return {};
  }
}

/// The same for a model, compiled for the device; its weights are then in the folder: `fit<Model, "loss">(Cpu{},
/// training, {.epochs = 10, .folder = "out"})`.
template <class Model, FixedString... Text, class Device, class Data, class Chain = HookChain<>>
requires requires(const Device& device) { device.template compile<Model>(); }
FitHistory fit(const Device& device, Data training, std::type_identity_t<FitOptions<Data>> options = {},
               Chain hooks = {}) {
  auto executor = device.template compile<Model>();
  return fit<Text...>(executor, std::move(training), std::move(options), std::move(hooks));
}

}  // namespace crochet
