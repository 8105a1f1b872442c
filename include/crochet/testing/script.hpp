// SPDX-License-Identifier: Apache-2.0
// Script: runs a hook or a chain through a session that a test writes step by step. No training, no clock.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/epochs.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/check.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/hooked_run.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/stop.hpp>
#include <crochet/testing/scripted_executor.hpp>
#include <crochet/testing/scripted_value.hpp>

namespace crochet::testing {

/// Runs hooks through the phases of a session with given values:
///   Script run{Plateau{.patience = 3}};
///   for (int i = 0; i < 4; ++i) run.step(value<"loss">(1.0f));
///   EXPECT_EQ(run.stop_reason(), "no improvement in loss");
///   EXPECT_EQ(run.trace(), "begin create b a b a b a b a end");
/// - The constructor calls begin and after_create_session; each step is one hooked run.
/// - A step after which a stop was requested is the last: `end` follows at once, as at the end of a loop.
/// - A CheckpointInputPipeline among the hooks gives the epochs, as in a session.
/// - Arguments after the hooks apply to every phase, also to runs made by hooks: values, targets<"train">,
///   placeholder<float, "rate">.
template <class Chain, class... Fixed>
class Script {
 public:
  template <class HookOrChain>
  explicit Script(HookOrChain hooks, Fixed... fixed) : chain_(std::move(hooks)), fixed_(std::move(fixed)...) {
    note("begin");
    chain_.template fire<phase::begin>();
    note("create");
    with_session([this](auto& session) { chain_.template fire<phase::after_create_session>(session, coordinator_); });
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  /// One hooked run with these values. Targets and feeds among the arguments are the caller's request:
  /// `run.step(value<"loss">(1.0f), targets<"train">)`. A value hides one of the same name in the constructor's
  /// arguments. Throws LogicError after the end. Exceptions of hooks propagate, and the script can continue.
  template <class... Part>
  void step(const Part&... part) {
    if (ended_) throw LogicError("crochet: step() of a script that has ended");
    with_executor(
        [&](auto& executor) {
          using E = std::remove_reference_t<decltype(executor)>;
          const auto request = request_of(std::tuple_cat(request_part(part)...));
          using Request = std::remove_const_t<decltype(request)>;
          using Bad = crochet::detail::session_verdict<E, Chain>;
          [[maybe_unused]] crochet::detail::hook_error<Bad> checked;
          constexpr bool good = crochet::detail::all_hooks_ok<Bad>;
          using BadRun = crochet::detail::run_verdict<good, E, Chain, Request>;
          [[maybe_unused]] crochet::detail::hook_error<BadRun> checked_run;
          if constexpr (good && crochet::detail::all_hooks_ok<BadRun>) run_once(executor, request);
        },
        part...);
    if (should_stop()) end();
  }

  /// The clean end, unless the script has ended: `end` of every hook.
  void end() {
    if (std::exchange(ended_, true)) return;
    note("end");
    crochet::detail::NestedErrors errors;
    with_session([&](auto& session) {
      session.note_interruption(stop_.interrupted());
      chain_.template fire_guarded<phase::end>(errors, session);
    });
    errors.rethrow_first();
  }

  /// The end by an error: `on_error` of every hook with this exception. Then throws the first of their exceptions, with
  /// the others inside; a session reports them.
  template <class Thrown>
  void fail(Thrown error) {
    if (std::exchange(ended_, true)) throw LogicError("crochet: fail() of a script that has ended");
    note("error");
    std::exception_ptr thrown = std::make_exception_ptr(std::move(error));
    crochet::detail::NestedErrors errors;
    chain_.template fire_guarded<phase::on_error>(errors, thrown);
    errors.rethrow_first();
  }

  /// The phases so far: begin, create, b (before_run), a (after_run), end, error.
  [[nodiscard]] const std::string& trace() const { return trace_; }
  /// The reason of the first stop request; empty if there is none.
  [[nodiscard]] std::string stop_reason() const {
    return stop_.requested() ? stop_.reason().reason : coordinator_.reason();
  }
  [[nodiscard]] bool should_stop() const { return stop_.requested() || coordinator_.should_stop(); }
  [[nodiscard]] Coordinator& coordinator() { return coordinator_; }

  /// The global step; set_step continues from another one.
  [[nodiscard]] std::int64_t global_step() const { return steps_; }
  void set_step(std::int64_t step) { steps_ = step; }

  /// The requests to the executor, run by run, with the values read and fed.
  [[nodiscard]] ScriptLog& log() { return log_; }
  /// The fetched names of the last run, joined by spaces.
  [[nodiscard]] const std::string& fetched() const { return log_.runs.back().fetched; }

  [[nodiscard]] Chain& hooks() { return chain_; }
  /// The hook, in a script with one hook.
  [[nodiscard]] auto& hook() { return only(chain_); }

 private:
  template <class H>
  static H& only(HookChain<H>& chain) {
    return chain.template get<H>();
  }
  void note(std::string_view phase) { (trace_ += trace_.empty() ? "" : " ") += phase; }

  template <class... Part>
  using Executor =
      ScriptedExecutor<detail::all_placeholders<Fixed...>,
                       decltype(crochet::detail::unique(detail::List<>{}, detail::all_targets<Fixed..., Part...>{})),
                       decltype(detail::overridden(detail::all_values<Part...>{}, detail::all_values<Fixed...>{}))>;

  template <class Use, class... Part>
  void with_executor(Use use, const Part&... part) {
    std::apply(
        [&](const auto&... fixed) {
          Executor<Part...> executor{log_, part..., fixed...};
          use(executor);
        },
        fixed_);
  }
  template <class Use>
  void with_session(Use use) {
    with_executor([&](auto& executor) {
      RawSession<std::remove_reference_t<decltype(executor)>> session{executor, steps_};
      session.count_epochs_of(crochet::detail::epoch_source_of(chain_));
      use(session);
    });
  }

  template <class Part>
  static auto request_part(const Part& part) {
    if constexpr (RequestPart<Part>) {
      return std::tuple<Part>{part};
    } else {
      return std::tuple<>{};
    }
  }
  template <class... Part>
  static auto request_of(std::tuple<Part...> parts) {
    return std::apply([](auto&... part) { return RunArgs{std::move(part)...}; }, parts);
  }

  template <class E, class Request>
  void run_once(E& executor, const Request& request) {
    RawSession<E> session{executor, steps_};
    session.count_epochs_of(crochet::detail::epoch_source_of(chain_));
    note("b");
    try {
      crochet::detail::hooked_run(session, chain_, stop_, request);
    } catch (...) {
      stop_.count_failure();
      take_over(session.step());
      throw;
    }
    stop_.forget_failures();
    take_over(session.step());
  }
  void take_over(std::int64_t step) {
    if (step != steps_) note("a");  // the executor ran, so after_run began
    steps_ = step;
  }

  Chain chain_;
  std::tuple<Fixed...> fixed_;
  ScriptLog log_;
  Coordinator coordinator_;
  StopState stop_;
  std::string trace_;
  std::int64_t steps_ = 0;
  bool ended_ = false;
};
template <class H, class... Fixed>
Script(H, Fixed...) -> Script<HookChain<H>, Fixed...>;
template <class... H, class... Fixed>
Script(HookChain<H...>, Fixed...) -> Script<typename HookChain<H...>::Flat, Fixed...>;

}  // namespace crochet::testing
