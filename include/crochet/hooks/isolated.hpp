// SPDX-License-Identifier: Apache-2.0
// Isolated<H>: reports exceptions of the hook and does not propagate them.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/sink.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/hooks/kit/decorated.hpp>
#include <crochet/hooks/kit/rank_text.hpp>

namespace crochet {

/// Catches the exceptions of H.
template <class H>
struct Isolation : PassOn<Isolation<H>> {
  using phases = Phases<phase::begin>;
  static constexpr bool decides_at_run_time = true;

  struct options {
    /// Receives the first, second, fourth, eighth, ... failure, so that a hook that fails in every run does not fill
    /// the disk.
    Sink sink{};
    /// After this number of failures the hook is no longer called; 0: no limit.
    std::int64_t disable_after = 0;
  };

  Isolation() = default;
  explicit Isolation(options how) : how_(std::move(how)) {}

  [[nodiscard]] std::int64_t failures() const { return failures_; }
  /// The message of the last failure; empty if there was none.
  [[nodiscard]] const std::string& last_error() const { return last_error_; }
  /// Whether the hook is no longer called.
  [[nodiscard]] bool disabled() const { return disabled_; }

  void join_ranks(int rank, int size) { place_ = detail::rank_text(rank, size); }
  void begin() {
    failures_ = 0;
    last_error_.clear();
    disabled_ = false;
  }
  [[nodiscard]] bool admits(auto&) const { return !disabled_; }
  template <class Phase, class Call>
  void around(Call&& call) {
    guarded(Phase::name, std::is_same_v<Phase, phase::begin>, call);
  }
  template <class Call>
  void requesting(Call&& call) {
    guarded(phase::before_run::name, false, call);
  }

 private:
  template <class Call>
  void guarded(std::string_view phase, bool in_begin, Call& call) {
    if (disabled_) return;
    try {
      call();
    } catch (const std::exception& error) {
      note(phase, error.what(), in_begin);
    } catch (...) {
      note(phase, "an exception that is no std::exception", in_begin);
    }
  }
  CROCHET_COLD void note(std::string_view phase, std::string_view what, bool in_begin) {
    ++failures_;
    disabled_ = in_begin || (how_.disable_after > 0 && failures_ >= how_.disable_after);
    try {
      last_error_ = what;
      if (!disabled_ && (failures_ & (failures_ - 1)) != 0) return;
      how_.sink("crochet: " + place_ + detail::type_name<H>() + " failed in " + std::string(phase) + " (failure " +
                std::to_string(failures_) + (disabled_ ? ", it is not called any more): " : "): ") + last_error_);
    } catch (...) {  // an error of the sink, and missing memory, must not propagate either
    }
  }

  options how_;
  std::string place_;  // among several ranks
  std::int64_t failures_ = 0;
  std::string last_error_;
  bool disabled_ = false;
};

/// H, with its exceptions caught: `Isolated<H>{{...}, {.sink = my_sink, .disable_after = 3}}`;
/// `isolated.policy.failures()` is their number.
/// - Catches every exception, also the ones that end a loop cleanly. Do not wrap NanTensor or another hook that ends
///   the loop by an exception.
/// - A hook that fails in before_run takes no part in that run. One that fails in begin is not called again.
/// - Errors of the executor are not caught, except where H itself reads a value or makes a run; these occur again in
///   the next run.
/// - Exceptions of save_state and load_state propagate: a checkpoint with half of a hook's state must not look
///   complete.
/// - On several ranks the lines of a failure state the rank.
/// - Cost: nothing without failures, but H's request becomes conditional (session/demand.hpp).
template <class H>
struct Isolated : Decorated<H, Isolation<H>> {
  using Base = Decorated<H, Isolation<H>>;
  using Base::Base;
};
template <class H>
Isolated(H) -> Isolated<H>;
template <class H>
Isolated(H, typename Isolation<H>::options) -> Isolated<H>;

}  // namespace crochet
