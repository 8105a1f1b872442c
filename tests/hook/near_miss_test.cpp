// SPDX-License-Identifier: Apache-2.0
// Which member names count as misspelt phases, whatever other members the hook has. The messages of a session:
// tests/compile_fail.
#include <crochet/hook/near_miss.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include <crochet/hook/diagnose.hpp>

namespace crochet {
namespace {

using detail::misspelt;

// Each row: a phase, and a near miss of its name. The hook has both, as members that take any arguments.
// clang-format off
#define NEAR_MISSES(X) \
  X(extend_graph, extendGraph) X(extend_graph, ExtendGraph) X(extend_graph, Extend_Graph) \
  X(extend_graph, extend_the_graph) X(extend_graph, on_extend_graph) X(extend_graph, extend_graph_) \
  X(extend_graph, graph_extend) X(extend_graph, extends_graph) X(extend_graph, extend_grap) X(begin, Begin) \
  X(begin, on_begin) X(begin, onBegin) X(begin, OnBegin) X(begin, begin_) X(begin, beginn) \
  X(after_create_session, AfterCreateSession) X(after_create_session, afterCreateSession) \
  X(after_create_session, After_Create_Session) X(after_create_session, after_Create_Session) \
  X(after_create_session, After_create_session) X(after_create_session, on_after_create_session) \
  X(after_create_session, after_session_create) X(after_create_session, after_session_created) \
  X(after_create_session, aftercreatesession) X(after_create_session, after_create_session_) \
  X(after_create_session, after_created_session) X(after_create_session, after_create_sesion) \
  X(before_run, BeforeRun) X(before_run, beforeRun) X(before_run, Before_Run) X(before_run, before_Run) \
  X(before_run, Before_run) X(before_run, beforerun) X(before_run, on_before_run) X(before_run, onBeforeRun) \
  X(before_run, before_run_) X(before_run, run_before) X(before_run, befor_run) X(before_run, before_each_run) \
  X(after_run, AfterRun) X(after_run, afterRun) X(after_run, After_Run) X(after_run, after_Run) \
  X(after_run, After_run) X(after_run, afterrun) X(after_run, on_after_run) X(after_run, OnAfterRun) \
  X(after_run, after_run_) X(after_run, _after_run) X(after_run, after_rum) X(after_run, after_every_run) \
  X(end, End) X(end, on_end) X(end, onEnd) X(end, OnEnd) X(end, end_) X(end, endd) X(on_error, OnError) \
  X(on_error, onError) X(on_error, On_Error) X(on_error, on_Error) X(on_error, onerror) X(on_error, on_error_) \
  X(on_error, on_eror) X(save_state, SaveState) X(save_state, saveState) X(save_state, Save_State) \
  X(save_state, save_State) X(save_state, savestate) X(save_state, on_save_state) X(save_state, save_state_) \
  X(save_state, save_sate) X(load_state, LoadState) X(load_state, loadState) X(load_state, Load_State) \
  X(load_state, load_State) X(load_state, loadstate) X(load_state, on_load_state) X(load_state, load_state_) \
  X(load_state, laod_state)
// clang-format on

#define HOOK(phase_name, member) \
  struct Has_##member {          \
    void poll() {}               \
    void member(auto&) {}        \
  };
NEAR_MISSES(HOOK)
#undef HOOK

TEST(NearMiss, IsFoundInEveryForm) {
#define CHECK(phase_name, member) EXPECT_EQ((misspelt<Has_##member, phase::phase_name>), #member);
  NEAR_MISSES(CHECK)
#undef CHECK
}

TEST(NearMiss, BelongsToOnePhase) {
#define CHECK(phase_name, member)                                             \
  {                                                                           \
    using H = Has_##member;                                                   \
    const std::array found{!misspelt<H, phase::extend_graph>.empty(),         \
                           !misspelt<H, phase::begin>.empty(),                \
                           !misspelt<H, phase::after_create_session>.empty(), \
                           !misspelt<H, phase::before_run>.empty(),           \
                           !misspelt<H, phase::after_run>.empty(),            \
                           !misspelt<H, phase::end>.empty(),                  \
                           !misspelt<H, phase::on_error>.empty(),             \
                           !misspelt<H, phase::save_state>.empty(),           \
                           !misspelt<H, phase::load_state>.empty()};          \
    int count = 0;                                                            \
    for (const bool one : found) count += one ? 1 : 0;                        \
    EXPECT_EQ(count, 1) << #member;                                           \
  }
  NEAR_MISSES(CHECK)
#undef CHECK
}

// A name with an underscore at an end counts only if it is a function, of any signature.
struct HasUnderscores {
  // NOLINTBEGIN(readability-identifier-naming)
  void begin_() const {}
  void after_run_(auto&, const auto&) const {}
  RunArgs<> before_run_(auto&) { return {}; }
  static void end_(auto&) {}
  void save_state_(const auto&) const {}
  void _load_state(auto&&) {}
  // NOLINTEND(readability-identifier-naming)
};
TEST(NearMiss, WithAnUnderscoreIsAFunctionOfAnySignature) {
  EXPECT_EQ((misspelt<HasUnderscores, phase::begin>), "begin_");
  EXPECT_EQ((misspelt<HasUnderscores, phase::after_run>), "after_run_");
  EXPECT_EQ((misspelt<HasUnderscores, phase::before_run>), "before_run_");
  EXPECT_EQ((misspelt<HasUnderscores, phase::end>), "end_");
  EXPECT_EQ((misspelt<HasUnderscores, phase::save_state>), "save_state_");
  EXPECT_EQ((misspelt<HasUnderscores, phase::load_state>), "_load_state");
}

/// Member names that resemble phases and are correct.
class Meant {
 public:
  void begin() {}
  int after_runs = 0;        ///< data
  enum Kind { Begin, End };  ///< enumerators
  struct BeforeRun {};       ///< a type
  void ended() const {}      ///< names with a meaning of their own
  void send() const {}

  // NOLINTBEGIN(readability-identifier-naming)
  bool after_run_ = false;  ///< data
  const int save_state_ = 0;
  static constexpr int load_state_ = 0;
  int* const _before_run = nullptr;
  enum Step { on_error_ };
  struct _extend_graph {};
  // NOLINTEND(readability-identifier-naming)

 private:
  [[maybe_unused]] int begin_ = 0, end_ = 0;  ///< private data
};
TEST(NearMiss, IsNoNameThatIsMeant) {
  EXPECT_EQ((misspelt<Meant, phase::begin>), "");
  EXPECT_EQ((misspelt<Meant, phase::end>), "");
  EXPECT_EQ((misspelt<Meant, phase::before_run>), "");
  EXPECT_EQ((misspelt<Meant, phase::after_run>), "");
  EXPECT_EQ((misspelt<Meant, phase::save_state>), "");
  EXPECT_EQ((misspelt<Meant, phase::load_state>), "");
  EXPECT_EQ((misspelt<Meant, phase::on_error>), "");
  EXPECT_EQ((misspelt<Meant, phase::extend_graph>), "");
}

}  // namespace
}  // namespace crochet
