// SPDX-License-Identifier: Apache-2.0
// RawSession: an executor with its memory, below all hooks. Hooks use it for side runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/unusable.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/epochs.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/state.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/fetched.hpp>
#include <crochet/session/request_check.hpp>
#include <crochet/session/rows_of_run.hpp>
#include <crochet/session/run_arguments.hpp>
#include <crochet/session/stop.hpp>

namespace crochet {

namespace detail {

template <class E, class... F>
constexpr auto fetch_all(E& executor, typename E::Workspace& workspace, Fetches<F...>) {
  return Fetched<Names<F...>, fetched_t<E, F>...>{executor.template fetch<F>(workspace)...};
}

/// What is wrong with a run of a bare request: the request, or a feed that it lacks.
template <class E, class Args>
struct SideRunReason {
  using type = call_reason<E, Args>;
};
template <class E, class... F, class... T, class X>
requires(ChecksFeeds<E>&& good_call<E, RunArgs<Fetches<F...>, Targets<T...>, X>>) struct SideRunReason<
    E, RunArgs<Fetches<F...>, Targets<T...>, X>> {
  using Fed = decltype(fed_names(std::type_identity<RunArgs<Fetches<F...>, Targets<T...>, X>>{}));
  using type = typename decltype(unfed_reason<E, demand_for<E, List<F...>, List<T...>>>(Fed{}))::type;
};
template <class E, class Args>
using side_run_reason = typename SideRunReason<E, Args>::type;

[[noreturn]] CROCHET_COLD inline void fail_without_epochs() {
  throw LogicError(
      "crochet: the session has no data that count epochs; list CheckpointInputPipeline{batches} in the chain, or set "
      "SessionOptions::epochs to EpochSource{batches}");
}

}  // namespace detail

/// The state of a session's hooks, for one of them that saves it (a CheckpointSaver) and does not know the chain's
/// type.
struct HookStates {
  void* chain = nullptr;
  void (*save)(const void* chain, StateWriter& out) = nullptr;
  void (*load)(void* chain, StateReader& in) = nullptr;

  /// Of a chain in which two hooks have one key, none can be saved.
  template <class Chain>
  static constexpr HookStates of(Chain& chain) {
    if constexpr (Chain::state_keys_differ) {
      return {&chain, [](const void* c, StateWriter& out) { static_cast<const Chain*>(c)->save_state(out); },
              [](void* c, StateReader& in) { static_cast<Chain*>(c)->load_state(in); }};
    } else {
      return {&chain, nullptr, nullptr};
    }
  }
};

/// Runs the executor without hooks. Its runs use a workspace of their own, made on first use, so that the values of the
/// hooked run stay as they are; the executor's state (variables, global step) is the same. One thread at a time.
template <class E>
class RawSession {
 public:
  using Executor = E;
  using Workspace = typename E::Workspace;

  /// `executor` must outlive the session.
  explicit RawSession(E& executor, std::int64_t step = 0, int creation = 1, std::int64_t lost_at = 0)
      : executor_(&executor), steps_(step), creation_(creation), lost_at_(lost_at) {}
  RawSession(const RawSession&) = delete;
  RawSession& operator=(const RawSession&) = delete;

  /// Runs once and returns the fetched values: `session.run(fetches<"accuracy">, feed<"images">(x))`. Calls no hooks.
  /// Throws what the executor throws. Views in the result are valid until the next run on the side.
  template <RequestPart... A>
  auto run(A&&... args) {
    const RunArgs request{std::forward<A>(args)...};
    using Request = std::remove_const_t<decltype(request)>;
    using Reason = detail::side_run_reason<E, Request>;
    static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
    return run_request < std::is_same_v<Reason, error::none> && !detail::is_unusable < E >> (request);
  }
  /// For an argument that is no part of a request: only reports it.
  template <class... A>
  requires detail::HasOtherArgument<A...>
  auto run(A&&...) { return detail::refused_run<E, A...>(); }

  /// The global step: the executor's own, else the number of hooked runs that the executor has made; one whose
  /// `after_run` throws counts.
  [[nodiscard]] std::int64_t step() const {
    if constexpr (detail::CountsSteps<E>) {
      return executor_->global_step();
    } else {
      return steps_;
    }
  }

  /// Sets the step of an executor that does not count its own, after a checkpoint is restored.
  void set_step(std::int64_t step) requires(!detail::CountsSteps<E>) { steps_ = step; }

  /// Number of complete epochs of the data that the session counts. In before_run and after_run the batch of that run
  /// is taken already: after the last batch of the first epoch it is 1. Throws LogicError without such data.
  [[nodiscard]] std::int64_t epoch() const { return epoch_place().epoch; }
  /// The same with the place within the epoch.
  [[nodiscard]] EpochPlace epoch_place() const {
    if (!epochs_) detail::fail_without_epochs();
    return epochs_.place();
  }
  /// Whether the session has data that count epochs.
  [[nodiscard]] bool counts_epochs() const { return static_cast<bool>(epochs_); }
  /// These data; empty: none. For sessions.
  [[nodiscard]] EpochSource epochs() const { return epochs_; }
  /// Sets these data. For sessions.
  void count_epochs_of(EpochSource epochs) { epochs_ = epochs; }

