// SPDX-License-Identifier: Apache-2.0
#include <crochet/hook/describe.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <vector>

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

struct ANameOfMoreThanFortyFourCharactersThatIsNoTemplate {
  void begin() {}
};
TEST(Describe, ALongNameWithoutArgumentsIsWhole) {
  const std::string table = describe(HookChain{ANameOfMoreThanFortyFourCharactersThatIsNoTemplate{}});
  EXPECT_EQ(table.find("<...>"), std::string::npos) << table;
}

TEST(Describe, OfAnEmptyChainIsItsHeading) { EXPECT_EQ(describe(HookChain<>{}), "hook  phases  cadence  fetches\n"); }

struct LongCadence {
  static constexpr auto fetches = crochet::fetches<"a_name_of_a_value", "another_name_of_a_value", "a_third_name">;
  void begin() {}
  void before_run(auto&) {}
  void after_run(auto&, const auto&) {}
  void end(auto&) {}
  void on_error(const std::exception_ptr&) {}
  [[nodiscard]] static std::string cadence() { return "every 1000 steps, and at the end of each of the epochs"; }
};
TEST(Describe, NoLineIsLongerThan100Columns) {
  const std::string table = describe(HookChain{LongCadence{}});
  std::size_t longest = 0, begin = 0;
  for (std::size_t end = table.find('\n'); end != std::string::npos; begin = end + 1, end = table.find('\n', begin)) {
    longest = std::max(longest, end - begin);
  }
  EXPECT_GT(longest, 80U);
  EXPECT_LE(longest, 100U);
  for (const char* part : {"LongCadence", "begin", "on_error", "every 1000", "epochs", "another_name_of_a_value"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  }
  EXPECT_EQ(crochet::detail::wrapped("abcdef gh", 4), (std::vector<std::string>{"abcd", "ef", "gh"}));
}

}  // namespace describe_test
}  // namespace crochet
