// SPDX-License-Identifier: Apache-2.0
// The hooks that inspect steps. A chain with them compiles the model's steps in two more forms, with a clock around
// each and with every tensor kept, so it is compiled separately from the chain for training only.
#pragma once
#include <crochet/hooks/io/dumping_debug.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#ifdef CROCHET_DEMO_STREAMS
#include <crochet/hooks/debug/grpc_debug.hpp>
#endif

#include <cstdint>

#include "training.hpp"

namespace demo {

/// Admits one step in `every` of a hook that is switched on, at a distance from the multiples of the global step, at
/// which a ProfilerHook records.
template <class H>
struct OneStepIn : cr::PassOn<OneStepIn<H>> {
  static constexpr bool decides_at_run_time = true;

  struct options {
    std::int64_t every = 100;
    std::int64_t shift = 0;  ///< number of steps after the multiples
    bool on = true;
  };
  explicit OneStepIn(options how) : how_(how) {}
  [[nodiscard]] bool admits(auto& run) const { return how_.on && (run.step() + 1 - how_.shift) % how_.every == 0; }

 private:
  options how_;
};
template <class H>
struct Sometimes : cr::Decorated<H, OneStepIn<H>> {
  using cr::Decorated<H, OneStepIn<H>>::Decorated;
};

/// Dumps and streams are a third of the interval apart from the profiles and from each other: a run that copies tensors
/// is not the plain, fused run to be profiled.
inline auto debugging(const Options& options) {
  using Dump = cr::DumpingDebugHook<>;
  const std::int64_t every = options.look_every, third = (every + 1) / 3;
  return cr::HookChain{
      cr::Switched<cr::ProfilerHook>{
          cr::ProfilerHook{
              {.save_steps = every, .output_dir = options.profile, .show_memory = true, .table = cr::Sink{}}},
          {.on = !options.profile.empty()}},
      Sometimes<Dump>{Dump{options.dump}, {.every = every, .shift = third, .on = !options.dump.empty()}},
#ifdef CROCHET_DEMO_STREAMS
      // The address must be valid even if no connection is made.
      Sometimes<cr::GrpcDebugHook<>>{
          cr::GrpcDebugHook<>{{options.debug_server.empty() ? "localhost:6064" : options.debug_server}},
          {.every = every, .shift = -third, .on = !options.debug_server.empty()}},
#endif
  };
}

/// train_with these hooks.
template <class Model, class Device>
void train_with_debugging(const Options& options, const Device& device) {
  if (!options.dump.empty()) {
    cr::debug::open_session_root(options.dump);  // created now: the hook checks it only when it is first due
  }
  train_with<Model>(options, device, debugging(options));
}

}  // namespace demo