  /// 1 for the first session of a MonitoredSession, 2 for the one after its first recovery, and so on.
  [[nodiscard]] int creation() const { return creation_; }
  /// In a session that replaces a lost one: the step of that one when it was lost. 0 in the first one.
  [[nodiscard]] std::int64_t lost_at() const { return lost_at_; }

  /// True in `end` if the loop was interrupted (StopKind): the training is not over, and a later session resumes it.
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  /// For sessions.
  void note_interruption(bool interrupted) { interrupted_ = interrupted; }

  /// In `end`, for a hook that stops at a run that the executor reports late: this reason replaces that of a later run.
  /// `runs_ago`: the runs that were requested since. The first call is kept.
  CROCHET_COLD void note_late_stop(std::string_view hook, std::string_view reason, std::int64_t runs_ago) {
    if (late_stop_.hook.empty()) late_stop_ = {std::string(hook), std::string(reason), runs_ago > 0};
  }
  /// For sessions.
  [[nodiscard]] const LateStop& late_stop() const { return late_stop_; }

  /// Writes what the hooks of the session's chain save (HookChain::save_state); nothing if there is no chain. Throws
  /// LogicError if two hooks have one state key; a chain with a hook that `saves_hook_state` then does not compile.
  void save_hook_state(StateWriter& out) const {
    if (hooks_.save != nullptr) {
      hooks_.save(hooks_.chain, out);
    } else if (hooks_.chain != nullptr) {
      throw LogicError("crochet: two hooks have the same state key; give one of them another: Keyed<\"...\", Hook>");
    }
  }
  /// Whether there is a chain whose state can be saved.
  [[nodiscard]] bool saves_hook_state() const { return hooks_.save != nullptr; }
  /// Restores the saved state of the hooks. A session calls it after `begin` and before `after_create_session`.
  void load_hook_state(StateReader& in) {
    if (hooks_.load != nullptr) hooks_.load(hooks_.chain, in);
  }
  /// Sets the chain of hooks whose state is saved and restored. For sessions.
  void attach_hooks(const HookStates& hooks) { hooks_ = hooks; }

  /// Whether a view of the session for the guard G is part of it (session/guarded_session.hpp).
  template <class G>
  static constexpr bool has_guard = false;

  [[nodiscard]] E& executor() { return *executor_; }
  [[nodiscard]] const E& executor() const { return *executor_; }

  /// The memory of the hooked run: its values are read here.
  [[nodiscard]] Workspace& hooked_workspace() { return hooked_; }

  /// The weight of the values of the last hooked run in a mean over runs: `own`, the rows of the caller's feeds, and on
  /// several ranks the rows of all ranks together, if the run exchanged. 1 if `own` is -1: feeds without rows.
  [[nodiscard]] double weight_of_batch(double own) const { return rows_.weight(own); }
  /// The same for the last run().
  [[nodiscard]] double weight_of_side_batch(double own) const { return side_rows_.weight(own); }

  /// One run of the demand D on that memory, counted as a step. For sessions; hooks use run.
  template <class D, class... F>
  CROCHET_HOST_ALWAYS_INLINE void run_hooked(const F&... feeds) {
    executor_->template run<D>(hooked_, feeds...);
    rows_.template note<D>(*executor_);
    if constexpr (!detail::CountsSteps<E>) ++steps_;
  }
  /// The same with probes (hook/due_probes.hpp).
  template <class D, class... P, class... F>
  void run_probed(const DueProbes<P...>& probes, const F&... feeds) {
    executor_->template run_probed<D>(hooked_, probes, feeds...);
    rows_.template note<D>(*executor_);
    if constexpr (!detail::CountsSteps<E>) ++steps_;
  }

 private:
  template <bool Good, class... F, class... T, class... N, class... X>
  auto run_request(const RunArgs<Fetches<F...>, Targets<T...>, Feeds<Feed<N, X>...>>& args) {
    if constexpr (Good) {
      using D = detail::demand_for<E, detail::List<F...>, detail::List<T...>>;
      if (!side_) side_.emplace();
      executor_->template run<D>(*side_, args.feeds.template get<N>()...);
      side_rows_.template note<D>(*executor_);
      return detail::fetch_all(*executor_, *side_, Fetches<F...>{});
    } else {
      return detail::fetch_none<E>(Fetches<F...>{});
    }
  }

  E* executor_;
  std::int64_t steps_;
  int creation_;
  std::int64_t lost_at_;
  bool interrupted_ = false;
  LateStop late_stop_;
  Workspace hooked_;
  [[no_unique_address]] detail::RowsOfRun<E> rows_;  ///< of the last hooked run
  std::optional<Workspace> side_;
  [[no_unique_address]] detail::RowsOfRun<E> side_rows_;
  HookStates hooks_;
  EpochSource epochs_;
};

}  // namespace crochet
