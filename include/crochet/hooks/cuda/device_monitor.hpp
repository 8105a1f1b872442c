// SPDX-License-Identifier: Apache-2.0
// DeviceMonitor: logs memory, load, temperature and power of a GPU. Not part of hooks.hpp: it needs crochet::cuda.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>
#include <crochet/base/sink.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/hooks/cuda/gpu_use.hpp>
#include <crochet/hooks/cuda/gpu_use_text.hpp>
#include <crochet/hooks/cuda/nvml.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/hooks/kit/rank_text.hpp>
#include <crochet/hooks/kit/summary_sink.hpp>

namespace crochet {

/// Writes `step 1000: GPU memory = 12.0 of 80.0 GiB, 98 % busy, 65 C, 412 W` to the sink.
///   every_steps    steps    1000     at most one of the three; both, or one out of range: begin throws LogicError
///   every_seconds  seconds  unset
///   every_epochs   epochs   unset   epochs of the data
///   anchor         -        global_step   first_run: after runs 1, 1001, ...; not with every_epochs (LogicError)
///   device         -        unset    NVML's number of the GPU; unset: that of the session's executor, else number 0
///   required       -        false    true: the session throws DeviceError if there is no NVML or no such GPU.
///                                    false: one line reports it, and the hook then does nothing
///   summaries      -        none     receives `gpu/memory_used` and `gpu/memory_total` in bytes, `gpu/busy` and
///                                    `gpu/memory_busy` from 0 to 1, `gpu/celsius` and `gpu/watts`
///   then           -        unset    receives each reading
///   read           -        NVML     reads the GPU
///   sink, clock             standard error, steady
/// - Fires: after the run that makes a multiple of every_steps; with every_seconds after the first run, then at the
///   interval.
/// - Fetches: nothing. Runs that are queued stay so: nothing is launched and nothing waits.
/// - Cost: a comparison per run, with every_seconds a clock reading; per reading four calls of NVML, which is loaded
///   when the session is created.
/// - Figures that the GPU does not report are left out.
/// - On several ranks: the GPU of rank 0; in OnEveryRank, that of each rank. The lines state the rank.
/// - State: when the next reading is due.
/// - Throws: DeviceError as above. A GPU that fails later is reported once in the same way.
/// - TensorFlow has no such hook.
struct DeviceMonitor {
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::after_run, phase::save_state, phase::load_state>;
  static constexpr auto runs_on = RunsOn::chief;

  std::optional<std::int64_t> every_steps{};
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};
  Anchor anchor = Anchor::global_step;
  std::optional<int> device{};
  bool required = false;
  SummarySink summaries{};
  std::function<void(const GpuUse&)> then{};
  std::function<GpuUse()> read{};
  Sink sink{};
  Clock clock{};

  Cadence timer{};
  std::function<GpuUse()> reader{};  ///< `read`, or NVML's; empty: there is nothing to read
  std::string place{};               ///< "rank 2: " among several ranks

  void join_ranks(int rank, int size) { place = detail::rank_text(rank, size); }
  void begin() {
    timer = cadence_of<DeviceMonitor>(every(), anchor);
    reader = nullptr;
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    timer.session_begins(session, clock());
    if (read) {
      reader = read;
    } else {
      guarded([&] { reader = [gpu = gpu_of(session)] { return gpu.read(); }; });
    }
  }
  void after_run(auto& run, const auto& /*values*/) {
    if (timer.due(run, clock)) [[unlikely]] {
      look(run.step());
    }
  }

  void save_state(auto& out) const { timer.save_state(out, clock()); }
  void load_state(auto& in) { timer.load_state(in, clock()); }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), anchor); }

 private:
  [[nodiscard]] Intervals every() const { return Intervals{every_steps, every_seconds, every_epochs}.or_every(1000); }
  cuda::NvmlDevice gpu_of(auto& session) const {
    if constexpr (requires { session.executor().device()->pci_bus_id(); }) {
      if (!device) return cuda::NvmlDevice(session.executor().device()->pci_bus_id());
    }
    return cuda::NvmlDevice(device.value_or(0));
  }
  CROCHET_COLD void look(std::int64_t step) {
    timer.triggered(step, clock());
    if (!reader) return;
    GpuUse use;
    guarded([&] { use = reader(); });
    if (!reader) return;
    use.step = step;
    sink(place + detail::line_of(use));
    summaries.add(detail::summary_of(use), step);
    if (then) then(use);
  }
  /// Calls act(). Reports a DeviceError, and disables the hook, unless it is required.
  template <class Act>
  void guarded(const Act& act) {
    if (required) return act();
    try {
      act();
    } catch (const DeviceError& error) {
      reader = nullptr;
      sink(place + error.what() + ". DeviceMonitor reports nothing more");
    }
  }
};

}  // namespace crochet
