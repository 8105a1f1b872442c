// SPDX-License-Identifier: Apache-2.0
// HookLoop: hooked runs of a chain, with a global step and a stop latch that the scenario can set. The original's tests
// of its hooks use its private hooked session in the same way.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/nested_errors.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/hooked_run.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/stop.hpp>

namespace crochet::conformance {

/// An executor whose only state is the global step; its target "train" advances it by `stride`.
struct StepMachine {
  struct Workspace {};
  static constexpr std::array<std::string_view, 1> fetchable{"step"};
  static constexpr std::array<std::string_view, 0> feedable{};
  static constexpr std::array<std::string_view, 1> targets{"train"};
  template <class N>
  using fetched_t = std::int64_t;
  template <class N>
  using fed_t = void;
  template <class N, class X>
  static constexpr bool accepts_feed = false;

  std::int64_t step = 0;
  std::int64_t stride = 1;
  int runs = 0;

  template <class D, class... F>
  void run(Workspace&, const F&...) {
    ++runs;
    if constexpr (D::template runs<Name<"train">>) step += stride;
  }
  template <class N>
  std::int64_t fetch(Workspace&) const {
    return step;
  }
  [[nodiscard]] std::int64_t global_step() const { return step; }

  template <class Visit>
  void for_each_variable(Visit&& visit) {
    visit(std::string_view{"global_step"}, std::span<std::int64_t>(&step, 1), std::span<const std::int64_t>{});
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const {
    visit(std::string_view{"global_step"}, std::span<const std::int64_t>(&step, 1), std::span<const std::int64_t>{});
  }
  [[nodiscard]] static bool variables_initialized() { return true; }
  [[nodiscard]] static std::vector<std::string> uninitialized_variables() { return {}; }
};

template <class H>
class HookLoop {
 public:
  explicit HookLoop(H hook, StepMachine machine = {}) : machine(machine), chain_(std::move(hook)), raw_(this->machine) {
    chain_.template fire<phase::begin>();
  }
  HookLoop(const HookLoop&) = delete;
  HookLoop& operator=(const HookLoop&) = delete;

  void create() { chain_.template fire<phase::after_create_session>(raw_, coordinator_); }
  /// `times` hooked runs of the target.
  void train(int times = 1) {
    for (int i = 0; i < times; ++i) run(RunArgs{targets<"train">});
  }
  /// One hooked run that leaves the step unchanged.
  void look() { run(RunArgs{fetches<"step">}); }
  void end() {
    detail::NestedErrors errors;
    chain_.template fire_guarded<phase::end>(errors, raw_);
    errors.rethrow_first();
  }

  [[nodiscard]] bool stopped() const { return stop_.requested() || coordinator_.should_stop(); }
  void clear_stop() { stop_ = {}; }
  [[nodiscard]] H& hook() { return chain_.template get<H>(); }

  StepMachine machine;

 private:
  template <class Args>
  void run(const Args& args) {
    detail::hooked_run(raw_, chain_, stop_, args);
  }

  HookChain<H> chain_;
  RawSession<StepMachine> raw_;
  Coordinator coordinator_;
  StopState stop_;
};

}  // namespace crochet::conformance
