// SPDX-License-Identifier: Apache-2.0
// A hook that records its calls in the notation of the reference traces: h.B begin, h.C after_create_session, h.b
// before_run, h.a after_run, h.E(step) end, h.X on_error. A test can make it throw or request a stop.
#pragma once

#include <exception>
#include <map>
#include <string>
#include <utility>

#include <crochet/executor/step/step_executor.hpp>
#include <crochet/session/run_session.hpp>

struct Trace {
  std::string text;
  void add(const std::string& what) { text += (text.empty() ? "" : " ") + what; }
};

/// `N` makes two recorders distinct types.
template <char Letter>
class Recorder {
 public:
  explicit Recorder(Trace& trace) : trace_(&trace) {}

  /// Throws the error in the next `times` calls of the phase.
  template <class Error>
  Recorder throwing(char phase, Error error, int times = 1) && {
    error_ = std::make_exception_ptr(std::move(error));
    phase_ = phase;
    times_ = times;
    return *this;
  }
  Recorder stopping(char phase) && {
    stop_in_ = phase;
    return *this;
  }

  void begin() { see('B'); }
  void after_create_session(auto&, crochet::Coordinator&) { see('C'); }
  void before_run(auto& run) {
    see('b');
    if (stop_in_ == 'b') run.request_stop(std::string("before, says ") + Letter);
  }
  void after_run(auto& run, const auto&) {
    see('a');
    if (stop_in_ == 'a') run.request_stop(std::string("after, says ") + Letter);
  }
  void end(auto& session) {
    trace_->add(std::string{Letter} + ".E(" + std::to_string(session.step()) + ")");
    maybe_throw('E');
  }
  void on_error(std::exception_ptr) { see('X'); }

 private:
  void see(char phase) {
    trace_->add(std::string{Letter} + "." + phase);
    maybe_throw(phase);
  }
  void maybe_throw(char phase) {
    if (phase == phase_ && times_ > 0) {
      --times_;
      std::rethrow_exception(error_);
    }
  }

  Trace* trace_;
  std::exception_ptr error_;
  char phase_ = 0;
  int times_ = 0;
  char stop_in_ = 0;
};

/// An executor that records its creation (mk) and its runs, and throws in the given run.
class TracedExecutor {
 public:
  struct Workspace {
    float loss = 0;
  };
  static constexpr std::array<std::string_view, 1> fetchable{"loss"};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 1> targets{"train"};
  template <class N>
  using fetched_t = float;
  template <class N>
  using fed_t = float;
  template <class N, class X>
  static constexpr bool accepts_feed = false;

  explicit TracedExecutor(Trace& trace) : trace_(&trace) {}
  template <class Error>
  TracedExecutor throwing_in_run(int run, Error error) && {
    throws_[run] = std::make_exception_ptr(std::move(error));
    return *this;
  }

  void initialize() { trace_->add("mk"); }
  template <class D, class... F>
  void run(Workspace& workspace, const F&...) {
    trace_->add("run");
    if (auto found = throws_.find(++runs_); found != throws_.end()) std::rethrow_exception(found->second);
    workspace.loss = static_cast<float>(runs_);
  }
  template <class N>
  float fetch(Workspace& workspace) const {
    return workspace.loss;
  }

 private:
  Trace* trace_;
  std::map<int, std::exception_ptr> throws_;
  int runs_ = 0;
};
