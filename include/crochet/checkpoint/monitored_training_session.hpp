// SPDX-License-Identifier: Apache-2.0
// MonitoredTrainingSession: a MonitoredSession with checkpoints, summaries, a step rate, and the roles of a distributed
// job. Needs the component io.
#pragma once

#include <crochet/base/config.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/same_folder.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/compose.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/step_counter.hpp>
#include <crochet/hooks/summary_saver.hpp>
#include <crochet/hooks/switched.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/io/file_writer_cache.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/session/scaffold.hpp>
#include <crochet/session/session_creators.hpp>
#include <crochet/session/session_manager.hpp>
#include <crochet/session/together.hpp>
#include <crochet/session/variables.hpp>

namespace crochet {

struct MonitoredTrainingOptions {
  bool is_chief = true;                          ///< a worker waits for the chief, and neither saves nor logs
  std::filesystem::path checkpoint_dir{};        ///< empty: no checkpoints
  std::filesystem::path summary_dir{};           ///< directory of event files; empty: checkpoint_dir
  std::optional<double> save_checkpoint_secs{};  ///< 600 if neither is set; 0: no checkpoints
  std::optional<std::int64_t> save_checkpoint_steps{};
  std::optional<std::int64_t> save_summaries_steps{};  ///< 100 if neither is set; 0: no summaries
  std::optional<double> save_summaries_secs{};
  std::int64_t log_step_count_steps = 100;  ///< steps between reports of the rate; 0: none. Requires a summary_dir
  Anchor anchor = Anchor::global_step;      ///< origin of the steps of checkpoints, summaries and rate
  double max_wait_secs = 7200;              ///< longest wait of a worker for the chief
  WaitOptions waiting{};
  SessionOptions session{};
  Clock clock{};  ///< for checkpoints, summaries and rate
};

/// The items of the summaries: `summaries<summary::Scalar<"loss">, summary::Histogram<"hidden/kernel">>`.
template <class... Items>
struct Summaries {};
template <class... Items>
inline constexpr Summaries<Items...> summaries{};

namespace detail {

/// The scaffold's saver, or one for the directory.
template <class S>
auto training_saver(S& scaffold, const std::filesystem::path& directory) {
  if constexpr (S::has_saver) {
    return scaffold.saver();
  } else {
    return Saver<>{directory.empty() ? "." : directory};  // empty: it neither restores nor saves
  }
}

/// What a chief restores: the latest of the saver's own folder, which has to be `directory`, or of `directory`.
template <class SaverType>
RestoreOptions from_folder(const SaverType& saver, const std::filesystem::path& directory) {
  if constexpr (HasDirectory<const SaverType>) {
    if (!directory.empty() && !same_folder<std::filesystem::path>(saver.directory(), directory)) {
      throw LogicError("crochet: checkpoint_dir is " + directory.string() +
                       ", and the folder of the scaffold's saver " + std::filesystem::path(saver.directory()).string() +
                       "; give both the same");
    }
    return {};
  } else {
    return {.checkpoint_dir = directory.string()};
  }
}

/// The session creator of a chief or a worker.
template <class S, class SaverType>
class TrainingSessionCreator {
 public:
  TrainingSessionCreator(const S& scaffold, const SaverType& saver, const MonitoredTrainingOptions& options)
      : chief_(options.is_chief),
        restores_(!options.checkpoint_dir.empty()),
        restoring_(scaffold.with_saver(saver), from_folder(saver, options.checkpoint_dir), options.waiting),
        starting_(scaffold, {}, options.waiting),
        worker_(scaffold, options.max_wait_secs, options.waiting) {}

  template <class E>
  void create_session(RawSession<E>& session, Coordinator& coordinator) {
    if (!chief_) return worker_.create_session(session, coordinator);
    if (!restores_) return starting_.create_session(session, coordinator);
    if constexpr (HasVariables<E>) {
      restoring_.create_session(session, coordinator);
    } else {
      throw LogicError(
          "crochet: a checkpoint_dir for an executor without variables; name its state: variable<\"w\">(w)");
    }
  }

