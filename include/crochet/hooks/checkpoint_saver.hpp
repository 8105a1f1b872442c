// SPDX-License-Identifier: Apache-2.0
// CheckpointSaver: saves the session at an interval.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hook/state_digest.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/save_listener.hpp>
#include <crochet/hooks/kit/saves_checkpoints.hpp>
#include <crochet/hooks/kit/summary_sink.hpp>

namespace crochet {

/// What happens when a checkpoint cannot be saved, for example for a full disk or a missing permission.
enum class OnSaveFailure : unsigned char {
  stop,  ///< the run throws the error
  warn   ///< one line to the sink; the next save is tried when it is due
};

struct CheckpointSaverOptions {
  std::optional<double> save_secs{};          ///< seconds between saves, not below 0
  std::optional<std::int64_t> save_steps{};   ///< global steps between saves, above 0
  std::optional<std::int64_t> save_epochs{};  ///< epochs of the data between saves, above 0
  Anchor anchor = Anchor::global_step;        ///< first_run: save_steps are counted from the session's first step
  OnSaveFailure on_failure = OnSaveFailure::stop;
  SummarySink summaries{};  ///< receives each checkpoint (CHECKPOINT in the session log)
  Sink sink{};
  Clock clock{};
};

/// Saves the session with a Saver (checkpoint/saver.hpp):
///   Saver saver{"checkpoints"};
///   HookChain{..., CheckpointSaver{saver, {.save_secs = 600}}}      // last, to save the state of all other hooks
/// - save_secs, save_steps, save_epochs: exactly one of the three; else, or out of range, begin throws LogicError.
/// - Fires: when the session is created; then every `save_secs` seconds, or at the multiples of `save_steps` of the
///   global step; at the end if the last step is not saved yet, or if the `end` of another hook has changed its state
///   (values whose key contains "seconds" do not count). The save at creation counts as the first: with
///   Anchor::first_run the next one is `save_steps` later, as in TensorFlow.
/// - After a restore from the newest checkpoint, the session is not saved again at that step. The hook still checks
///   that the folder is writable and belongs to no other process (Saver::prepare).
/// - A checkpoint includes the state of all hooks after their after_run. Hooks with state must therefore be listed
///   before this one; otherwise the chain does not compile (one error).
/// - Fetches: nothing.
/// - Cost: a comparison per run, with save_secs a clock reading. A save waits for the disk, except with an AsyncSaver
///   (checkpoint/async_saver.hpp). Each save, and `end`, hash the state of the hooks: 0.1 ns per byte.
/// - Throws: an IoError of a save if on_failure is OnSaveFailure::stop (the default), with an AsyncSaver in a run after
///   the save. Other exceptions of a save, and those of listeners, always propagate.
///
/// Listeners follow the options: CheckpointSaver{saver, {...}, listener...}. A listener has any of
///   begin();
///   before_save(session, step)            returns false to skip this save
///   after_save(session, step[, prefix])   returns true to stop the loop
///   end(session, step)                    in `end`, after the last save; not after an error
/// The hook calls all listeners, in order.
///
/// Differences from TensorFlow's CheckpointSaverHook:
/// - a listener may skip a save;
/// - a listener may stop the loop at the first save;
/// - a save in seconds that is due on the step after a save is not missed;
/// - the graph is not written.
template <class SaverType, class... Listener>
class CheckpointSaver : public SavesCheckpoints {
  static_assert((detail::ListensToSaves<Listener> && ...),
                "crochet: a listener of a CheckpointSaver has before_save, after_save, begin or end");
  static_assert(
      requires(SaverType & saver, std::int64_t step) { saver.just_restored(step); },
      "crochet: CheckpointSaver takes a Saver or an AsyncSaver; an AveragedSaver is for BestCheckpoint, because a "
      "training "
      "would continue from averages");

 public:
  static constexpr auto runs_on = RunsOn::chief;
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run, phase::end>;
  static constexpr bool saves_hook_state = true;

  explicit(false) CheckpointSaver(SaverType saver, CheckpointSaverOptions options = {}, Listener... listeners)
      : saver_(std::move(saver)), options_(std::move(options)), listeners_(std::move(listeners)...) {}

