// SPDX-License-Identifier: Apache-2.0
// A minimal loop under a chain of many hooks: the time beyond core.cpp is that of the chain.
#pragma once
#include <crochet/crochet.hpp>

#include <cstddef>
#include <utility>

/// A distinct hook type for each number.
template <std::size_t Number>
struct Trivial {
  static constexpr auto fetches = crochet::fetches<"loss">;
  float sum = 0;

  void after_run(auto&, const auto& values) {
    using namespace crochet::literals;
    sum += values["loss"_n];
  }
};

template <std::size_t... I>
void train_under(std::index_sequence<I...>, float& loss, int steps) {
  using namespace crochet::literals;
  crochet::MonitoredSession session{
      crochet::StepExecutor{[&](auto& out) { out["loss"_n] = loss *= 0.9F; }, crochet::output<float, "loss">},
      crochet::HookChain{Trivial<I>{}...}};
  crochet::run_session(session, [&](auto& s) {
    for (int i = 0; i < steps; ++i) s.run(crochet::fetches<"loss">);
  });
}
