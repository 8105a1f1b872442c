// SPDX-License-Identifier: Apache-2.0
// replay: runs a chain of hooks over a recording of RecordRun, without a model or an executor.
#pragma once

#include <climits>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/io/recorded_run.hpp>
#include <crochet/io/recording_reader.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/session/session_creator.hpp>
#include <crochet/session/stop.hpp>
#include <crochet/testing/io/replay_executor.hpp>
#include <crochet/testing/scripted_value.hpp>

namespace crochet {

/// The type of a recorded value that is not a float: `recorded<double, "energy">`,
/// `recorded<TensorView<float, 2>, "logits">`.
template <class T, class N>
struct RecordedType {};
template <class T, FixedString Text>
inline constexpr RecordedType<T, Name<Text>> recorded{};

/// The result of a replay.
struct Replayed {
  StopReason stop{};      ///< as of `run`; "the recording" where no hook of the chain has stopped
  std::int64_t runs = 0;  ///< number of runs
  std::int64_t step = 0;  ///< the global step at the end
  std::string error{};    ///< the text of the error that ended the recorded session; empty if none did
};

namespace testing::detail {

template <class T, class N>
struct ScriptParts<RecordedType<T, N>> : ScriptParts<void> {
  using values = List<ScriptedValue<N, T>>;
};

template <class... N>
constexpr List<ScriptedValue<N, float>...> as_floats(Fetches<N...>) {
  return {};
}
template <class... N>
constexpr List<N...> list_of(Names<N...>) {
  return {};
}
template <class H>
constexpr auto targets_of_hook() {
  if constexpr (requires { typename H::plans; }) {
    return list_of(typename H::plans{});
  } else {
    return List<>{};
  }
}

/// The executor of a replay: the names that the hooks list, as float unless a part states the type; the targets of
/// the parts and of the hooks' plans.
template <class Chain, class... Part>
struct ReplayTypes;
template <class... H, class... Part>
struct ReplayTypes<HookChain<H...>, Part...> {
  template <class List>
  using distinct = decltype(crochet::detail::unique(crochet::detail::List<>{}, List{}));
  using floats = distinct<decltype((List<>{} + ... + as_floats(declared_fetches<H>{})))>;
  using values = decltype(overridden(all_values<Part...>{}, floats{}));
  using targets = distinct<decltype((all_targets<Part...>{} + ... + targets_of_hook<H>()))>;
  using executor = ReplayExecutor<all_placeholders<Part...>, targets, values>;
};

/// One replay: the entries of the file, one ahead, and the session that runs them.
template <class Executor, class Chain>
class Replay {
  using Kind = io::RecordedRun::Kind;
  using Session = MonitoredSession<Executor&, Chain&>;

 public:
  Replay(Chain& chain, const std::filesystem::path& path) : chain_(chain), entries_(path), executor_(path.string()) {}

  template <class... T>
  Replayed operator()(List<T...> targets) {
    if (!advance() || entry_.kind != Kind::create) {
      throw DataLossError("crochet: " + entries_.path().string() + " has no session of RecordRun");
    }
    executor_.set_entry(entry_);
    // Pauses of a recovery would only cost time.
    Session session{executor_, chain_,
                    SessionOptions{.recovery = {.max_attempts = INT_MAX, .initial_backoff_secs = 0}}};
    result_.step = session.step();
    executor_.set_hooked(session.raw_session().hooked_workspace());
    run_session(session, [&](Session& running) {
      run_all(running, targets);
      finish(running);
    });
    result_.step = session.step();
    result_.stop = session.stop_reason();
    return std::move(result_);
  }

 private:
  bool advance() {
    std::optional<io::RecordedRun> next = entries_.next();
    if (!next) return false;
    entry_ = *std::move(next);
    return true;
  }

