// SPDX-License-Identifier: Apache-2.0
// expect-error: hook_is_usable<0, crochet::error::watches_no_node_of_this_model<Looks<.*("residul|'d', 'u', 'l', '.')
// expect-error: did_you_mean<.*("residual"|'d', 'u', 'a', 'l'>)
// A watch with a misspelt pattern that no node fits.
#include <crochet/crochet.hpp>
#include <crochet/debug/watch/watch.hpp>
#include <crochet/graph/probe/probe.hpp>

using namespace crochet::literals;

template <class W>
struct Looks {
  struct probe {
    using watches = W;
  };
  probe mine;
  void begin() {}
  probe* due_probe() { return &mine; }
};

void train() {
#ifdef CROCHET_FIXED
  using Watched = crochet::debug::Watch<"residual.*">;
#else
  using Watched = crochet::debug::Watch<"residul.*">;
#endif
  crochet::StepExecutor step{[](auto& out) { out["residual"_n] = 0.5F; }, crochet::output<float, "residual">};
  crochet::MonitoredSession session{std::move(step), crochet::HookChain{Looks<Watched>{}}};
  session.run();
}
