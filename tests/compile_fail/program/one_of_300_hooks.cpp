// SPDX-License-Identifier: Apache-2.0
// at-most-bytes: 6000
// expect-error: hook_is_usable<300, crochet::error::has_this_member_but_the_session_cannot_call_it<Plateau
// A chain longer than clang's limit for fold expressions: the corrected program compiles.
#include "program.hpp"

#include <utility>
template <std::size_t>
struct Trivial {
  void after_run(auto&, const auto&) {}
};
struct Plateau {
#ifdef CROCHET_FIXED
  void after_run(auto& run, const auto&) { run.request_stop(); }
#else
  void after_run(auto& run) { run.request_stop(); }
#endif
};
template <std::size_t... I>
auto many(std::index_sequence<I...>) {
  return cr::HookChain{Trivial<I>{}..., Plateau{}};
}

float train(float loss) {
  cr::StepExecutor executor{[&](auto& out) { out["loss"_n] = loss *= 0.9F; }, cr::output<float, "loss">};
  cr::run(executor, many(std::make_index_sequence<300>{}));
  return loss;
}
