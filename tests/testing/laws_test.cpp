// SPDX-License-Identifier: Apache-2.0
// Each law detects a hook that breaks it, and no other law reports it.
#include <crochet/testing/laws.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/testing.hpp>
#include <crochet/testing/counting_new.hpp>

namespace {

namespace cr = crochet;
using namespace cr::literals;
using cr::testing::broken_laws;
using cr::testing::LawOptions;
using cr::testing::PhaseSpy;
using cr::testing::RecordingSink;
using cr::testing::series;

const auto loss = cr::value<"loss">(1.0f);
const auto falling = series<"loss">(5.0f, 4.0f, 3.0f, 2.0f);

/// The names of the broken laws, in order.
std::string laws_in(const std::string& broken) {
  std::string names;
  for (std::size_t at = 0; at < broken.size(); at = broken.find('\n', at) + 1) {
    const std::string name = broken.substr(at, broken.find(':', at) - at);
    if (names.find(name) == std::string::npos) (names += names.empty() ? "" : " ") += name;
    if (broken.find('\n', at) == std::string::npos) break;
  }
  return names;
}
template <class... A>
std::string laws_broken_by(const A&... argument) {
  return laws_in(broken_laws(argument...));
}

/// Stops when the loss has not improved for `patience` steps.
struct Plateau {
  static constexpr auto fetches = cr::fetches<"loss">;

  void begin() { best = std::numeric_limits<float>::infinity(), since = 0; }
  void after_run(auto& run, const auto& values) {
    const float now = values["loss"_n];
    if (now < best) {
      best = now, since = 0;
    } else if (++since >= patience) {
      run.request_stop("no improvement in loss");
    }
  }
  void save_state(auto& out) const { out.put("best", best), out.put("since", since); }
  void load_state(auto& in) { in.get("best", best), in.get("since", since); }

