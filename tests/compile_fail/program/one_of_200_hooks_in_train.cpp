// SPDX-License-Identifier: Apache-2.0
// at-most-bytes: 4500
// expect-error: hook_is_usable<200, crochet::error::has_this_member_but_the_session_cannot_call_it<Plateau
// One wrong hook among 200 correct ones: still one error. Through train.
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

void train(const Batch& batch) {
  cr::train<Classifier>(
      cr::Cpu{.threads = 2}, [&] { return feeds_of(batch); }, many(std::make_index_sequence<200>{}));
}
