// SPDX-License-Identifier: Apache-2.0
// NvtxRanges: the names of steps as NVTX ranges, for Nsight Systems and other tools. Not part of hooks.hpp: it needs
// crochet::cuda.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <crochet/base/clock.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hooks/cuda/nvtx.hpp>
#include <crochet/hooks/cuda/nvtx_probe.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>

namespace crochet {

/// Makes NVTX ranges of runs, `step 1000`, and of their steps, by the names of their nodes: `NvtxRanges{}`, for `nsys
/// profile --trace=cuda,nvtx program`.
///   every_steps    steps    1       at most one of the three; both, or one out of range: begin throws LogicError
///   every_seconds  seconds  unset
///   every_epochs   epochs   unset   epochs of the data
///   anchor         -        global_step   first_run: the first run, then each N-th; not with every_epochs (LogicError)
///   clock                   steady
/// - Fires: where a tool is attached (NVTX_INJECTION64_PATH), in the runs that make a multiple of every_steps.
/// - Fetches: nothing.
/// - Cost: without a tool a test per run. In a run with ranges the steps are launched one by one on a GPU, without
///   waits between them. On the CPU each member of the team makes a range for its part.
/// - A range is around the launch of a step. Nsight Systems shows it for the kernel too.
/// - TensorFlow has no such hook.
class NvtxRanges {
 public:
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::on_error>;
  using probe = cuda::NvtxProbe;

  struct Options {
    std::optional<std::int64_t> every_steps{};
    std::optional<double> every_seconds{};
    std::optional<std::int64_t> every_epochs{};
    Anchor anchor = Anchor::global_step;
    Clock clock{};
  };
  NvtxRanges() : NvtxRanges(Options{}) {}
  explicit(false) NvtxRanges(Options options, const cuda::Nvtx& tool = cuda::nvtx())
      : options_(std::move(options)), probe_(tool) {}
  NvtxRanges(Options options, const cuda::Nvtx&& tool) = delete;  // the hook refers to it

  void begin() {
    timer_ = cadence_of<NvtxRanges>(every(), options_.anchor);
    due_ = false;
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    probe_.close();
    timer_.session_begins(session, options_.clock());
  }
  void before_run(auto& run) { due_ = probe_.attached() && timer_.due_next(run, options_.clock); }
  [[nodiscard]] probe* due_probe() { return due_ ? &probe_ : nullptr; }
  void after_run(auto& run, const auto& /*values*/) {
    const bool reached = timer_.ran(run);
    if (due_ && reached) timer_.triggered(run.step(), options_.clock());
  }
  void on_error(auto& /*error*/) { probe_.close(); }

  [[nodiscard]] std::string cadence() const { return cadence_text(every(), options_.anchor); }

 private:
  [[nodiscard]] Intervals every() const {
    return Intervals{options_.every_steps, options_.every_seconds, options_.every_epochs}.or_every(1);
  }

  Options options_;
  Cadence timer_;
  probe probe_;
  bool due_ = false;
};

}  // namespace crochet
