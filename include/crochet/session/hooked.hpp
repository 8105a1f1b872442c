// SPDX-License-Identifier: Apache-2.0
// The innermost layer of a session: an executor under a chain of hooks. It implements the order of calls and the latch
// of a stop. It handles neither threads nor recovery.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/hook/epochs.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/session/check.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/extend.hpp>
#include <crochet/session/hooked_run.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/session_creator.hpp>
#include <crochet/session/session_of.hpp>
#include <crochet/session/stop.hpp>
#include <crochet/session/together.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet {

/// Whether a session can be run. `retrying`: the last run failed; the next one reports that to the hooks (attempt()).
/// `lost`: the raw session is gone and could not be recreated.
enum class SessionState : unsigned char { running, retrying, stopped, lost, closed };

/// Owns (or borrows, for lvalue references) an executor and a chain, and calls both. Exceptions of hooks propagate from
/// each phase.
template <class Exec, class Chain>
class HookedLayer {
  using Owned = detail::extended_executor<Exec, Chain>;

 public:
  using Executor = std::remove_reference_t<Owned>;  ///< after every extend_graph
  using Placed = detail::placed_chain<Executor, Chain>;
  using HookList = detail::session_chain<Placed>;
  using Session = detail::session_of<Executor, HookList>;

  static_assert(crochet::Executor<Executor>);
  static_assert(sizeof(detail::chain_can_be_placed<!detail::borrows_hooks_to_place<Executor, Chain>>) > 0);
  /// False if the compiler has reported that the executor or a hook cannot be used. Then none is called, so that it
  /// remains the only error.
  static constexpr bool usable =
      !detail::is_unusable<Executor> && detail::all_hooks_ok<detail::session_verdict<Executor, HookList>>;

  /// `epochs`: the data whose epochs are counted; empty: those of a hook of the chain.
  HookedLayer(Exec&& executor, Chain&& chain, EpochSource epochs)
      : executor_(static_cast<Exec&&>(executor)),
        chain_(detail::place_chain<Executor, Chain>(static_cast<Chain&&>(chain))),
        raw_(std::in_place, executor_),
        epochs_(epochs) {}

  /// Calls begin of every hook.
  void begin() {
    if constexpr (usable) {
      detail::join_ranks(executor_, chain_);
      chain_.template fire<phase::begin>();
    }
  }

  /// Makes a new raw session and passes it to the creator; then calls after_create_session of every hook. An executor
  /// without `initialize` is not reset, so its step count continues.
  template <class Creator>
  void create(Creator& creator, Coordinator& coordinator) {
    const std::int64_t lost_at = creations_ > 0 ? raw_->step() : 0;
    const std::int64_t step = detail::Initializes<Executor> ? 0 : raw_->step();
    raw_.emplace(executor_, step, ++creations_, lost_at);
    if constexpr (usable) raw_->attach_hooks(HookStates::of(chain_));
    if constexpr (usable) raw_->count_epochs_of(epochs_ ? epochs_ : detail::epoch_source_of(chain_));
    open_ = true;
    if constexpr (!detail::is_unusable<Executor>) {
      if constexpr (SessionCreator<Creator, Executor>) detail::create_on_all_ranks(*raw_, creator, coordinator);
    }
    if constexpr (usable) chain_.template fire<phase::after_create_session>(*raw_, coordinator);
    detail::end_step_on_all_ranks(executor_);
  }

  /// One run: before_run of every hook, the executor once, after_run of every hook. Then latches a requested stop and
  /// fetches the values of the caller.
  template <class Request>
  CROCHET_HOST_ALWAYS_INLINE auto run(const Request& request) {
    return detail::hooked_run(*raw_, chain_, stop_, request, Finish<Request>{*this});
  }

  /// Called after a failed run. `repeated`: the session repeats the run after a recovery. Otherwise latches a stop that
  /// was requested in the run, as after a successful run.
  void failed(bool repeated) {
    stop_.count_failure();
    if (state_ == SessionState::running) state_ = SessionState::retrying;
    if (!repeated) latch();
  }
  /// Stops the session if a stop was requested.
  void latch() {
    if (may_run() && stop_.requested()) state_ = SessionState::stopped;
  }
  /// Called after a successful run that follows a failed one.
  void succeeded() {
    stop_.forget_failures();
    if (state_ == SessionState::retrying) state_ = SessionState::running;
  }

  /// Waits for runs that the executor may have skipped, if it does so. `report(std::exception_ptr)`: for its error.
  template <class Report>
  CROCHET_COLD void settle(Report& report) {
    if constexpr (detail::SkipsRuns<Executor>) {
      try {
        executor_.settle();
      } catch (...) {
        report(std::current_exception());
      }
    }
  }

  /// Calls on_error of every hook, in order. Their exceptions go to the diagnostic sink.
  void on_error(std::exception_ptr error) {
    auto report = [](const std::exception_ptr& thrown) {
      detail::diagnose_or("crochet: on_error of a hook threw", [&] {
        return detail::message({"crochet: on_error of a hook threw: ", detail::what_of(thrown)});
      });
    };
    if constexpr (usable) chain_.template fire_guarded<phase::on_error>(report, error);
  }
  /// Calls the executor's close, if it has one. Its exceptions are reported and not propagated: the session is over.
  void close_raw() noexcept {
    if constexpr (detail::Closes<Executor>) {
      if (!std::exchange(open_, false)) return;
      try {
        executor_.close();
      } catch (...) {
        detail::diagnose_or("crochet: close() of an executor threw", [] {
          return detail::message(
              {"crochet: close() of an executor threw: ", detail::what_of(std::current_exception())});
        });
      }
    }
  }

  [[nodiscard]] SessionState state() const { return state_; }
  void set_state(SessionState state) { state_ = state; }
  [[nodiscard]] bool may_run() const { return state_ <= SessionState::retrying; }
  [[nodiscard]] StopState& stop() { return stop_; }
  [[nodiscard]] const StopState& stop() const { return stop_; }
  [[nodiscard]] HookList& chain() { return chain_; }
  [[nodiscard]] const HookList& chain() const { return chain_; }
  [[nodiscard]] Executor& executor() { return executor_; }
  [[nodiscard]] Session& raw() { return *raw_; }
  [[nodiscard]] const Session& raw() const { return *raw_; }

 private:
  /// The end of a run.
  template <class Request>
  struct Finish {
    HookedLayer& layer;
    CROCHET_HOST_ALWAYS_INLINE auto operator()() const { return layer.template finish<Request>(); }
  };
  template <class Request>
  CROCHET_HOST_ALWAYS_INLINE auto finish() {
    detail::end_step_on_all_ranks(executor_);
    if constexpr (HookList::size > 0) {
      if (stop_.requested()) [[unlikely]] {
        state_ = SessionState::stopped;
      }
    }
    return detail::fetch_all(executor_, raw_->hooked_workspace(), typename Request::fetches_type{});
  }

  StopState stop_;  // first member: it then shares the session's address, which a step holds in a register
  Owned executor_;
  Placed chain_;
  std::optional<Session> raw_;
  SessionState state_ = SessionState::running;
  EpochSource epochs_;
  int creations_ = 0;
  bool open_ = false;  // close_raw has not been called yet
};

}  // namespace crochet