  template <class... T>
  void run_all(Session& session, List<T...> /*targets*/) {
    while (!session.should_stop()) {
      const bool is_over = !advance();
      if (is_over || entry_.kind != Kind::run) create_anew(session);
      if (is_over) unfinished();
      if (entry_.kind == Kind::create) {
        executor_.lose_session(entry_.step);
        continue;
      }
      if (entry_.kind == Kind::end || entry_.kind == Kind::error) return;
      executor_.set_entry(entry_);
      run_with(session, List<>{}, List<T...>{});
      ++result_.runs;
    }
  }
  /// Creates the session anew if the recorded one was, and did not run after that.
  void create_anew(Session& session) {
    session.run_step_fn([&](auto& /*context*/) { executor_.throw_if_lost(); });
  }
  /// A run with those of the known targets that the recorded one had. `had`: those found so far; `others`: names to be
  /// compared yet. Compiles a run for each subset.
  template <class... Had>
  void run_with(Session& session, List<Had...> /*had*/, List<> /*others*/) {
    session.run(RunArgs<Fetches<>, Targets<Had...>, Feeds<>>{});
  }
  template <class... Had, class N, class... Rest>
  void run_with(Session& session, List<Had...> /*had*/, List<N, Rest...> /*others*/) {
    if (has_target(N::view())) {
      run_with(session, List<Had..., N>{}, List<Rest...>{});
    } else {
      run_with(session, List<Had...>{}, List<Rest...>{});
    }
  }
  /// The entry's text is the names of the targets, separated by blanks.
  [[nodiscard]] bool has_target(std::string_view name) const {
    const std::string all = " " + entry_.text + " ";
    return all.find(" " + std::string(name) + " ") != std::string::npos;
  }
  /// The end of the session that is not a stop of a hook.
  void finish(Session& session) {
    if (session.should_stop()) return;
    if (entry_.kind == Kind::error) {
      result_.error = entry_.text;
      session.note_stop("the recording", entry_.text);
      return session.fail(std::make_exception_ptr(Error(entry_.text)));
    }
    const bool interrupted = entry_.interrupted;
    session.request_stop(interrupted ? "was interrupted" : "came to its end", "the recording",
                         interrupted ? StopKind::interruption : StopKind::end);
  }
  [[noreturn]] void unfinished() {
    const std::string fault = entries_.fault();
    throw DataLossError((fault.empty() ? "crochet: " + entries_.path().string() + " has no end" : fault) +
                        ": its program was killed, or the file was cut off. " + std::to_string(result_.runs) +
                        " runs were replayed, up to step " + std::to_string(executor_.global_step()));
  }

  Chain& chain_;
  io::RecordingReader entries_;
  io::RecordedRun entry_{};
  Executor executor_;
  Replayed result_{};
};

}  // namespace testing::detail

/// Runs the chain over the recording of a real session, in a session of its own: begin, after_create_session,
/// before_run and after_run of each recorded run with its values and steps, then end. A stop of the chain ends it.
///   HookChain chain{EarlyStopping<"loss">{.aim = Aim::lowest, .patience = 5}};
///   const Replayed result = replay(chain, "run.events");
/// - Parts: `recorded<TensorView<float, 2>, "logits">`: the type of a value, float if not stated. `targets<"train">`: a
///   target; recorded runs with another one are replayed as runs without a target. `placeholder<float, "rate">`: for
///   hooks that feed; their feeds have no effect.
/// - An lvalue chain is used in place, so the state of its hooks can be read afterwards, also after an exception.
/// - A recorded session that was restored from a checkpoint begins at its step; the hooks begin without its state.
/// - A session that ended by an error: on_error of each hook with that text; see Replayed::error.
/// - Throws, after on_error of each hook: DataLossError at the end of a damaged file, or of one that a killed program
///   left, after the runs before that place; DataError for a value that a hook reads and the run does not have, or has
///   with another type; LogicError if a hook runs the session itself; what the hooks throw. IoError.
/// - Hooks with probes, and hooks that use variables of the executor, do not compile.
template <class Chain, class... Part>
Replayed replay(Chain&& chain, const std::filesystem::path& path, const Part&... /*parts*/) {
  using Flat = typename std::remove_cvref_t<Chain>::Flat;
  using Types = testing::detail::ReplayTypes<Flat, Part...>;
  return testing::detail::Replay<typename Types::executor, Flat>{chain, path}(typename Types::targets{});
}

}  // namespace crochet
