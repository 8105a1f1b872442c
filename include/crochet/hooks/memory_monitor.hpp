// SPDX-License-Identifier: Apache-2.0
// MemoryMonitor: logs the memory use of a session.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/number_text.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hook/stop_kind.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/host_memory.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// The memory use at a step.
struct MemoryUse {
  std::int64_t step = -1;
  HostMemory host{};
  std::optional<std::int64_t> workspace{};  ///< bytes of the hooked run's workspace, if the executor has
                                            ///< workspace_bytes
};

/// Writes `step 1000: memory = 123.4 MiB, at most 150.0 MiB, workspace 2.0 MiB` to the sink.
///   every_steps      steps    1000     at most one of the three; both, or one out of range: begin throws LogicError
///   every_seconds    seconds  unset
///   every_epochs     epochs   unset   epochs of the data
///   anchor           -        global_step   first_run: after runs 1, 1001, ...
///   stop_above       bytes    unset    a reading above it requests a stop, so that `end` and a last checkpoint come
///                                      before the system kills the program. The stop is an interruption (StopKind): a
///                                      later session resumes the training
///   then             -        unset    receives each reading
///   read             -        the operating system's count    reads the host's memory
///   sink, clock               standard error, steady
/// - Fires: after the run that makes a multiple of every_steps; with every_seconds after the first run, then at the
///   interval.
/// - Fetches: nothing.
/// - Cost: a comparison per run, with every_seconds a clock reading; about 30 us per memory reading.
/// - The workspace is that of an executor with `workspace_bytes(workspace)`; on a device it is device memory.
/// - State: when the next reading is due.
/// - TensorFlow has no such hook.
struct MemoryMonitor {
  static constexpr auto runs_on = RunsOn::chief;
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::after_run, phase::save_state, phase::load_state>;

  std::optional<std::int64_t> every_steps{};
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  std::optional<std::int64_t> stop_above{};
  std::function<void(const MemoryUse&)> then{};
  std::function<HostMemory()> read{host_memory};
  Sink sink{};
  Clock clock{};

  Cadence timer{};

  void begin() { timer = cadence_of<MemoryMonitor>(every(), anchor); }
  void after_create_session(auto& session, auto& /*coordinator*/) { timer.session_begins(session, clock()); }
  void after_run(auto& run, const auto& /*values*/) {
    if (timer.due(run, clock)) [[unlikely]] {
      look(run);
    }
  }

  void save_state(auto& out) const { timer.save_state(out, clock()); }
  void load_state(auto& in) { timer.load_state(in, clock()); }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), anchor); }

 private:
  [[nodiscard]] Intervals every() const { return Intervals{every_steps, every_seconds, every_epochs}.or_every(1000); }
  CROCHET_COLD void look(auto& run) {
    timer.triggered(run.step(), clock());
    const MemoryUse use{.step = run.step(), .host = read(), .workspace = workspace_of(run.session())};
    sink(text(use));
    if (then) then(use);
    if (stop_above && use.host.resident > *stop_above) {
      run.request_stop("the program uses " + mebibytes(use.host.resident) + " of memory", StopKind::interruption);
    }
  }
  static std::optional<std::int64_t> workspace_of(auto& session) {
    if constexpr (requires { session.executor().workspace_bytes(session.hooked_workspace()); }) {
      return static_cast<std::int64_t>(session.executor().workspace_bytes(session.hooked_workspace()));
    } else {
      return {};
    }
  }
  static std::string mebibytes(std::int64_t bytes) {
    return detail::fixed_text(static_cast<double>(bytes) / (1024 * 1024), 1) + " MiB";
  }
  static std::string text(const MemoryUse& use) {
    const std::string all = detail::step_text(use.step) + "memory = " + mebibytes(use.host.resident) + ", at most " +
                            mebibytes(use.host.peak);
    return use.workspace ? all + ", workspace " + mebibytes(*use.workspace) : all;
  }
};

}  // namespace crochet
