// SPDX-License-Identifier: Apache-2.0
// NvtxRanges: the names of steps as NVTX ranges, for Nsight Systems and other tools. Not part of hooks.hpp: it needs
// crochet::cuda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/base/config.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hooks/cuda/nvtx.hpp>
#include <crochet/hooks/kit/anchor.hpp>
#include <crochet/hooks/kit/cadence.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>

namespace crochet {

namespace cuda {

/// A probe that makes a range of each run, and in it one of each step by the name of its node.
class NvtxProbe {
 public:
  explicit NvtxProbe(const Nvtx& tool = nvtx()) : tool_(&tool) {}

  [[nodiscard]] bool listens() const { return tool_->listens(); }

  void on_run_begin(const ProbedRun& run) {
    close();
    if (names_of_ != run.node_names.data()) name_nodes(run.node_names);
    tool_->push(("step " + std::to_string(run.step + 1)).c_str());
    open_ = true;
  }
  template <std::size_t I>
  void on_node_begin(int /*member*/) {
    tool_->push(names_[I].c_str());
  }
  template <std::size_t I>
  void on_node_end(int /*member*/) {
    tool_->pop();
  }
  void on_run_end() { close(); }
  /// Ends the range of a run that has failed.
  void close() {
    if (open_) tool_->pop();
    open_ = false;
  }

 private:
  void name_nodes(std::span<const std::string_view> names) {
    names_.assign(names.begin(), names.end());
    names_of_ = names.data();
  }

  const Nvtx* tool_;
  std::vector<std::string> names_;  // ended by 0
  const std::string_view* names_of_ = nullptr;
  bool open_ = false;
};

}  // namespace cuda

/// Makes NVTX ranges of runs, `step 1000`, and of their steps, by the names of their nodes: `NvtxRanges{}`, for `nsys
/// profile --trace=cuda,nvtx program`.
///   every_steps    steps    1       at most one of the two; both, or one out of range: begin throws LogicError
///   every_seconds  seconds  unset
///   anchor         -        global_step   first_run: the first run, then each N-th
///   clock                   steady
/// - Fires: where a tool listens (NVTX_INJECTION64_PATH), in the runs that make a multiple of every_steps.
/// - Fetches: nothing.
/// - Cost: without a tool a test per run. In a run with ranges the steps are launched one by one on a GPU, without
///   waits between them. On the CPU each member of the team makes a range for its part.
/// - A range is around the launch of a step. Nsight Systems shows it for the kernel too.
/// - TensorFlow makes such ranges inside its profiler.
class NvtxRanges {
 public:
  using handles =
      Phases<phase::begin, phase::after_create_session, phase::before_run, phase::after_run, phase::on_error>;
  using probe = cuda::NvtxProbe;

  struct Options {
    std::optional<std::int64_t> every_steps{};
    std::optional<double> every_seconds{};
    Anchor anchor = Anchor::global_step;
    Clock clock{};
  };
  NvtxRanges() : NvtxRanges(Options{}) {}
  explicit NvtxRanges(Options options, const cuda::Nvtx& tool = cuda::nvtx())
      : options_(std::move(options)), probe_(tool) {}

  void begin() {
    timer_ = cadence_of<NvtxRanges>(steps(), options_.every_seconds, options_.anchor);
    due_ = false;
  }
  void after_create_session(auto& session, auto& /*coordinator*/) {
    probe_.close();
    timer_.session_begins(session.step(), options_.clock());
  }
  void before_run(auto& run) { due_ = probe_.listens() && timer_.due_next(run.step(), options_.clock); }
  [[nodiscard]] probe* due_probe() { return due_ ? &probe_ : nullptr; }
  void after_run(auto& run, const auto& /*values*/) {
    const bool reached = timer_.ran(run.step());
    if (due_ && reached) timer_.triggered(run.step(), options_.clock());
  }
  void on_error(auto& /*error*/) { probe_.close(); }

  [[nodiscard]] std::string cadence() const { return cadence_text(steps(), options_.every_seconds, options_.anchor); }

 private:
  [[nodiscard]] std::optional<std::int64_t> steps() const {
    return options_.every_steps || options_.every_seconds ? options_.every_steps : std::optional<std::int64_t>{1};
  }

  Options options_;
  Cadence timer_;
  probe probe_;
  bool due_ = false;
};

}  // namespace crochet