 private:
  bool chief_, restores_;
  ChiefSessionCreator<decltype(std::declval<const S&>().with_saver(std::declval<SaverType>()))> restoring_;
  ChiefSessionCreator<S> starting_;
  WorkerSessionCreator<S> worker_;
};

/// False if the only interval is zero. A zero beside another interval counts as two intervals: the hook throws.
inline bool is_on(const std::optional<double>& secs, const std::optional<std::int64_t>& steps) {
  return (!secs && !steps) || secs.value_or(0) != 0 || steps.value_or(0) != 0;
}

/// The hooks of the chief; the options enable each.
template <class Items>
struct TrainingHooks;
template <bool OnRanks, class H>
using OfTheChief = std::conditional_t<OnRanks, OnChief<H>, H>;

template <class... Items>
struct TrainingHooks<Summaries<Items...>> {
  const MonitoredTrainingOptions& options;
  io::EventWriter events;

  /// OnRanks: of several, rank 0 is the chief.
  template <bool OnRanks, class... H>
  auto only_for_the_chief(HookChain<H...> hooks) const {
    return unpack_hooks(flat(hooks), [&]<class... F>([[maybe_unused]] F&&... hook) {
      return HookChain<Switched<OfTheChief<OnRanks, F>>...>{
          Switched<OfTheChief<OnRanks, F>>{OfTheChief<OnRanks, F>(std::move(hook)), {.on = options.is_chief}}...};
    });
  }
  auto step_counter() const {
    const bool on = options.is_chief && logs() && options.log_step_count_steps != 0;
    StepCounter hook{.every_steps = on ? options.log_step_count_steps : 100, .anchor = options.anchor};
    hook.clock = options.clock;
    hook.summaries = events;
    return HookChain{Switched<StepCounter>{std::move(hook), {.on = on}}};
  }
  auto summary_saver() const {
    if constexpr (sizeof...(Items) == 0) {
      return HookChain<>{};
    } else {
      using Saves = SummarySaver<Items...>;
      Saves hook{.every_steps = options.save_summaries_steps, .every_seconds = options.save_summaries_secs};
      if (!hook.every_steps && !hook.every_seconds) hook.every_steps = 100;
      hook.anchor = options.anchor;
      hook.summaries = events;
      hook.clock = options.clock;
      const bool on = options.is_chief && logs() && is_on(options.save_summaries_secs, options.save_summaries_steps);
      return HookChain{Switched<Saves>{std::move(hook), {.on = on}}};
    }
  }
  template <bool CanSave, class SaverType>
  auto checkpoint_saver(const SaverType& saver) const {
    if constexpr (!CanSave) {
      return HookChain<>{};
    } else {
      CheckpointSaverOptions how{.save_secs = options.save_checkpoint_secs,
                                 .save_steps = options.save_checkpoint_steps,
                                 .anchor = options.anchor};
      if (!how.save_secs && !how.save_steps) how.save_secs = 600;
      how.summaries = events;
      how.clock = options.clock;
      using Saves = CheckpointSaver<SaverType>;
      const bool on = options.is_chief && !options.checkpoint_dir.empty() &&
                      is_on(options.save_checkpoint_secs, options.save_checkpoint_steps);
      return HookChain{Switched<Saves>{Saves{saver, std::move(how)}, {.on = on}}};
    }
  }
  [[nodiscard]] bool logs() const { return !options.summary_dir.empty(); }
};

inline MonitoredTrainingOptions with_defaults(MonitoredTrainingOptions options) {
  if (options.summary_dir.empty()) options.summary_dir = options.checkpoint_dir;
  return options;
}

/// The whole chain, in the order of the calls. `CanSave`: the executor has variables. `OnRanks`: it is that of one of
/// several ranks. `here`: whether this rank is the one that writes.
template <bool CanSave, bool OnRanks, class... H, class Items, class ChiefHooks, class SaverType>
auto training_chain(HookChain<H...> hooks, const MonitoredTrainingOptions& given, Items, ChiefHooks chief_only,
                    const SaverType& saver, bool here = true) {
  const MonitoredTrainingOptions options = with_defaults(given);
  const bool writes = here && options.is_chief && !options.summary_dir.empty();
  const TrainingHooks<Items> ours{options, writes ? io::FileWriterCache::get(options.summary_dir) : io::EventWriter{}};
  return std::move(hooks) | ours.template only_for_the_chief<OnRanks>(std::move(chief_only)) | ours.step_counter() |
         ours.summary_saver() | ours.template checkpoint_saver<CanSave>(saver);
}

template <class S>
using training_saver_t = decltype(training_saver(std::declval<S&>(), {}));
template <class Exec, class Hooks, class Items, class ChiefHooks, class S>
using training_chain_t =
    decltype(training_chain<HasVariables<std::remove_reference_t<Exec>>, HasRanks<std::remove_reference_t<Exec>>>(
        std::declval<Hooks>(), std::declval<MonitoredTrainingOptions>(), Items{}, std::declval<ChiefHooks>(),
        std::declval<training_saver_t<S>>()));
template <class Exec, class Hooks, class Items, class ChiefHooks, class S>
using training_session = MonitoredSession<Exec, training_chain_t<Exec, Hooks, Items, ChiefHooks, S>,
                                          TrainingSessionCreator<S, training_saver_t<S>>>;

}  // namespace detail

/// A session for a training job:
///   MonitoredTrainingSession session{executor, HookChain{StopAtStep{.last_step = 10'000}},
///                                    {.checkpoint_dir = "run"}, summaries<summary::Scalar<"loss">>};
/// - A named executor is borrowed, a temporary is owned, as by MonitoredSession.
/// - A chief restores the latest checkpoint of the directory, if there is one. Its hooks, in this order: `hooks`,
///   `chief_only_hooks`, StepCounter, SummarySaver, CheckpointSaver. A compile error counts positions in this order,
///   from 0.
/// - A worker waits for the chief and has `hooks` alone.
/// - Throws: LogicError if an interval is set in steps and in seconds or is negative, a checkpoint_dir is set for an
///   executor without variables, or the scaffold has a saver of another folder.
/// - TensorFlow calls `hooks` after its own on a plain chief and before them otherwise, so that changes of a hook's
///   `end` may or may not be saved. Here the saver is always the last.
template <class Exec, class Hooks = HookChain<>, class Items = Summaries<>, class ChiefHooks = HookChain<>,
          class S = Scaffold<>>
class MonitoredTrainingSession : public detail::training_session<Exec, Hooks, Items, ChiefHooks, S> {
  using Base = detail::training_session<Exec, Hooks, Items, ChiefHooks, S>;
  using SaverType = detail::training_saver_t<S>;

