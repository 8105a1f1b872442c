// SPDX-License-Identifier: Apache-2.0
// PhaseSpy: a hook for decorators under test, which checks the order of its phases.
#pragma once

#include <exception>
#include <string>
#include <type_traits>

#include <crochet/hook/phase.hpp>

namespace crochet::testing {

/// Does nothing, and records the first phase out of order:
///   EXPECT_EQ(broken_laws(MyDecorator<PhaseSpy>{}), "")
/// detects a decorator that omits `end`, calls it twice, or calls after_run without before_run.
class PhaseSpy {
 public:
  using handles = Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::end,
                         phase::on_error>;

  void begin() {
    if (state_ == State::open || state_ == State::running) complain("begin in the middle of a session");
    state_ = State::begun;
    ends_ = 0;
  }
  void after_create_session(auto& /*session*/, auto& /*coordinator*/) {
    if (!in_session()) complain("after_create_session without begin");
    state_ = State::open;
  }
  void before_run(auto& /*run*/) {
    if (state_ != State::open && state_ != State::running) complain("before_run without a session");
    state_ = State::running;  // also after a failed run
  }
  void after_run(auto& /*run*/, const auto& /*values*/) {
    if (state_ != State::running) complain("after_run without before_run");
    state_ = State::open;
  }
  void end(auto& /*session*/) {
    ++ends_;
    if (!in_session()) complain("end without a session, or a second one");
    state_ = State::over;
  }
  void on_error(const std::exception_ptr& /*error*/) {
    if (!in_session()) complain("on_error without a session");
    state_ = State::over;
  }

  /// The first phase out of order; empty if there was none.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  /// Number of calls of `end` since `begin`.
  [[nodiscard]] int ends() const { return ends_; }

 private:
  enum class State : unsigned char { fresh, begun, open, running, over };

  [[nodiscard]] bool in_session() const { return state_ != State::fresh && state_ != State::over; }
  void complain(const char* what) {
    if (complaint_.empty()) complaint_ = what;
  }

  State state_ = State::fresh;
  int ends_ = 0;
  std::string complaint_;
};

namespace detail {

/// The PhaseSpy inside decorators, if there is one.
template <class H>
const PhaseSpy* spy_in([[maybe_unused]] const H& hook) {
  if constexpr (std::is_same_v<H, PhaseSpy>) {
    return &hook;
  } else if constexpr (requires { hook.hook; }) {
    return spy_in(hook.hook);
  } else {
    return nullptr;
  }
}

}  // namespace detail

}  // namespace crochet::testing
