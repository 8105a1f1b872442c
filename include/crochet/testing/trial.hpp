// SPDX-License-Identifier: Apache-2.0
// Trial: one session of a hook, from begin to end, recorded event by event. broken_laws compares trials.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/nested_errors.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/hooked_run.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/stop.hpp>
#include <crochet/testing/state_box.hpp>
#include <crochet/testing/trial_executor.hpp>

namespace crochet::testing {

namespace detail {

/// Stands behind the hook in its chain and counts the phases that reach it.
struct Witness {
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end>;

  void begin() { *this = {.begins = 1}; }
  void after_create_session(auto&, auto&) { ++creates; }
  void before_run(auto&) { ++befores; }
  void after_run(auto&, const auto&) { ++afters; }
  void end(auto&) { ++ends; }

  int begins = 0, creates = 0, befores = 0, afters = 0, ends = 0;
};

/// The setup of a trial.
struct TrialSetup {
  std::function<std::string()> says;         // all output so far, of every hook; may be empty
  std::function<void(int)> before_step;      // may be empty
  std::function<std::size_t()> allocations;  // may be empty
};

/// The record of one event: begin and creation, a step, the end.
struct TrialEvent {
  std::string text{};
  std::size_t allocated = 0;
  bool fetched = false;  // any name, in the hooked run
  bool excused = false;  // the step has output, a run of the hook, a stop or an exception: it may allocate
  std::exception_ptr thrown{};
};

/// A session of `Chain` on executor `E`. It borrows the chain: two trials of one chain are two sessions of one hook,
/// and a trial that starts at a step continues with the chain's current state.
template <class Chain, class E>
class Trial {
 public:
  Trial(Chain& chain, E executor, const TrialSetup& setup, int step = 0)
      : chain_(chain), executor_(std::move(executor)), setup_(setup), raw_(executor_, step), step_(step) {
    executor_.hooked = &raw_.hooked_workspace();
    said_ = say();
  }

  /// begin and after_create_session; with a box, like a session that restores a checkpoint.
  void open(const StateBox* box = nullptr) {
    set_step();
    event("open:", [&] {
      chain_.template fire<phase::begin>();
      if (box != nullptr) load(*box);
      chain_.template fire<phase::after_create_session>(raw_, coordinator_);
    });
  }
  /// One hooked run. Not allowed after a stop.
  void step() {
    set_step();
    event("step " + std::to_string(step_) + ":",
          [&] { crochet::detail::hooked_run(raw_, chain_, stop_, typename E::Request{}); });
    ++step_;
  }
  /// Steps until `limit`, or a stop.
  void step_until(int limit) {
    while (step_ < limit && !stopped()) step();
  }
  /// The clean end. Not allowed after an exception.
  void end() {
    if (failed_) return;
    event("end:", [&] {
      crochet::detail::NestedErrors errors;
      chain_.template fire_guarded<phase::end>(errors, raw_);
      errors.rethrow_first();
    });
  }

  [[nodiscard]] bool stopped() const { return failed_ || stop_.requested() || coordinator_.should_stop(); }
  [[nodiscard]] int steps() const { return step_; }
  [[nodiscard]] const std::vector<TrialEvent>& events() const { return events_; }
  /// The output since the last event.
  std::string unheard() {
    const std::string before = std::exchange(said_, say());
    return before == said_ ? std::string{} : said_;
  }

 private:
  void set_step() {
    executor_.step = static_cast<std::size_t>(step_);
    if (setup_.before_step) setup_.before_step(step_);
  }
  void load(const StateBox& box) {
    auto& hook = chain_.template at<0>();
    using H = std::remove_reference_t<decltype(hook)>;
    if constexpr (phase::load_state::handled<H, const StateBox>) phase::load_state::call(hook, box);
  }
  [[nodiscard]] std::string say() const { return setup_.says ? setup_.says() : std::string{}; }
  [[nodiscard]] std::size_t allocations() const { return setup_.allocations ? setup_.allocations() : 0; }

  template <class Act>
  void event(const std::string& name, Act act) {
    executor_.notes = {};
    TrialEvent seen;
    const bool was_stopped = stopped();
    const std::size_t before = allocations();
    try {
      act();
    } catch (...) {
      seen.thrown = std::current_exception();
    }
    seen.allocated = allocations() - before;
    failed_ = failed_ || seen.thrown;
    write_down(seen, name, stopped() && !was_stopped);
  }
  void write_down(TrialEvent& seen, const std::string& name, bool stops) {
    const std::string before = std::exchange(said_, say());
    const bool spoke = said_ != before;
    for (const bool fetched : executor_.notes.fetched) seen.fetched = seen.fetched || fetched;
    seen.excused = spoke || stops || seen.thrown || !executor_.notes.side_runs.empty();
    seen.text = name + executor_.text();
    if (spoke) seen.text += " said \"" + (said_.starts_with(before) ? said_.substr(before.size()) : said_) + "\"";
    if (stop_.requested() && stops) seen.text += " requested a stop: \"" + stop_.reason().reason + "\"";
    if (coordinator_.should_stop() && stops)
      seen.text.append(" stopped the coordinator: ").append(coordinator_.reason());
    if (seen.thrown) seen.text += " threw \"" + crochet::detail::what_of(seen.thrown) + "\"";
    std::replace(seen.text.begin(), seen.text.end(), '\n', ' ');  // a broken law is one line
    events_.push_back(std::move(seen));
  }

  Chain& chain_;
  E executor_;
  const TrialSetup& setup_;
  RawSession<E> raw_;
  StopState stop_;
  Coordinator coordinator_;
  std::vector<TrialEvent> events_;
  std::string said_;
  int step_;
  bool failed_ = false;
};

}  // namespace detail

}  // namespace crochet::testing