 public:
  explicit MonitoredTrainingSession(Exec executor, Hooks hooks = {}, MonitoredTrainingOptions options = {},
                                    Items items = {}, ChiefHooks chief_only_hooks = {}, S scaffold = {})
      : MonitoredTrainingSession(
            static_cast<Exec&&>(executor), std::move(hooks), options, items, std::move(chief_only_hooks), scaffold,
            detail::training_saver(scaffold, options.checkpoint_dir), detail::writes_lines(executor)) {}

 private:
  /// `here`: determined before the executor is moved.
  MonitoredTrainingSession(Exec&& executor, Hooks&& hooks, const MonitoredTrainingOptions& options, Items items,
                           ChiefHooks&& chief_only, const S& scaffold, const SaverType& saver, bool here)
      : Base(static_cast<Exec&&>(executor),
             detail::training_chain<HasVariables<std::remove_reference_t<Exec>>,
                                    detail::HasRanks<std::remove_reference_t<Exec>>>(
                 std::move(hooks), options, items, std::move(chief_only), saver, here),
             detail::TrainingSessionCreator<S, SaverType>{scaffold, saver, options}, options.session) {}
};
template <class Exec>
MonitoredTrainingSession(Exec&&) -> MonitoredTrainingSession<Exec>;
template <class Exec, class... H>
MonitoredTrainingSession(Exec&&, HookChain<H...>, MonitoredTrainingOptions = {})
    -> MonitoredTrainingSession<Exec, HookChain<H...>>;
template <class Exec, class... H, class... Items, class... C, class S = Scaffold<>>
MonitoredTrainingSession(Exec&&, HookChain<H...>, MonitoredTrainingOptions, Summaries<Items...>, HookChain<C...> = {},
                         S = {})
    -> MonitoredTrainingSession<Exec, HookChain<H...>, Summaries<Items...>, HookChain<C...>, S>;

}  // namespace crochet
