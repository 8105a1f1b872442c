// SPDX-License-Identifier: Apache-2.0
// The language of the session scenarios: a machine that can be lost, hooks that record their phases, and the world that
// holds the trace.
//
//   a.B begin   a.C after_create_session   a.b before_run   a.a after_run   a.E(n) end   a.X on_error   of hook a
//   mk#n session n was created   fail a creation failed   run#n one run in session n   cl#n session n was closed
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing/manual_clock.hpp>

namespace crochet::conformance {

/// The state that outlives every session: the trace, the clock, and the planned failures.
struct World {
  std::string trace{};
  testing::ManualClock clock{};
  int sessions = 0;                                   ///< created so far
  int attempts = 0;                                   ///< attempts to create one
  int runs = 0;                                       ///< of the machine, started so far
  std::map<int, std::exception_ptr> lost_attempts{};  ///< by number, from 1
  std::map<int, std::exception_ptr> lost_runs{};
  std::function<void(int run)> in_run{};  ///< called in each run before it succeeds

  void note(const std::string& what) { (trace += trace.empty() ? "" : " ") += what; }
  /// The trace since the last call.
  std::string news() { return std::exchange(trace, {}); }
  template <class E>
  void fail_run(int number, E error) {
    lost_runs[number] = std::make_exception_ptr(std::move(error));
  }
  template <class E>
  void fail_attempt(int number, E error) {
    lost_attempts[number] = std::make_exception_ptr(std::move(error));
  }
};

/// Throws the exception with that number in the table, if there is one.
inline void throw_if_listed(const std::map<int, std::exception_ptr>& table, int number) {
  if (const auto found = table.find(number); found != table.end()) std::rethrow_exception(found->second);
}

/// A machine with two variables, the global step and a weight. "train" adds 1 to the step, and the fed value (without a
/// feed 0.5) to the weight. Initialization sets both to 0; their values are lost with the session.
class Machine {
 public:
  struct Workspace {
    std::int64_t step = 0;
    float weight = 0;
  };
  static constexpr std::array<std::string_view, 2> fetchable{"step", "weight"};
  static constexpr std::array<std::string_view, 1> feedable{"by"};
  static constexpr std::array<std::string_view, 1> targets{"train"};
  template <class N>
  using fetched_t = std::conditional_t<std::is_same_v<N, Name<"step">>, std::int64_t, float>;
  template <class N>
  using fed_t = float;
  template <class N, class X>
  static constexpr bool accepts_feed = std::is_same_v<X, float>;

  explicit Machine(World& world) : world_(&world) {}

  void initialize() {
    try {
      throw_if_listed(world_->lost_attempts, ++world_->attempts);
    } catch (...) {
      world_->note("fail");
      throw;
    }
    session_ = ++world_->sessions;
    step_ = 0, weight_ = 0, initialized_ = true;
    world_->note("mk#" + std::to_string(session_));
  }
  void close() {
    if (session_ != 0) world_->note("cl#" + std::to_string(session_));
    session_ = 0;
  }
  template <class D, class... F>
  void run(Workspace& workspace, const F&... fed) {
    world_->note("run#" + std::to_string(session_));
    const int number = ++world_->runs;
    throw_if_listed(world_->lost_runs, number);
    if (world_->in_run) world_->in_run(number);
    if constexpr (D::template runs<Name<"train">>) {
      ++step_;
      weight_ += (0.5f + ... + (fed.value - 0.5f));
    }
    workspace = {step_, weight_};
  }
  template <class N>
  fetched_t<N> fetch(const Workspace& workspace) const {
    if constexpr (std::is_same_v<N, Name<"step">>) {
      return workspace.step;
    } else {
      return workspace.weight;
    }
  }
  [[nodiscard]] std::int64_t global_step() const { return step_; }
  [[nodiscard]] int session() const { return session_; }
  void set_step(std::int64_t step) { step_ = step; }

