// SPDX-License-Identifier: Apache-2.0
// LivePage<"loss">: a page in the browser with curves, progress, histograms, costs of hooks, and a stop button. Not
// part of hooks.hpp: it brings sockets and <thread>.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/phase_log.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hook/stop_kind.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/web/page.hpp>

namespace crochet {

/// `LivePage<"loss", "accuracy">{.every_steps = 10, .total = 2000}` prints the address of a page (docs/live-page.md):
///   crochet: live page at http://127.0.0.1:40213/?token=...
///   Text...        -        -            scalars to draw
///   port           -        0            0: a free one
///   address        -        127.0.0.1    an IPv4 address of this machine; 0.0.0.0: all its networks
///   every_steps    steps    10           at most one of the three; both, or one out of range: begin throws LogicError
///   every_seconds  seconds  unset
///   every_epochs   epochs   unset   epochs of the data
///   anchor         -        global_step  first_run: after runs 1, 11, ...; not with every_epochs (LogicError)
///   total          steps    unset        the global step at which the loop ends, for the time left
///   chain          -        empty        a text to show, as of describe(chain)
///   page           -        a new one    a web::Page, for `page.sink()` and `.summaries = page` of other hooks
///   clock, sink             steady clock, standard error
/// - The stop button requests a stop at the end of the run, as an interruption (StopKind), like Ctrl-C.
/// - Fires: in the run that makes the step; the stop in any run.
/// - Fetches: the scalars, in those runs only. In these runs the session also measures every hook's before_run and
///   after_run (hook/phase_log.hpp), except with every_epochs. The times of a run arrive with the next due one.
/// - Cost: a load and two comparisons per run, about 4 ns; in a due run about 2 us, and two clock readings for
///   each hook.
/// - Memory: bounded (web::BoardLimits). Curves of more points are merged; least and greatest values are kept.
/// - Threads: the server has one. The training waits for no client; both hold a lock while they copy.
/// - Security: a request needs the token of the printed address, and a Host that is `localhost` or the number of an
///   address; no file is served. Without TLS: for another machine, use `ssh -L`.
/// - The page is served until the last copy of the hook and of `page` is destroyed.
/// - State: none in checkpoints.
/// - Throws in begin: LogicError as above, or for an invalid port or address; IoError if it cannot listen;
///   ResourceExhaustedError if the server's thread cannot be started.
/// - TensorFlow has no such hook.
template <FixedString... Text>
struct LivePage {
  static constexpr auto runs_on = RunsOn::chief;
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::on_error>;
  static constexpr Fetches<Name<Text>...> fetches{};
  static constexpr bool logs_phases = true;

  int port = 0;
  std::string address = "127.0.0.1";
  std::optional<std::int64_t> every_steps{};
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  std::optional<std::int64_t> total{};
  std::string chain{};
  web::Page page{};
  Clock clock{};
  Sink sink{};

  /// State so far; begin resets it.
  struct State {
    Cadence timer{};
    std::optional<PhaseLog> log{};
    bool looked = false, due = false, logged = false;
    double started_at = 0, shown_at = 0;
    web::Progress progress{};
    std::vector<web::HookCost> costs{};
  };
  State state{};

  void begin() {
    state = State{.timer = cadence_of<LivePage>(every(), anchor), .log = PhaseLog(clock)};
    page.board().begin();
    if (!chain.empty()) page.board().chain(chain);
    if (page.serve({.address = address, .port = port})) sink("crochet: live page at " + page.url());
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    state.progress = {.step = session.step(), .total = total};
    state.started_at = state.shown_at = clock();
    state.timer.session_begins(session, state.started_at);
    state.logged = false;
    page.board().progress(state.progress);
  }

  PhaseLog* due_phase_log(auto& run) {
    if (every_epochs) return nullptr;  // a FeedFn takes the batch later: before_run decides
    look(run);
    state.looked = true;
    return state.due ? &*state.log : nullptr;
  }
  MaybeFetch<Text...> before_run(auto& run) {
    if (!std::exchange(state.looked, false)) look(run);  // with every_epochs
    if (!state.due) return {};
    return RunArgs<Fetches<Name<Text>...>>{};
  }
  void after_run(auto& run, const auto& values) {
    const bool reached = state.timer.ran(run);
    if (state.due && reached) [[unlikely]] {
      publish(run.step(), values);
    }
    if (page.board().stop_requested()) [[unlikely]] {
      run.request_stop("the stop button of the live page", StopKind::interruption);
    }
  }

  void end(auto& session) {
    add_costs();
    measure(session.step());
    page.board().ended(session.interrupted() ? "interrupted" : "ended");
  }
  void on_error(const std::exception_ptr& /*error*/) { page.board().ended("ended by an error"); }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), anchor); }

 private:
  [[nodiscard]] Intervals every() const { return Intervals{every_steps, every_seconds, every_epochs}.or_every(10); }
  void look(auto& run) {
    state.due = state.timer.due_next(run, clock);
    if (state.due) [[unlikely]] {
      add_costs();
    }
  }

  CROCHET_COLD void publish(std::int64_t step, [[maybe_unused]] const auto& values) {
    state.timer.triggered(step, clock());
    state.logged = true;
    (page.board().scalar(Text.view(), step, static_cast<double>(values[Name<Text>{}])), ...);
    measure(step);
  }
  /// Smooths the rate over the last few calls.
  CROCHET_COLD void measure(std::int64_t step) {
    const double now = clock(), seconds = now - state.shown_at;
    web::Progress& progress = state.progress;
    if (seconds > 0 && step > progress.step) {
      const double rate = static_cast<double>(step - progress.step) / seconds;
      progress.rate = progress.rate == 0 ? rate : 0.7 * progress.rate + 0.3 * rate;
    }
    if (step != progress.step) state.shown_at = now;
    progress.step = step;
    progress.elapsed = now - state.started_at;
    page.board().progress(progress);
  }
  /// Publishes the times of the last measured run, which is complete by now.
  CROCHET_COLD void add_costs() {
    if (!std::exchange(state.logged, false)) return;
    for (const std::string_view name : {phase::after_run::name, phase::before_run::name}) {  // in the chain's order
      for (const HookPhase& measured : state.log->phases()) {
        if (measured.phase == name) add_cost(measured);
      }
    }
    page.board().hooks(state.costs);
  }
  void add_cost(const HookPhase& measured) {
    const auto same = [&](const web::HookCost& cost) { return cost.hook == measured.hook; };
    auto cost = std::find_if(state.costs.begin(), state.costs.end(), same);
    if (cost == state.costs.end()) cost = state.costs.insert(cost, {.hook = measured.hook});
    web::CallTime& time = measured.phase == phase::before_run::name ? cost->before_run : cost->after_run;
    ++time.calls;
    time.seconds += measured.end - measured.begin;
  }
};

}  // namespace crochet
