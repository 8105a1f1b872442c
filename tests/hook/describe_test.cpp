// SPDX-License-Identifier: Apache-2.0
#include <crochet/hook/describe.hpp>

#include <gtest/gtest.h>

#include <string>

namespace crochet {

template <FixedString Text>
struct Log {
  static constexpr auto fetches = crochet::fetches<Text>;
  void after_run(auto&, const auto&) {}
  [[nodiscard]] std::string cadence() const { return "every " + std::to_string(every) + " steps"; }
  int every = 100;
};
struct Quiet {
  void begin() {}
  void end(auto&) {}
};
template <class H>
struct Around {
  using decorates = H;
  static constexpr auto fetches = declared_fetches<H>{};
  H hook;
  void begin() requires phase::begin::handled<H> { hook.begin(); }
  void after_run(auto& run, const auto& values) { hook.after_run(run, values); }
};

namespace describe_test {

TEST(Describe, ListsHookPhasesCadenceAndFetches) {
  const HookChain chain{Log<"loss">{}, Quiet{}, Around<Log<"accuracy">>{}};
  EXPECT_EQ(describe(chain),
            "hook                     phases     cadence          fetches\n"
            "Log<\"loss\">              after_run  every 100 steps  loss\n"
            "Quiet                    begin end\n"
            "Around<Log<\"accuracy\">>  after_run  every run        accuracy\n");
}

TEST(Describe, OfAnEmptyChainIsItsHeading) { EXPECT_EQ(describe(HookChain<>{}), "hook  phases  cadence  fetches\n"); }

}  // namespace describe_test
}  // namespace crochet