  template <class Visit>
  void for_each_variable(Visit&& visit) {
    if (show<std::int64_t, float>(*this, visit)) initialized_ = true;
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const {
    if (!initialized_) throw UninitializedError("the machine's variables have no value");
    show<const std::int64_t, const float>(*this, visit);
  }
  [[nodiscard]] bool variables_initialized() const { return initialized_; }
  [[nodiscard]] std::vector<std::string> uninitialized_variables() const {
    return initialized_ ? std::vector<std::string>{} : std::vector<std::string>{"global_step", "weight"};
  }

 private:
  /// Whether the visit wrote both; a visit that returns false has only read.
  template <class Step, class Weight, class Self, class Visit>
  static bool show(Self& self, Visit& visit) {
    const bool step = written(visit, "global_step", std::span<Step>(&self.step_, 1));
    return written(visit, "weight", std::span<Weight>(&self.weight_, 1)) && step;
  }
  template <class Visit, class Elements>
  static bool written(Visit& visit, std::string_view name, Elements elements) {
    const std::span<const std::int64_t> scalar{};
    if constexpr (std::is_void_v<decltype(visit(name, elements, scalar))>) {
      visit(name, elements, scalar);
      return true;
    } else {
      return visit(name, elements, scalar);
    }
  }

  World* world_;
  int session_ = 0;
  std::int64_t step_ = 0;
  float weight_ = 0;
  bool initialized_ = false;
};

/// A hook that records its phases in the trace and performs the planned actions in B, C, b, a, E or X.
template <char Letter>
class Spy {
 public:
  explicit Spy(World& world) : world_(&world) {}

  Spy on(char phase, std::function<void()> act) && {
    acts_[phase] = std::move(act);
    return std::move(*this);
  }
  /// Throws in the first `times` calls of that phase.
  template <class E>
  Spy failing(char phase, E error, int times = 1) && {
    return std::move(*this).on(phase, [error, left = times]() mutable {
      if (left-- > 0) throw error;
    });
  }
  /// Requests a stop in each call of that phase, b or a.
  Spy stopping(char phase) && {
    stops_in_ = phase;
    return std::move(*this);
  }

  void begin() { see('B'); }
  void after_create_session(auto& session, Coordinator& coordinator) {
    coordinator_ = &coordinator;
    session_ = session.executor().session();
    see('C');
  }
  void before_run(auto& run) { in_run('b', run); }
  void after_run(auto& run, const auto&) { in_run('a', run); }
  void end(auto& session) {
    world_->note(std::string{Letter} + ".E(" + std::to_string(session.executor().session()) + ")");
    act('E');
  }
  void on_error(std::exception_ptr) { see('X'); }

  [[nodiscard]] Coordinator& coordinator() const { return *coordinator_; }

 private:
  void in_run(char phase, auto& run) {
    see(phase);
    if (stops_in_ == phase) run.request_stop("enough");
  }
  void see(char phase) {
    world_->note(std::string{Letter} + "." + phase);
    act(phase);
  }
  void act(char phase) {
    if (const auto found = acts_.find(phase); found != acts_.end()) found->second();
  }

  World* world_;
  std::map<char, std::function<void()>> acts_;
  char stops_in_ = 0;
  int session_ = 0;
  Coordinator* coordinator_ = nullptr;
};

/// A session with recovery, over a new machine, with these hooks.
template <class... H>
auto monitored(World& world, H... hooks) {
  return MonitoredSession<Machine, HookChain<H...>>{Machine{world}, HookChain<H...>{std::move(hooks)...},
                                                    SessionOptions{.clock = world.clock}};
}
/// A session without recovery.
template <class... H>
auto singular(World& world, H... hooks) {
  return SingularMonitoredSession<Machine, HookChain<H...>>{Machine{world}, HookChain<H...>{std::move(hooks)...},
                                                            SessionOptions{.clock = world.clock}};
}

/// One training run; returns the step.
template <class Session>
std::int64_t train(Session& session) {
  return session.run(fetches<"step">, targets<"train">)["step"_n];
}

/// Reports the error to the coordinator from a thread, and waits for that thread.
template <class E>
void report_from_a_thread(Coordinator& coordinator, E error) {
  std::thread([&] { coordinator.request_stop(std::make_exception_ptr(std::move(error))); }).join();
}

/// The message of the E that `act` throws; fails the test if it throws none.
template <class E, class Act>
std::string thrown_by(Act&& act) {
  try {
    act();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// The library's diagnostics in this test.
const std::vector<std::string>& said();

}  // namespace crochet::conformance
