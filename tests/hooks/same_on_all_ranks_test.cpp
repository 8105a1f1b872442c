// SPDX-License-Identifier: Apache-2.0
// SameOnAllRanks: the runs in which it compares. tests/ranks has what it finds.
#include <crochet/base/error.hpp>
#include <crochet/hooks/same_on_all_ranks.hpp>
#include <crochet/ranks/roll_call.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace same_on_all_ranks_test {

namespace cr = crochet;

/// Two ranks with one variable, which may differ.
struct Ranks {
  int meetings = 0;
  std::uint64_t difference = 0;
  std::vector<std::uint64_t> compared{};

  static std::uint64_t kind_of(std::string_view /*what*/) { return 0; }
  std::vector<cr::Presence> meet(cr::Presence mine) {
    ++meetings;
    compared.push_back(mine.bits);
    cr::Presence other = mine;
    other.bits += difference;
    return {mine, other};
  }
};
/// A run, its session and its executor in one.
struct ScriptedRun {
  std::int64_t at = 0;
  Ranks all{};
  float w = 1;

  [[nodiscard]] std::int64_t step() const { return at; }
  ScriptedRun& session() { return *this; }
  ScriptedRun& executor() { return *this; }
  Ranks& ranks() { return all; }
  void for_each_variable(auto visit) const {
    visit("w", std::span<const float>(&w, 1), std::span<const std::int64_t>{});
  }
};

/// The steps after which it compares, in a session that begins at `first`, with these runs.
std::vector<std::int64_t> compared_at(cr::SameOnAllRanks hook, std::int64_t first,
                                      const std::vector<std::int64_t>& steps) {
  std::vector<std::int64_t> compared;
  ScriptedRun run{.at = first};
  hook.begin();
  int coordinator = 0;
  hook.after_create_session(run, coordinator);
  for (const std::int64_t step : steps) {
    run.at = step;
    const int before = run.all.meetings;
    hook.after_run(run, 0);
    if (run.all.meetings > before) compared.push_back(step);
  }
  return compared;
}
using Steps = std::vector<std::int64_t>;

TEST(SameOnAllRanks, ComparesAtTheMultiples) {
  EXPECT_EQ(compared_at({.every_steps = 2}, 0, {1, 2, 3, 4, 5, 6}), (Steps{2, 4, 6}));
  EXPECT_EQ(compared_at({.every_steps = 2}, 4, {5, 6, 7}), (Steps{6})) << "a resumed session";
  EXPECT_EQ(compared_at({.every_steps = 1}, 0, {1, 2}), (Steps{1, 2}));
}

TEST(SameOnAllRanks, ComparesOnceBehindARunOfSeveralStepsThatPassesAMultiple) {
  EXPECT_EQ(compared_at({.every_steps = 4}, 0, {3, 6, 9, 12, 15}), (Steps{6, 9, 12}));
  EXPECT_EQ(compared_at({.every_steps = 4}, 0, {6, 7, 8}), (Steps{6, 8})) << "also the first run";
}

TEST(SameOnAllRanks, ComparesOnceIfRunsDoNotAdvanceTheStep) {
  EXPECT_EQ(compared_at({.every_steps = 2}, 0, {0, 1, 2, 2, 2, 3}), (Steps{2}));
}

TEST(SameOnAllRanks, ComparesAgainWhenTheStepGoesBack) {
  EXPECT_EQ(compared_at({.every_steps = 2}, 0, {1, 2, 3, 1, 2}), (Steps{2, 2}));
}

TEST(SameOnAllRanks, NamesTheVariableTheStepAndTheRank) {
  cr::SameOnAllRanks hook{.every_steps = 2};
  hook.begin();
  ScriptedRun run{.at = 2, .all = {.difference = 1}};
  try {
    hook.after_run(run, 0);
    FAIL();
  } catch (const cr::RanksDisagreeError& error) {
    EXPECT_NE(std::string(error.what()).find("at step 2 variable 'w' differs between ranks 0 and 1"),
              std::string::npos);
  }
}

/// An executor with a variable of these elements.
struct WithElements {
  std::vector<float> elements;
  Ranks all{};

  [[nodiscard]] static std::int64_t step() { return 1; }
  WithElements& session() { return *this; }
  WithElements& executor() { return *this; }
  Ranks& ranks() { return all; }
  void for_each_variable(auto visit) const {
    visit("w", std::span<const float>(elements), std::span<const std::int64_t>{});
  }
};
std::uint64_t compared_bits(const std::vector<float>& elements) {
  cr::SameOnAllRanks hook{.every_steps = 1};
  hook.begin();
  WithElements run{elements};
  hook.after_run(run, 0);
  return run.all.compared.at(0);
}
TEST(SameOnAllRanks, EveryElementIsCompared) {
  const auto bits = compared_bits({1, 2, 3});
  EXPECT_EQ(compared_bits({1, 2, 3}), bits);
  EXPECT_NE(compared_bits({5, 2, 3}), bits);
  EXPECT_NE(compared_bits({1, 5, 3}), bits);
  EXPECT_NE(compared_bits({1, 2, 5}), bits) << "the last word is half full";
  EXPECT_NE(compared_bits({3, 2, 1}), bits);
}

/// An executor with a weight and the gradients that this rank has accumulated for it.
struct Accumulates {
  Ranks all{.difference = 1};

  [[nodiscard]] static std::int64_t step() { return 1; }
  Accumulates& session() { return *this; }
  Accumulates& executor() { return *this; }
  Ranks& ranks() { return all; }
  void for_each_variable(auto visit) const {
    const float gradient = 1;
    visit("w/gradient_accumulator", std::span<const float>(&gradient, 1), std::span<const std::int64_t>{});
  }
};
TEST(SameOnAllRanks, GradientAccumulatorsMayDiffer) {
  cr::SameOnAllRanks hook{.every_steps = 1};
  hook.begin();
  Accumulates run;
  EXPECT_NO_THROW(hook.after_run(run, 0));
  EXPECT_EQ(run.all.meetings, 0);
}

TEST(SameOnAllRanks, RefusesAnIntervalBelowOne) {
  EXPECT_THROW(cr::SameOnAllRanks{.every_steps = 0}.begin(), cr::LogicError);
}

}  // namespace same_on_all_ranks_test
