// SPDX-License-Identifier: Apache-2.0
// The chains of hooks of the modes of a step, and the call that makes one.
#pragma once
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>

#include <cstdint>
#include <string_view>

namespace bench {

/// Requests values in every run: they are computed, as the peers compute the loss in every step. It reads the first
/// value of the next run only, so that runs stay queued.
template <crochet::FixedString First, crochet::FixedString... Others>
struct Requests {
  static constexpr auto fetches = crochet::fetches<First, Others...>;
  bool reads = true;
  double value = 0;

  void after_run(auto&, const auto& values) {
    if (!reads) return;
    value = static_cast<double>(values[crochet::Name<First>{}]);
    reads = false;
  }
};

inline constexpr auto training_step = [](auto& session, const auto&... feeds) {
  session.run(crochet::targets<"train">, feeds...);
};

/// Hooks whose lines are dropped. Not templates: g++ 12 fails on such initializers in one.
inline crochet::LoggingTensor<"loss"> logging(std::int64_t every_steps) {
  return {.every_steps = every_steps, .sink = [](std::string_view) {}};
}
inline crochet::StepCounter counting(std::int64_t every_steps) {
  return {.every_steps = every_steps, .sink = [](std::string_view) {}};
}

/// Stock hooks that act at the first run and then after more steps than a measurement has.
template <class R>
auto hooks_not_due(const R& requests) {
  constexpr std::int64_t never = std::int64_t{1} << 60;
  return crochet::HookChain{requests, crochet::StopAtStep{.last_step = never}, logging(never), counting(never)};
}

}  // namespace bench
