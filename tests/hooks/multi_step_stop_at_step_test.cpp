// SPDX-License-Identifier: Apache-2.0
// MultiStepStopAtStep: the last of the runs makes only the steps that are left.
#include <crochet/crochet.hpp>
#include <crochet/hooks/multi_step_stop_at_step.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../refusal.hpp"

namespace multi_step_stop_at_step_test {

namespace cr = crochet;
using Steps = std::vector<std::int64_t>;

using crochet::test::refusal;

/// Makes the fed number of steps in a run; at most three if `lazy`.
struct Loop {
  struct Workspace {};
  static constexpr std::array<std::string_view, 0> fetchable{};
  static constexpr std::array<std::string_view, 1> feedable{"steps_per_run"};
  static constexpr std::array<std::string_view, 0> targets{};
  template <class N>
  using fetched_t = int;
  template <class N>
  using fed_t = std::int32_t;
  template <class N, class X>
  static constexpr bool accepts_feed = std::is_same_v<X, std::int32_t>;

  template <class D, class F>
  void run(Workspace&, const F& steps) {
    made.push_back(steps.value);
    step += lazy && steps.value > 3 ? 3 : steps.value;
  }
  [[nodiscard]] std::int64_t global_step() const { return step; }

  std::int64_t step = 0;
  bool lazy = false;
  Steps made{};
};

TEST(MultiStepStopAtStep, TheLastRunIsShorter) {
  Loop loop;
  const cr::StopReason why =
      cr::run(loop, cr::HookChain{cr::MultiStepStopAtStep<>{.num_steps = 10, .steps_per_run = 4}});
  EXPECT_EQ(loop.made, (Steps{4, 4, 2}));
  EXPECT_EQ(loop.step, 10);
  EXPECT_EQ(why.reason, "step 10 was reached");

  cr::run(loop, cr::HookChain{cr::MultiStepStopAtStep<>{.last_step = 13, .steps_per_run = 4}});
  EXPECT_EQ(loop.made, (Steps{4, 4, 2, 3})) << "from step 10, where the executor is";
}

TEST(MultiStepStopAtStep, AStepThatIsReachedAlreadyIsTheSameReason) {
  Loop loop;
  for (int session = 0; session < 2; ++session) {
    const cr::StopReason why =
        cr::run(loop, cr::HookChain{cr::MultiStepStopAtStep<>{.last_step = 3, .steps_per_run = 4}});
    EXPECT_EQ(to_string(why), "MultiStepStopAtStep<\"steps_per_run\">: step 3 was reached");
  }
  EXPECT_EQ(loop.made, (Steps{3}));
}

TEST(MultiStepStopAtStep, NoticesAnExecutorThatMakesOtherSteps) {
  Loop loop{.lazy = true};
  EXPECT_NE(refusal([&] {
              cr::run(loop, cr::HookChain{cr::MultiStepStopAtStep<>{.num_steps = 10, .steps_per_run = 4}});
            }).find("should have ended at step 4 and ended at 3"),
            std::string::npos);
  EXPECT_NE(refusal([] { cr::MultiStepStopAtStep<>{.num_steps = 1, .steps_per_run = 0}.begin(); }), "");
  EXPECT_EQ(refusal([] { cr::MultiStepStopAtStep<>{}.begin(); }),
            "crochet: MultiStepStopAtStep: set exactly one of last_step and num_steps, not none");
}

}  // namespace multi_step_stop_at_step_test
