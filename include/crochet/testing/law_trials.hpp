// SPDX-License-Identifier: Apache-2.0
// The trials of broken_laws: one undisturbed session, and disturbed ones that must have the same events.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/session/run_context.hpp>
#include <crochet/testing/law_options.hpp>
#include <crochet/testing/law_report.hpp>
#include <crochet/testing/phase_spy.hpp>
#include <crochet/testing/state_box.hpp>
#include <crochet/testing/trial.hpp>

namespace crochet::testing {

namespace detail {

template <class H>
concept SavesState = phase::save_state::handled<H, StateBox>;

template <class Listed, class Requested>
struct Unlisted;
template <class... L, class... A>
struct Unlisted<Fetches<L...>, Fetches<A...>> {
  template <class N>
  static constexpr bool listed = (std::is_same_v<N, L> || ...);
  static std::string names() {
    std::string all;
    ((all += listed<A> ? "" : " " + std::string(A::view())), ...);
    return all;
  }
};

/// Tries the laws on the hooks returned by `make()`.
template <class Make, class... Part>
class LawTrials {
  using H = std::remove_cvref_t<std::invoke_result_t<const Make&>>;
  using Chain = HookChain<H, Witness>;
  using E = trial_executor<Part...>;
  using Run = crochet::detail::RunState<RawSession<E>, typename E::Request>;
  using Events = std::vector<TrialEvent>;
  static constexpr bool copyable = std::is_copy_constructible_v<H>;

 public:
  LawTrials(const Make& make, const LawOptions& options, const Part&... part)
      : make_(make),
        options_(options),
        setup_{options.says, options.before_step, options.allocations},
        executor_(part...) {}

  /// The broken laws, one per line; empty if there is none.
  std::string broken() {
    check_names();
    end_and_events();
    middle_ = std::min(options_.interrupt_after.value_or(steps_ / 2), std::max(steps_ - 1, 0));
    if (wanted("reads")) reads();
    if (wanted("copies")) copies();
    if (wanted("moves")) moves();
    if (wanted("begin")) begin();
    if (wanted("state")) state();
    if (wanted("allocations") && options_.allocations) allocations();
    return report_.text();
  }

 private:
  [[nodiscard]] Chain fresh() const { return Chain{make_(), Witness{}}; }
  [[nodiscard]] Trial<Chain, E> trial_of(Chain& chain, int step = 0) const { return {chain, executor_, setup_, step}; }
  [[nodiscard]] bool wanted(std::string_view law) const {
    return std::find(options_.except.begin(), options_.except.end(), law) == options_.except.end();
  }
  void check_names() const {
    for (const std::string_view law : options_.except) {
      if (std::find(hook_laws.begin(), hook_laws.end(), law) != hook_laws.end()) continue;
      throw LogicError("crochet: LawOptions::except names a law that there is not: " + std::string(law));
    }
  }

  void report(std::string_view law, const std::string& what) { report_.add(law, what); }
  /// Compares events with those of the undisturbed session from index `from` on.
  void compare(std::string_view law, std::string_view who, const Events& events, std::size_t from = 0) {
    report_.compare(law, who, events, std::span{expected_}.subspan(std::min(from, expected_.size())));
  }
  [[nodiscard]] std::size_t middle_event() const { return 1 + static_cast<std::size_t>(middle_); }

  void finish(Trial<Chain, E>& trial) const {
    trial.step_until(steps_ == 0 ? 0 : options_.steps);  // 0: a stop was requested before the first step
    trial.end();
  }

  /// The undisturbed session, which the others are compared with.
  void end_and_events() {
    std::optional<Chain> chain{fresh()};
    Trial<Chain, E> trial = trial_of(*chain);
    trial.open();
    trial.step_until(options_.steps);
    trial.end();
    expected_ = trial.events();
    steps_ = trial.steps();
    if (wanted("events")) events(*chain);
    const PhaseSpy* spy = spy_in(chain->template at<0>());
    if (wanted("end") && spy != nullptr && spy->ends() != 1) {
      report("end", "a PhaseSpy inside was called " + std::to_string(spy->ends()) + " times");
    }
    chain.reset();
    const std::string late = trial.unheard();
    if (wanted("end") && !late.empty()) report("end", "after the end, when it was destroyed, something was said");
  }
  void events(const Chain& chain) {
    for (const TrialEvent& event : expected_) {
      if (!event.thrown || not_requested(event)) continue;
      report("events",
             event.text + "; the hooks behind it do not see that. A hook that wants to stop calls request_stop");
    }
    const auto& witness = chain.template at<1>();
    const bool threw = std::any_of(expected_.begin(), expected_.end(), [](const auto& e) { return e.thrown; });
    if (!threw && (witness.befores != steps_ || witness.afters != steps_ || witness.ends != 1)) {
      report("events", "a hook behind it did not see every event");
    }
    const PhaseSpy* spy = spy_in(chain.template at<0>());
    if (spy != nullptr && !spy->complaint().empty()) report("events", "a PhaseSpy inside saw " + spy->complaint());
  }
  static bool not_requested(const TrialEvent& event) {
    return event.thrown && event.text.find("see values.requested()") != std::string::npos;
  }

