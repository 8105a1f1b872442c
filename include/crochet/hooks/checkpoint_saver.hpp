// SPDX-License-Identifier: Apache-2.0
// CheckpointSaver: saves the session now and then.
#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
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
#include <crochet/hooks/kit/summary_sink.hpp>

namespace crochet {

/// What becomes of the run when a checkpoint cannot be saved: a full disk, no permission.
enum class OnSaveFailure : unsigned char {
  stop,  ///< the error leaves the run
  warn   ///< one line to the sink, and the next save is tried when it is due
};

struct CheckpointSaverOptions {
  std::optional<double> save_secs{};         ///< seconds between saves, not below 0
  std::optional<std::int64_t> save_steps{};  ///< global steps between saves, above 0
  Anchor anchor = Anchor::global_step;       ///< first_run: save_steps are counted from the session's first step
  OnSaveFailure on_failure = OnSaveFailure::stop;
  SummarySink summaries{};  ///< is told of each checkpoint (CHECKPOINT in the session log)
  Sink sink{};
  Clock clock{};
};

namespace detail {

/// Calls what a listener has of `begin`, `before_save`, `after_save` and `end`.
struct CallListener {
  static void begin(auto& listener) {
    if constexpr (requires { listener.begin(); }) listener.begin();
  }
  /// False: do not save.
  static bool before_save(auto& listener, auto& session, std::int64_t step) {
    if constexpr (requires { static_cast<bool>(listener.before_save(session, step)); }) {
      return static_cast<bool>(listener.before_save(session, step));
    } else if constexpr (requires { listener.before_save(session, step); }) {
      listener.before_save(session, step);
    }
    return true;
  }
  /// True: the loop is to end.
  static bool after_save(auto& listener, auto& session, std::int64_t step, const std::filesystem::path& prefix) {
    if constexpr (requires { static_cast<bool>(listener.after_save(session, step, prefix)); }) {
      return static_cast<bool>(listener.after_save(session, step, prefix));
    } else if constexpr (requires { listener.after_save(session, step, prefix); }) {
      listener.after_save(session, step, prefix);
    } else if constexpr (requires { static_cast<bool>(listener.after_save(session, step)); }) {
      return static_cast<bool>(listener.after_save(session, step));
    } else if constexpr (requires { listener.after_save(session, step); }) {
      listener.after_save(session, step);
    }
    return false;
  }
  static void end(auto& listener, auto& session, std::int64_t step) {
    if constexpr (requires { listener.end(session, step); }) listener.end(session, step);
  }
};

template <class L>
concept ListensToSaves = requires(L& listener, Unusable& any, std::int64_t step) {
  listener.begin();
}
|| requires(L& listener, Unusable& any, std::int64_t step) { listener.before_save(any, step); }
|| requires(L& listener, Unusable& any, std::int64_t step) { listener.after_save(any, step); }
|| requires(L& listener, Unusable& any, std::int64_t step, const std::filesystem::path& prefix) {
  listener.after_save(any, step, prefix);
}
|| requires(L& listener, Unusable& any, std::int64_t step) { listener.end(any, step); };

}  // namespace detail

/// Saves with a Saver (checkpoint/saver.hpp). Fires: when the session is created, then every `save_secs` seconds or at
/// the multiples of `save_steps` of the global step, and at the end if the last step is not saved yet. The save when
/// the session is created is the first: with Anchor::first_run the next one is `save_steps` later, as in the original.
///   Saver saver{"checkpoints"};
///   HookChain{..., CheckpointSaver{saver, {.save_secs = 600}}}      // last: it saves what the others have seen
/// Exactly one of the two is given; else, or out of range, begin throws LogicError. A session that was restored from
/// the newest checkpoint is not saved again at that step; whether the folder can be written, and belongs to no other
/// process, is checked all the same (Saver::prepare). All hooks' state is saved along, as it is after their
/// after_run; therefore hooks with state have to be listed before this one (one compile error). Fetches: nothing. Cost:
/// a comparison a run, in seconds a reading of the clock; a save waits for the disk, unless the saver is an AsyncSaver
/// (checkpoint/async_saver.hpp). What goes wrong in a save is `on_failure`'s.
///
/// Listeners follow the options: CheckpointSaver{saver, {...}, listener...}. One has any of
///   begin();
///   before_save(session, step)            returning false: this save is left out
///   after_save(session, step[, prefix])   returning true: the loop ends
///   end(session, step)                    always, after the last save
/// They are called in order, each of them; of one that throws the exception leaves.
///
/// Differences from TensorFlow's CheckpointSaverHook: a listener may refuse a save; one that asks to stop at the first
/// save is heard; a step on which seconds are due and the last was saved is not missed; the graph is not written.
template <class SaverType, class... Listener>
class CheckpointSaver {
  static_assert((detail::ListensToSaves<Listener> && ...),
                "crochet: a listener of a CheckpointSaver has before_save, after_save, begin or end");