  int patience = 500;
  float best = 0;
  int since = 0;
};

TEST(Laws, AGoodHookBreaksNone) {
  EXPECT_EQ(broken_laws(Plateau{.patience = 3}, loss), "");
  EXPECT_EQ(broken_laws(Plateau{.patience = 3}, falling), "");
  EXPECT_EQ(broken_laws(Plateau{.patience = 3}, LawOptions{.allocations = cr::testing::allocations}, falling), "");
}

// copies

struct SharesItsCount : Plateau {
  std::shared_ptr<int> count = std::make_shared<int>(0);
  void begin() { *count = 0; }
  void after_run(auto& run, const auto&) const {
    if (++*count == 8) run.request_stop("enough");
  }
  void save_state(auto& out) const { out.put("count", *count); }
  void load_state(auto& in) { in.get("count", *count); }
};
TEST(Laws, CopiesShareNothing) { EXPECT_EQ(laws_broken_by(SharesItsCount{}, loss), "copies"); }

struct ForgetsWhenCopied {
  ForgetsWhenCopied() = default;
  ForgetsWhenCopied(const ForgetsWhenCopied&) {}
  ForgetsWhenCopied(ForgetsWhenCopied&&) = default;
  void begin() { count = 0; }
  void after_run(auto& run, const auto&) {
    if (++count == 8) run.request_stop("enough");
  }
  int count = 0;
};
TEST(Laws, CopiesGoOnAsTheOriginal) { EXPECT_EQ(laws_broken_by(ForgetsWhenCopied{}, loss), "copies"); }

int made = 0;
struct CountsItsKind {
  void after_run(auto& run, const auto&) const {
    if (mine > 1) run.request_stop("not the first");
  }
  int mine = ++made;
};
TEST(Laws, HooksOfOneMakingAreAlike) {
  EXPECT_EQ(laws_broken_by([] { return CountsItsKind{}; }, loss), "copies moves begin");
}

// moves

struct ForgetsWhenMoved : ForgetsWhenCopied {
  ForgetsWhenMoved() = default;
  ForgetsWhenMoved(const ForgetsWhenMoved& other) : ForgetsWhenCopied() { count = other.count; }
  ForgetsWhenMoved(ForgetsWhenMoved&&) noexcept {}
};
TEST(Laws, MovedHooksGoOn) { EXPECT_EQ(laws_broken_by(ForgetsWhenMoved{}, loss), "moves"); }

/// Writes a line in its destructor, even if it was moved from.
struct LoudShell {
  explicit LoudShell(RecordingSink where) : sink(std::move(where)) {}
  LoudShell(const LoudShell&) = default;
  LoudShell(LoudShell&& other) noexcept : sink(other.sink), open(other.open) {}
  ~LoudShell() {
    if (open) sink("closed");
  }
  void begin() { open = true; }
  void end(auto&) { open = false; }
  RecordingSink sink;
  bool open = false;
};
TEST(Laws, WhatWasMovedFromKeepsQuiet) {
  RecordingSink sink;
  EXPECT_EQ(laws_broken_by(LoudShell{sink}, LawOptions{.says = [&] { return sink.text(); }}, loss), "moves");
}

// begin

struct NeverStartsOver {
  void after_run(auto& run, const auto&) {
    if (++count == 8) run.request_stop("enough");
  }
  int count = 0;
};
TEST(Laws, BeginResets) {
  EXPECT_EQ(laws_broken_by(NeverStartsOver{}, loss), "begin");
  EXPECT_EQ(laws_broken_by(NeverStartsOver{}, LawOptions{.except = {"begin"}}, loss), "");
}

/// A member that only the state shows: the losses of all sessions.
template <bool clears>
struct SavedHistory {
  void begin() {
    if constexpr (clears) seen.clear();
  }
  void after_run(auto&, const auto& values) { seen.push_back(values["loss"_n]); }
  void save_state(auto& out) const { out.put("seen", seen); }
  void load_state(auto& in) { in.get("seen", seen); }
  static constexpr auto fetches = cr::fetches<"loss">;
  std::vector<float> seen{};
};
TEST(Laws, BeginClearsTheSavedState) {
  EXPECT_EQ(laws_broken_by(SavedHistory<true>{}, loss), "");
  EXPECT_EQ(laws_broken_by(SavedHistory<false>{}, loss), "begin");
  EXPECT_NE(broken_laws(SavedHistory<false>{}, loss).find("\"seen\""), std::string::npos) << "names the key";
  EXPECT_EQ(laws_broken_by(SavedHistory<true>{}, cr::value<"loss">(std::numeric_limits<float>::quiet_NaN())), "");
}

/// The same without state, with operator==.
template <bool clears>
struct History {
  void begin() {
    if constexpr (clears) seen.clear();
  }
  void after_run(auto&, const auto& values) { seen.push_back(values["loss"_n]); }
  friend bool operator==(const History&, const History&) = default;
  static constexpr auto fetches = cr::fetches<"loss">;
  std::vector<float> seen{};
};
TEST(Laws, BeginClearsTheMembersOfAHookThatCanBeCompared) {
  EXPECT_EQ(laws_broken_by(History<true>{}, loss), "");
  EXPECT_EQ(laws_broken_by(History<false>{}, loss), "begin");
}

// state

struct SavesTooLittle : Plateau {
  void save_state(auto& out) const { out.put("best", best); }
  void load_state(auto& in) { in.get("best", best); }
};
TEST(Laws, TheStateIsAllThatMatters) {
  EXPECT_EQ(laws_broken_by(SavesTooLittle{{.patience = 8}}, loss), "state");
  EXPECT_NE(broken_laws(SavesTooLittle{{.patience = 8}}, loss).find("a fresh hook that loaded the state"),
            std::string::npos);
}

struct NeedsAState : Plateau {
  void load_state(auto& in) {
    if (!in.get("best", best)) patience = 1;
    in.get("since", since);
  }
};
TEST(Laws, AStateThatIsMissingIsAFreshStart) { EXPECT_EQ(laws_broken_by(NeedsAState{{.patience = 5}}, loss), "state"); }

struct DisturbedBySaving : Plateau {
  void save_state(auto& out) const {
    Plateau::save_state(out);
    *saved = true;
  }
  void after_run(auto& run, const auto& values) {
    if (*saved) run.request_stop("saved");
    Plateau::after_run(run, values);
  }
  std::shared_ptr<bool> saved = std::make_shared<bool>(false);
};
TEST(Laws, SavingChangesNothing) {
  EXPECT_EQ(laws_broken_by([] { return DisturbedBySaving{}; }, loss), "state");
}

// reads

struct ReadsUnasked {
  static constexpr auto fetches = cr::fetches<"loss">;
  std::optional<cr::RunArgs<cr::Fetches<cr::Name<"loss">>>> before_run(auto& run) {
    if (run.step() % 2 != 0) return {};
    return cr::RunArgs{fetches};
  }
  void after_run(auto&, const auto& values) { sum += values["loss"_n]; }
  float sum = 0;
};
TEST(Laws, OnlyWhatWasAskedForIsRead) { EXPECT_EQ(laws_broken_by(ReadsUnasked{}, loss), "reads"); }

struct AsksForMore {
  static constexpr auto fetches = cr::fetches<"loss">;
  auto before_run(auto&) { return cr::RunArgs{cr::fetches<"loss", "accuracy">}; }
  void after_run(auto&, const auto& values) { last = values["accuracy"_n]; }
  float last = 0;
};
TEST(Laws, TheListIsComplete) {
  EXPECT_EQ(broken_laws(AsksForMore{}, loss, cr::value<"accuracy">(0.5f)),
            "reads: before_run asks for names that the static `fetches` does not list: accuracy");
}

// events

struct ThrowsToStop {
  void after_run(auto& run, const auto&) const {
    if (run.step() == 8) throw cr::StopIteration("enough");
  }
};
TEST(Laws, LaterHooksSeeEveryEvent) {
  EXPECT_EQ(laws_broken_by(ThrowsToStop{}, loss), "events");
  EXPECT_NE(broken_laws(ThrowsToStop{}, loss).find("step 7: threw"), std::string::npos);
}

template <class H>
struct AfterOnly {
  using decorates = H;
  void begin() { hook.begin(); }
  void after_create_session(auto& session, auto& coordinator) { hook.after_create_session(session, coordinator); }
  void after_run(auto& run, const auto& values) { hook.after_run(run, values); }
  void end(auto& session) { hook.end(session); }
  H hook{};
};
TEST(Laws, DecoratorsKeepTheOrder) {
  EXPECT_EQ(broken_laws(AfterOnly<PhaseSpy>{}, loss), "events: a PhaseSpy inside saw after_run without before_run");
}

// end

template <class H, int Ends>
struct EndsSoOften {
  using decorates = H;
  void begin() { hook.begin(); }
  void after_create_session(auto& session, auto& coordinator) { hook.after_create_session(session, coordinator); }
  void before_run(auto& run) { hook.before_run(run); }
  void after_run(auto& run, const auto& values) { hook.after_run(run, values); }
  void end(auto& session) {
    for (int i = 0; i < Ends; ++i) hook.end(session);
  }
  H hook{};
};
TEST(Laws, EndIsPassedOnOnce) {
  EXPECT_EQ(broken_laws(EndsSoOften<PhaseSpy, 0>{}, loss), "end: a PhaseSpy inside was called 0 times");
  EXPECT_EQ(broken_laws(EndsSoOften<PhaseSpy, 1>{}, loss), "");
  EXPECT_EQ(laws_broken_by(EndsSoOften<PhaseSpy, 2>{}, loss), "events end");
}

/// Writes "done" in its destructor after a session, not in `end`.
struct EndsInItsDestructor {
  explicit EndsInItsDestructor(RecordingSink where) : sink(std::move(where)) {}
  EndsInItsDestructor(const EndsInItsDestructor& other) : sink(other.sink) {}
  EndsInItsDestructor(EndsInItsDestructor&& other) noexcept
      : sink(other.sink), open(std::exchange(other.open, false)) {}
  ~EndsInItsDestructor() {
    if (open) sink("done");
  }
  void begin() { open = true; }
  RecordingSink sink;
  bool open = false;
};
TEST(Laws, WhatBelongsToTheEndIsDoneInEnd) {
  RecordingSink sink;
  EXPECT_EQ(laws_broken_by(EndsInItsDestructor{sink}, LawOptions{.says = [&] { return sink.text(); }}, loss), "end");
}

struct SavesWhatItHas : Plateau {
  void save_state(auto& out) const {
    if (best < 1e30F) out.put("best", best);  // absent at first: a checkpoint treats the hook as changed
    out.put("since", since);
  }
};
TEST(Laws, TheSameKeysAreSavedAtAnyTime) {
  const std::string broken = broken_laws(SavesWhatItHas{{.patience = 20}}, falling);
  EXPECT_EQ(laws_in(broken), "state");
  EXPECT_NE(broken.find(
                "it saves other keys or types in the middle (best float, since int) than in the beginning (since int)"),
            std::string::npos)
      << broken;
}

// allocations

struct KeepsEverything {
  static constexpr auto fetches = cr::fetches<"loss">;
  void begin() { all.clear(); }
  void after_run(auto&, const auto& values) { all.push_back(values["loss"_n]); }
  std::vector<float> all;
};
TEST(Laws, ASteadyStepAllocatesNothing) {
  EXPECT_EQ(laws_broken_by(KeepsEverything{}, LawOptions{.allocations = cr::testing::allocations}, loss),
            "allocations");
  EXPECT_EQ(laws_broken_by(KeepsEverything{}, loss), "") << "nobody has counted";
}

// The options

TEST(Laws, AnUnknownNameIsRefused) {
  EXPECT_THROW(broken_laws(Plateau{}, LawOptions{.except = {"beginn"}}, loss), cr::LogicError);
}

struct MoveOnly {
  explicit MoveOnly(int limit) : left(std::make_unique<int>(limit)), limit_(limit) {}
  void begin() { *left = limit_; }
  void after_run(auto& run, const auto&) const {
    if (--*left == 0) run.request_stop("enough");
  }
  std::unique_ptr<int> left;
  int limit_;
};
TEST(Laws, AHookNeedNotBeCopyable) {
  EXPECT_EQ(broken_laws([] { return MoveOnly{8}; }, loss), "");
}

TEST(Laws, TheLawsKnowWhenToStop) {
  EXPECT_EQ(broken_laws(cr::StopAtStep{.last_step = 0}, loss), "") << "before the first step";
  EXPECT_EQ(broken_laws(cr::StopAtStep{.last_step = 1}, loss), "");
  EXPECT_EQ(broken_laws(Plateau{}, LawOptions{.steps = 0}, loss), "");
}

/// Counts the runs; load_state misspells the key.
struct Counts {
  void begin() { runs = 0; }
  void after_run(auto& /*run*/, const auto& /*values*/) { ++runs; }
  void save_state(auto& out) const { out.put("runs", runs); }
  void load_state(auto& in) { in.get("rusn", runs); }
  std::int64_t runs = 0;
};
TEST(Laws, WhatIsSavedIsLoaded) {
  EXPECT_EQ(broken_laws(Counts{}), "state: it saves \"runs\", and load_state does not read that");
}

}  // namespace