  void begin() {
    drop_save();
    is_saved_ = true;
    failures_ = 0;
    timer_ = required_cadence_of<CheckpointSaver>(every(), options_.anchor, Cadence::First::at_once,
                                                  {"save_steps", "save_secs", "save_epochs"});
    std::apply([](auto&... listener) { (detail::CallListener::begin(listener), ...); }, listeners_);
  }
  void after_create_session(auto& session, auto& coordinator) {
    if (take_over(session)) coordinator.request_stop(stop_reason, own_name());  // a save from before a recovery
    const std::int64_t step = session.step();
    if (saver_.just_restored(step)) {
      prepare();
      is_saved_ = true;
      saved_state_ = detail::StateDigest::of(session);
    } else if (save(session, step)) {
      coordinator.request_stop(stop_reason, own_name());
    }
    timer_.start(session, options_.clock());
  }
  void after_run(auto& run, const auto& /*values*/) {
    if constexpr (asynchronous) {
      if (saver_.done()) [[unlikely]] {
        if (finish(run.session())) run.request_stop(stop_reason);
      }
    }
    const std::int64_t step = run.step();
    if (!timer_.due(run, options_.clock)) [[likely]] {
      return;
    }
    if constexpr (asynchronous) {
      if (saver_.busy()) return;                                    // stays due for the next run
      if (take_over(run.session())) run.request_stop(stop_reason);  // a save that ended since the call of done()
    }
    if (run.skipped()) return;  // `end` saves the last step
    timer_.triggered(step, options_.clock());
    if (save(run.session(), step)) run.request_stop(stop_reason);
  }
  /// Always waits until the last save is on disk.
  void end(auto& session) {
    const std::int64_t step = session.step();
    take_over(session);
    if (timer_.last_step() != step || !is_saved_ || saved_state_ != detail::StateDigest::of(session)) {
      save(session, step);
    }
    take_over(session);
    std::apply([&](auto&... listener) { (detail::CallListener::end(listener, session, step), ...); }, listeners_);
  }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), options_.anchor); }
  [[nodiscard]] SaverType& saver() { return saver_; }
  /// Number of failed saves that did not stop the run.
  [[nodiscard]] int failures() const { return failures_; }
  template <class L>
  [[nodiscard]] L& listener() {
    return std::get<L>(listeners_);
  }

 private:
  [[nodiscard]] Intervals every() const { return {options_.save_steps, options_.save_secs, options_.save_epochs}; }
  static constexpr std::string_view own_name() { return detail::readable_name<CheckpointSaver>.view(); }
  static constexpr const char* stop_reason = "a listener of the CheckpointSaver requested a stop";
  static constexpr bool asynchronous = requires(SaverType & saver) { saver.done(); };

  /// Reports a folder that is not writable or belongs to another process before the first step.
  CROCHET_COLD void prepare() {
    if constexpr (requires { saver_.prepare(); }) {
      try {
        saver_.prepare();
      } catch (const IoError& error) {
        if (options_.on_failure == OnSaveFailure::stop) throw;
        options_.sink(error.what());
      }
    }
  }
  /// Starts a save, and completes it if the saver is synchronous. True if a listener stops the loop.
  CROCHET_COLD bool save(auto& session, std::int64_t step) {
    bool wanted = true;
    std::apply(
        [&](auto&... listener) { ((wanted &= detail::CallListener::before_save(listener, session, step)), ...); },
        listeners_);
    if (!wanted) return is_saved_ = false;
    saved_state_ = detail::StateDigest::of(session);
    if constexpr (asynchronous) {
      attempt(step, [&] { saver_.save(session, step); });
      return false;
    } else {
      std::filesystem::path prefix;
      return attempt(step, [&] { prefix = saver_.save(session, step); }) && saved(session, step, prefix);
    }
  }
  /// Processes the result of a background save. True if a listener stops the loop.
  CROCHET_COLD bool finish(auto& session) {
    const std::int64_t step = saver_.step();
    std::filesystem::path prefix;
    return attempt(step, [&] { prefix = saver_.result(); }) && saved(session, step, prefix);
  }
  /// Waits for a background save and processes its result. True if a listener stops the loop.
  CROCHET_COLD bool take_over([[maybe_unused]] auto& session) {
    if constexpr (asynchronous) {
      saver_.wait();
      return saver_.done() && finish(session);
    }
    return false;
  }
  /// Waits for a background save of an earlier session that failed. Reports its error; no listener is called.
  CROCHET_COLD void drop_save() {
    if constexpr (asynchronous) {
      saver_.wait();
      if (!saver_.done()) return;
      const std::int64_t step = saver_.step();
      try {
        static_cast<void>(saver_.result());
      } catch (const std::exception& error) {
        options_.sink(std::string(error.what()) + "; step " + std::to_string(step) +
                      " of the session before is not saved");
      }
    }
  }
  /// True if `act` succeeded; an IoError is handled by `on_failure`. Listeners are not called in here, so their
  /// exceptions propagate.
  bool attempt(std::int64_t step, auto act) {
    is_saved_ = false;
    try {
      act();
      is_saved_ = true;
    } catch (const IoError& error) {
      failed(error, step);
    }
    return is_saved_;
  }
  bool saved(auto& session, std::int64_t step, const std::filesystem::path& prefix) {
    options_.summaries.checkpoint(step, prefix.string());
    bool stop = false;
    std::apply(
        [&](auto&... listener) { ((stop |= detail::CallListener::after_save(listener, session, step, prefix)), ...); },
        listeners_);
    return stop;
  }
  void failed(const IoError& error, std::int64_t step) {
    if (options_.on_failure == OnSaveFailure::stop) throw;
    ++failures_;
    options_.sink(std::string(error.what()) + "; step " + std::to_string(step) + " is not saved, the run goes on");
  }

  SaverType saver_;
  CheckpointSaverOptions options_;
  std::tuple<Listener...> listeners_;
  Cadence timer_;
  int failures_ = 0;
  bool is_saved_ = true;           // false: the last save failed, or a listener has skipped it
  std::uint64_t saved_state_ = 0;  // digest of the hooks' state
};

}  // namespace crochet