 public:
  using handles = Phases<phase::begin, phase::after_create_session, phase::after_run, phase::end>;
  static constexpr bool saves_hook_state = true;

  explicit CheckpointSaver(SaverType saver, CheckpointSaverOptions options = {}, Listener... listeners)
      : saver_(std::move(saver)), options_(std::move(options)), listeners_(std::move(listeners)...) {}

  void begin() {
    last_save_failed_ = false;
    timer_ = required_cadence_of<CheckpointSaver>(options_.save_steps, options_.save_secs, options_.anchor,
                                                  Cadence::First::at_once, {"save_steps", "save_secs"});
    std::apply([](auto&... listener) { (detail::CallListener::begin(listener), ...); }, listeners_);
  }
  void after_create_session(auto& session, auto& coordinator) {
    if (take_over(session)) coordinator.request_stop(wish, "CheckpointSaver");  // of before a recovery
    const std::int64_t step = session.step();
    if (saver_.just_restored(step)) {
      prepare();
    } else if (save(session, step)) {
      coordinator.request_stop(wish, "CheckpointSaver");
    }
    timer_.start(step, options_.clock());
  }
  void after_run(auto& run, const auto& /*values*/) {
    if constexpr (asynchronous) {
      if (saver_.done()) [[unlikely]] {
        if (finish(run.session())) run.request_stop(wish);
      }
    }
    const std::int64_t step = run.step();
    if (!timer_.due(step, options_.clock)) [[likely]] {
      return;
    }
    if constexpr (asynchronous) {
      if (saver_.busy()) return;  // stays due
    }
    timer_.triggered(step, options_.clock());
    if (save(run.session(), step)) run.request_stop(wish);
  }
  /// The last save waits for the disk in any case.
  void end(auto& session) {
    const std::int64_t step = session.step();
    take_over(session);
    if (timer_.last_step() != step || last_save_failed_) save(session, step);
    take_over(session);
    std::apply([&](auto&... listener) { (detail::CallListener::end(listener, session, step), ...); }, listeners_);
  }

  [[nodiscard]] std::string cadence() const {
    return cadence_text(options_.save_steps, options_.save_secs, options_.anchor);
  }
  [[nodiscard]] SaverType& saver() { return saver_; }
  /// How many saves went wrong, where that does not stop the run.
  [[nodiscard]] int failures() const { return failures_; }
  template <class L>
  [[nodiscard]] L& listener() {
    return std::get<L>(listeners_);
  }

 private:
  static constexpr const char* wish = "a listener of the CheckpointSaver asked to stop";
  static constexpr bool asynchronous = requires(SaverType & saver) { saver.done(); };

  /// A folder that cannot be written, or belongs to another process, is an error before the first step.
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
  /// Begins a save, and ends it too if the saver is not asynchronous. True if a listener wants to stop.
  CROCHET_COLD bool save(auto& session, std::int64_t step) {
    bool wanted = true;
    std::apply(
        [&](auto&... listener) { ((wanted &= detail::CallListener::before_save(listener, session, step)), ...); },
        listeners_);
    if (!wanted) return false;
    if constexpr (asynchronous) {
      attempt(step, [&] { saver_.save(session, step); });
      return false;
    } else {
      std::filesystem::path prefix;
      return attempt(step, [&] { prefix = saver_.save(session, step); }) && saved(session, step, prefix);
    }
  }
  /// Takes over what became of a save in the background.
  CROCHET_COLD bool finish(auto& session) {
    const std::int64_t step = saver_.step();
    std::filesystem::path prefix;
    return attempt(step, [&] { prefix = saver_.result(); }) && saved(session, step, prefix);
  }
  /// Waits for a save in the background, and takes over what became of it. True if a listener wants to stop.
  CROCHET_COLD bool take_over([[maybe_unused]] auto& session) {
    if constexpr (asynchronous) {
      saver_.wait();
      return saver_.done() && finish(session);
    }
    return false;
  }
  /// True if `act` did it; else what went wrong is the policy's. Listeners are called elsewhere: what they throw
  /// leaves.
  bool attempt(std::int64_t step, auto act) {
    last_save_failed_ = true;
    try {
      act();
      last_save_failed_ = false;
    } catch (const IoError& error) {
      failed(error, step);
    }
    return !last_save_failed_;
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
  bool last_save_failed_ = false;
};

}  // namespace crochet
