// SPDX-License-Identifier: Apache-2.0
// Scaffold: the functions that initialize a session, each with a default.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/variables.hpp>

namespace crochet {

/// Stands for an unset piece.
struct DefaultPiece {};

namespace detail {

template <class Piece>
inline constexpr bool is_given = !std::is_same_v<Piece, DefaultPiece>;

/// The saver itself, or the target of a pointer to a saver.
template <class S>
auto& saver_of(S& saver) {
  if constexpr (std::is_pointer_v<S>) {
    return *saver;
  } else {
    return saver;
  }
}

/// The names of what is missing, from the result of a readiness check: names, or a bool.
inline std::vector<std::string> missing_of(std::vector<std::string> names) { return names; }
inline std::vector<std::string> missing_of(bool ready) {
  return ready ? std::vector<std::string>{} : std::vector<std::string>{"(the check says no)"};
}

/// Calls a readiness check. A variable without a value is a result, not an error.
template <class Check>
std::vector<std::string> request_ready(Check&& check) {
  try {
    return missing_of(check());
  } catch (const UninitializedError& missing) {
    return {missing.what()};
  }
}

}  // namespace detail

/// Pieces are functions of the raw session, set by name: `Scaffold{}.with_init_fn(load_embedding).with_saver(&saver)`.
/// Each call returns a new scaffold with that piece replaced. A copy starts with the pieces of the original; afterwards
/// no piece is shared. There is no finalize(): the graph is final at compile time.
///
///   piece                 called as           default
///   init                  init(session)       the executor's initialize(), if it has one
///   init_fn               init_fn(session)    nothing; after init
///   ready_for_local_init  check(session)      the default result of `ready`
///   local_init            local_init(session) nothing; also after a restore
///   ready                 check(session)      the executor's uninitialized_variables(), if it has variables
///   saver                 -                   none: nothing is restored
///
/// A check returns the names of what is missing (std::vector<std::string>), or a bool. A saver may be passed as a
/// pointer, to share it with the hook that saves. It has one of
/// - with its own folder, `directory()` and `restore_latest(session)`, like crochet::Saver (checkpoint/saver.hpp);
/// - `restore_latest(session, directory)`, which returns whether it restored;
/// - `restore(session, path)` and `latest_checkpoint(directory)`, which returns an empty path if there is none;
/// and `restore(session, path)` for RestoreOptions::checkpoint_filename_with_path.
template <class Init = DefaultPiece, class InitFn = DefaultPiece, class ReadyForLocalInit = DefaultPiece,
          class LocalInit = DefaultPiece, class Ready = DefaultPiece, class Saver = DefaultPiece>
class Scaffold {
 public:
  static_assert(!detail::is_given<ReadyForLocalInit> || detail::is_given<LocalInit>,
                "crochet: a scaffold with ready_for_local_init needs a local_init; give that first.");
  static constexpr bool has_saver = detail::is_given<Saver>;

  Scaffold() = default;
  Scaffold(Init init, InitFn init_fn, ReadyForLocalInit ready_for_local, LocalInit local_init, Ready ready, Saver saver)
      : init_(std::move(init)),
        init_fn_(std::move(init_fn)),
        ready_for_local_(std::move(ready_for_local)),
        local_init_(std::move(local_init)),
        ready_(std::move(ready)),
        saver_(std::move(saver)) {}

  template <class F>
  [[nodiscard]] auto with_init(F f) const {
    return made(std::move(f), init_fn_, ready_for_local_, local_init_, ready_, saver_);
  }
  template <class F>
  [[nodiscard]] auto with_init_fn(F f) const {
    return made(init_, std::move(f), ready_for_local_, local_init_, ready_, saver_);
  }
  template <class F>
  [[nodiscard]] auto with_ready_for_local_init(F f) const {
    return made(init_, init_fn_, std::move(f), local_init_, ready_, saver_);
  }
  template <class F>
  [[nodiscard]] auto with_local_init(F f) const {
    return made(init_, init_fn_, ready_for_local_, std::move(f), ready_, saver_);
  }
  template <class F>
  [[nodiscard]] auto with_ready(F f) const {
    return made(init_, init_fn_, ready_for_local_, local_init_, std::move(f), saver_);
  }
  template <class S>
  [[nodiscard]] auto with_saver(S saver) const {
    return made(init_, init_fn_, ready_for_local_, local_init_, ready_, std::move(saver));
  }

  /// Runs init, then init_fn.
  template <class E>
  void initialize(RawSession<E>& session) {
    if constexpr (detail::is_given<Init>) {
      init_(session);
    } else if constexpr (detail::Initializes<E>) {
      session.executor().initialize();
    }
    if constexpr (detail::is_given<InitFn>) init_fn_(session);
  }

  /// Runs local_init if its readiness check allows it. Returns the names of what is missing; empty if it ran or does
  /// not exist.
  template <class E>
  std::vector<std::string> local_initialize(RawSession<E>& session) {
    std::vector<std::string> missing;
    if constexpr (detail::is_given<ReadyForLocalInit>) {
      missing = detail::request_ready([&] { return ready_for_local_(session); });
    } else if constexpr (detail::is_given<LocalInit>) {
      missing = default_missing(session);
    }
    if constexpr (detail::is_given<LocalInit>) {
      if (missing.empty()) local_init_(session);
    }
    return missing;
  }

  /// The names of what the session lacks; empty when it is ready.
  template <class E>
  std::vector<std::string> missing(RawSession<E>& session) {
    if constexpr (detail::is_given<Ready>) {
      return detail::request_ready([&] { return ready_(session); });
    } else {
      return default_missing(session);
    }
  }

  [[nodiscard]] auto& saver() requires has_saver { return detail::saver_of(saver_); }

 private:
  template <class... Piece>
  static Scaffold<Piece...> made(Piece... piece) {
    return {std::move(piece)...};
  }
  template <class E>
  static std::vector<std::string> default_missing(RawSession<E>& session) {
    if constexpr (HasVariables<E>) {
      return session.executor().uninitialized_variables();
    } else {
      return {};
    }
  }

  Init init_;
  InitFn init_fn_;
  ReadyForLocalInit ready_for_local_;
  LocalInit local_init_;
  Ready ready_;
  Saver saver_;
};
Scaffold()->Scaffold<>;

}  // namespace crochet