  void reads() {
    using Requested = typename crochet::detail::request_of<0, H, Run>::args_type::fetches_type;
    if constexpr (crochet::detail::DeclaresFetches<H>) {
      const std::string names = Unlisted<declared_fetches<H>, Requested>::names();
      if (!names.empty()) report("reads", "before_run asks for names that the static `fetches` does not list:" + names);
    }
    for (const TrialEvent& event : expected_) {
      if (not_requested(event)) report("reads", event.text);
    }
  }

  void copies() {
    Chain first = fresh();
    Trial<Chain, E> original = trial_of(first);
    original.open();
    original.step_until(middle_);
    if constexpr (copyable) {
      Chain second = first;
      finish(original);
      compare("copies", "a hook made like the first, and copied in the middle,", original.events());
      Trial<Chain, E> copy = trial_of(second, middle_);
      finish(copy);
      compare("copies", "a copy made in the middle", copy.events(), middle_event());
    } else {
      finish(original);
      compare("copies", "a second hook made like the first", original.events());
    }
  }

  void moves() {
    Chain first = fresh();
    std::optional<Chain> second{std::move(first)};  // like the move into a session
    Trial<Chain, E> before = trial_of(*second);
    before.open();
    before.step_until(middle_);
    Chain third = std::move(*second);
    second.reset();
    Trial<Chain, E> after = trial_of(third, middle_);
    const std::string said = before.unheard();
    if (!said.empty()) report("moves", "a moved-from hook writes output when it is destroyed");
    finish(after);
    Events events = before.events();
    events.insert(events.end(), after.events().begin(), after.events().end());
    compare("moves", "a hook that was moved before the session and in its middle", events);
  }

  void begin() {
    Chain chain = fresh();
    for (int session = 0; session < 2; ++session) {
      Trial<Chain, E> trial = trial_of(chain);
      trial.open();
      finish(trial);
      if (session == 1) compare("begin", "the second session of one hook", trial.events());
    }
    begin_forgets(chain.template at<0>());
  }
  /// Also compares what no request, read or stop shows: the saved state, and the members of a hook that has ==.
  void begin_forgets(H& used) {
    Chain other = fresh();
    H& unused = other.template at<0>();
    call_begin(used);
    call_begin(unused);
    if constexpr (SavesState<H>) {
      StateBox now, then;
      phase::save_state::call(used, now);
      phase::save_state::call(unused, then);
      const std::string key = now.difference_from(then);
      if (!key.empty())
        report("begin", "the state \"" + key + "\" of a session that is over is still there after begin");
    } else if constexpr (std::equality_comparable<H>) {
      if (!(used == unused)) report("begin", "a hook that has made a session is not equal to a new one after begin");
    }
  }
  static void call_begin([[maybe_unused]] H& hook) {
    if constexpr (phase::begin::handled<H>) phase::begin::call(hook);
  }

  void state() {
    if constexpr (SavesState<H>) {
      resume_in_the_middle();
      const StateBox empty;
      Chain chain = fresh();
      Trial<Chain, E> trial = trial_of(chain);
      trial.open(&empty);
      finish(trial);
      compare("state", "a hook that finds nothing saved", trial.events());
    }
  }
  static std::string saved_keys(const Chain& chain) {
    StateBox box;
    phase::save_state::call(chain.template at<0>(), box);
    return box.keys();
  }
  void resume_in_the_middle() {
    StateBox box;
    Chain first = fresh();
    Trial<Chain, E> original = trial_of(first);
    original.open();
    const std::string keys = saved_keys(first);
    original.step_until(middle_);
    if (const std::string later = saved_keys(first); later != keys) {
      report("state",
             "it saves other keys or types in the middle (" + later + ") than in the beginning (" + keys + ")");
    }
    if (setup_.before_step) setup_.before_step(middle_);  // a clock does not advance between save and load
    phase::save_state::call(first.template at<0>(), box);
    finish(original);
    compare("state", "a hook whose state was saved", original.events());

    Chain second = fresh();
    Trial<Chain, E> resumed = trial_of(second, middle_);
    resumed.open(&box);
    if (const std::string key = box.unread(); !key.empty()) {
      report("state", "it saves \"" + key + "\", and load_state does not read that");
    }
    finish(resumed);
    Events events = resumed.events();
    events.erase(events.begin());  // it was created at another step
    compare("state", "a fresh hook that loaded the state", events, middle_event());
  }

  void allocations() {
    const auto requests = [](const TrialEvent& event) { return event.fetched; };
    const auto first = expected_.begin() + 1, last = first + steps_;
    const bool always = std::all_of(first, last, requests);
    for (auto event = first + std::min(steps_, 2); event != last; ++event) {
      if (event->allocated == 0 || event->excused || (event->fetched && !always)) continue;
      return report("allocations", event->text + " made " + std::to_string(event->allocated));
    }
  }

  const Make& make_;
  const LawOptions& options_;
  TrialSetup setup_;
  E executor_;
  Events expected_;
  int steps_ = 0;
  int middle_ = 0;
  LawReport report_;
};

}  // namespace detail

}  // namespace crochet::testing
