// SPDX-License-Identifier: Apache-2.0
// Step functions on several ranks: a solver of one's own, whose ranks step together and end together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/crochet.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/same_on_all_ranks.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/stop_when.hpp>
#include <crochet/ranks/ordered_sum.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace ranks_step_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::testing::run_ranks;
using cr::testing::ThreadRank;

/// Halves a value of each rank; the residual is the sum of all.
struct Solver {
  double x = 0;
  std::int64_t steps = 0;
};
auto step_of(Solver& solver) {
  return cr::StepExecutor{[&solver](auto& out) {
                            solver.x /= out.input("divisor"_n, 2.0);
                            ++solver.steps;
                            if (out.due("residual"_n)) out["residual"_n] = out.sum_over_ranks(solver.x);
                            out["x"_n] = solver.x;
                          },
                          cr::input<double, "divisor">, cr::output<double, "residual">, cr::output<double, "x">,
                          cr::variable<"steps">(solver.steps)};
}

TEST(RankSteps, StopTogetherByAValueOfAllRanks) {
  for (const int size : {2, 3, 4}) {
    std::vector<Solver> solvers(static_cast<std::size_t>(size));
    std::vector<std::string> why(solvers.size());
    run_ranks(size, [&](ThreadRank me) {
      const auto r = static_cast<std::size_t>(me.rank());
      solvers[r].x = me.rank() == 1 ? 64 : 0;  // converges on rank 1 last
      const cr::StopReason reason =
          cr::run(cr::Parallel{step_of(solvers[r]), me}, cr::HookChain{cr::StopWhen<"residual">{.below = 0.9}});
      why[r] = to_string(reason);
    });
    for (const Solver& s : solvers) EXPECT_EQ(s.steps, 7);
    for (const std::string& text : why) EXPECT_EQ(text, why[0]);
  }
}

TEST(RankSteps, AreBorrowedOrOwnedAsOthers) {
  run_ranks(2, [](ThreadRank me) {
    Solver solver{.x = 1};
    cr::Parallel step{step_of(solver), me};
    for (int part = 0; part < 3; ++part) cr::run(step, cr::HookChain{cr::StopAtStep{.last_step = 2}});
    EXPECT_EQ(solver.steps, 6);
    cr::MonitoredSession session{std::move(step), cr::HookChain{}};
    EXPECT_EQ(session.run(cr::fetches<"residual">)["residual"_n], 2 * std::pow(0.5, 7));
    EXPECT_EQ(session.run(cr::fetches<"x">, cr::feed<"divisor">(4.0))["x"_n], std::pow(0.5, 9));
    session.close();
  });
}

/// Calls body(out, rank) once on each of `size` ranks.
template <class Body>
void in_a_step(int size, Body body) {
  run_ranks(size, [&](ThreadRank me) {
    cr::run(cr::Parallel{cr::StepExecutor{[&](auto& out) { body(out, me.rank()); }}, me},
            cr::HookChain{cr::StopAtStep{.last_step = 1}});
  });
}

TEST(RankSteps, SumNumbersInOneOrder) {
  for (int size = 1; size <= 7; ++size) {
    std::vector<double> numbers;
    for (int r = 0; r < size; ++r) numbers.push_back(std::sin(r) * 1e-5 + std::pow(7.0, r));
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(size));
    in_a_step(size, [&](auto& out, int rank) {
      const double mine = numbers[static_cast<std::size_t>(rank)];
      std::vector<double> many(3, mine);
      out.sum_over_ranks(std::span{many});
      sums[static_cast<std::size_t>(rank)] = {out.sum_over_ranks(mine), many[0], many[2]};
    });
    for (const auto& of_rank : sums) EXPECT_EQ(of_rank, std::vector<double>(3, sums[0][0]));
    double exact = 0;
    for (const double x : numbers) exact += x;
    EXPECT_NEAR(sums[0][0], exact, exact * 1e-15);
  }
}

TEST(RankSteps, SumNumbersOfEachType) {
  in_a_step(3, [](auto& out, int rank) {
    EXPECT_EQ(out.sum_over_ranks(rank), 3);
    EXPECT_EQ(out.sum_over_ranks(std::int64_t{1} << 60), 3 * (std::int64_t{1} << 60));
    EXPECT_EQ(out.sum_over_ranks(static_cast<std::uint8_t>(rank)), 3);
    EXPECT_EQ(out.sum_over_ranks(0.5F), 1.5F);
    std::vector<float> long_ones(100'000, 1.0F);
    out.sum_over_ranks(std::span{long_ones});
    EXPECT_EQ(long_ones, std::vector<float>(100'000, 3.0F));
  });
}

TEST(RankSteps, FindTheExtremes) {
  in_a_step(4, [](auto& out, int rank) {
    const double x = rank == 2 ? -5 : rank;
    EXPECT_EQ(out.min_over_ranks(x), -5);
    EXPECT_EQ(out.max_over_ranks(x), 3);
    EXPECT_EQ(out.max_over_ranks(static_cast<unsigned>(rank)), 3U);
    for (int bad = 0; bad < 4; ++bad) {
      const double y = rank == bad ? std::numeric_limits<double>::quiet_NaN() : x;
      EXPECT_TRUE(std::isnan(out.min_over_ranks(y)) && std::isnan(out.max_over_ranks(y)) &&
                  std::isnan(out.sum_over_ranks(y)));
    }
  });
}

TEST(RankSteps, ComputeTheSameOnOneMachine) {
  cr::StepExecutor step{[](auto& out) {
    std::vector<double> many{1, 2};
    out.sum_over_ranks(std::span{many});
    EXPECT_EQ(many, (std::vector<double>{1, 2}));
    EXPECT_EQ(out.sum_over_ranks(3) + out.min_over_ranks(4) + out.max_over_ranks(5), 12);
  }};
  cr::run(step, cr::HookChain{cr::StopAtStep{.last_step = 1}});
}

// With Solo a session has the StepExecutor itself.
template <class Session>
using executor_in = typename std::remove_cvref_t<Session>::Executor;
TEST(RankSteps, OnOneMachineAreTheStepItself) {
  Solver solver{.x = 1};
  auto plain = step_of(solver);
  cr::Parallel alone{plain, cr::Solo{}};
  static_assert(sizeof alone == sizeof plain);
  cr::MonitoredSession owns{cr::Parallel{plain, cr::Solo{}}, cr::HookChain{cr::StopAtStep{.last_step = 2}}};
  static_assert(std::is_same_v<executor_in<decltype(owns)>, decltype(plain)>);
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(owns.raw_session())>, cr::RawSession<decltype(plain)>>);
  owns.run();
  owns.close();
  cr::MonitoredSession borrows{alone, cr::HookChain{cr::StopAtStep{.last_step = 2}}};
  static_assert(std::is_same_v<executor_in<decltype(borrows)>, decltype(plain)>);
  EXPECT_EQ(&borrows.executor(), &alone);
  borrows.run();
  borrows.close();
  EXPECT_EQ(solver.steps, 2);
}

/// What a rank does alone.
enum class Does { nothing, throws, is_preempted, stops, ends_data };
enum class At { begin, create, before_run, in_step, behind_exchange, after_run, end };

struct Act {
  Does does = Does::nothing;
  At at = At::before_run;
  std::int64_t step = 0;
  bool used = false;

  void operator()(At now, std::int64_t here) {
    if (now != at || here != step || does == Does::nothing || does == Does::stops || used) return;
    used = true;
    if (does == Does::throws) throw std::runtime_error("out of paper");
    if (does == Does::ends_data) throw cr::OutOfRangeError();
    throw cr::UnavailableError("the machine is gone");
  }
};
struct Alone {
  using handles = cr::Phases<cr::phase::begin, cr::phase::after_create_session, cr::phase::before_run,
                             cr::phase::after_run, cr::phase::end, cr::phase::on_error>;
  void begin() { (*act)(At::begin, 0); }
  void after_create_session(auto& session, auto&) { (*act)(At::create, session.step()); }
  cr::RunArgs<> before_run(auto& run) {
    (*act)(At::before_run, run.step());
    return {};
  }
  void after_run(auto& run, auto&) {
    if (act->does == Does::stops && run.step() == act->step) run.request_stop("enough");
    (*act)(At::after_run, run.step());
  }
  void end(auto& session) {
    *ended = session.step();
    (*act)(At::end, act->step);
  }
  void on_error(std::exception_ptr) { ++*errors; }

  Act* act;
  std::int64_t* ended;
  int* errors;
};

struct Outcome {
  std::string error;
  std::int64_t step = -1, ended = -1, steps = 0;
  int errors = 0, recoveries = 0;
  std::string why;
};

/// Ten steps on `size` ranks, of which `who` does something alone.
std::vector<Outcome> solve(int size, int who, Does does, At at, std::int64_t when) {
  std::vector<Outcome> all(static_cast<std::size_t>(size));
  run_ranks(size, [&](ThreadRank me) {
    Outcome& out = all[static_cast<std::size_t>(me.rank())];
    Act act{me.rank() == who ? does : Does::nothing, at, when};
    cr::StepExecutor step{[&](auto& o) {
                            act(At::in_step, out.steps);
                            EXPECT_EQ(o.sum_over_ranks(1), size);
                            act(At::behind_exchange, out.steps);
                            ++out.steps;
                          },
                          cr::variable<"steps">(out.steps)};
    try {
      cr::MonitoredSession session{cr::Parallel{step, me},
                                   cr::HookChain{Alone{&act, &out.ended, &out.errors}, cr::StopAtStep{.last_step = 10}},
                                   cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
      try {
        cr::run_session(session, [&](auto& s) {
          while (!s.should_stop()) s.run();
        });
      } catch (const std::exception& e) {
        out.error = e.what();
      }
      out.step = session.step();
      out.why = to_string(session.stop_reason());
      out.recoveries = session.recoveries();
    } catch (const std::exception& e) {
      out.error = e.what();
    }
  });
  return all;
}

TEST(RankSteps, StopAtTheStepAtWhichOneRankStops) {
  for (const int size : {2, 3, 4}) {
    const auto all = solve(size, 1, Does::stops, At::after_run, 4);
    for (const Outcome& o : all) {
      EXPECT_EQ(o.error, "");
      EXPECT_EQ(o.ended, 4);
      EXPECT_EQ(o.steps, 4);
    }
    EXPECT_EQ(all[0].why.substr(0, 8), "rank 1: ");
  }
}

/// Stops on rank 1 in the second step, and notes on each rank whether its end is an interruption.
struct StopsOnRank1 {
  void after_run(auto& run, const auto&) const {
    if (rank == 1 && run.step() == 2) run.request_stop("the queue", kind);
  }
  void end(auto& session) const { *interrupted = session.interrupted(); }

  int rank;
  cr::StopKind kind;
  bool* interrupted;
};

TEST(RankSteps, AnInterruptionOfOneRankIsOneOnAll) {
  for (const cr::StopKind kind : {cr::StopKind::interruption, cr::StopKind::end}) {
    run_ranks(3, [&](ThreadRank me) {
      bool interrupted = kind == cr::StopKind::end;
      const cr::StopReason why = cr::run(cr::Parallel{cr::StepExecutor{[](auto&) {}}, me},
                                         cr::HookChain{StopsOnRank1{me.rank(), kind, &interrupted}});
      EXPECT_EQ(why.kind, kind) << me.rank();
      EXPECT_EQ(interrupted, kind == cr::StopKind::interruption) << me.rank();
    });
  }
}

TEST(RankSteps, ALongErrorOfOneRankIsCutOffOnTheOthers) {
  const std::string long_text = std::string(400, 'a') + std::string(200, 'b');
  std::vector<std::string> errors(2);
  run_ranks(2, [&](ThreadRank me) {
    try {
      cr::run(cr::Parallel{cr::StepExecutor{[&](auto&) {
                             if (me.rank() == 1) throw std::runtime_error(long_text);
                           }},
                           me},
              cr::HookChain{cr::StopAtStep{.last_step = 3}});
    } catch (const std::exception& error) {
      errors[static_cast<std::size_t>(me.rank())] = error.what();
    }
  });
  EXPECT_EQ(errors[1], long_text);
  EXPECT_NE(errors[0].find(std::string(400, 'a') + "b"), std::string::npos) << errors[0];
  EXPECT_TRUE(errors[0].ends_with("b ...")) << errors[0];
}

TEST(RankSteps, EndWhereTheDataOfOneRankEnd) {
  for (const At at : {At::before_run, At::in_step, At::after_run}) {
    for (int who = 0; who < 3; ++who) {
      const auto all = solve(3, who, Does::ends_data, at, 3);
      for (const Outcome& o : all) {
        EXPECT_EQ(o.error, "");
        EXPECT_EQ(o.ended, 3);
        EXPECT_EQ(o.steps, 3);
      }
    }
  }
}

class AFailureInOneRanksStep : public testing::TestWithParam<At> {};
INSTANTIATE_TEST_SUITE_P(Phases, AFailureInOneRanksStep,
                         testing::Values(At::begin, At::create, At::before_run, At::in_step, At::behind_exchange,
                                         At::after_run, At::end));

TEST_P(AFailureInOneRanksStep, FailsAll) {
  const bool early = GetParam() == At::begin || GetParam() == At::create;
  for (int who = 0; who < 3; ++who) {
    const auto all = solve(3, who, Does::throws, GetParam(), early ? 0 : 3);
    for (int r = 0; r < 3; ++r) {
      const Outcome& o = all[static_cast<std::size_t>(r)];
      EXPECT_NE(o.error.find("out of paper"), std::string::npos) << o.error;
      if (r == who) continue;
      EXPECT_NE(o.error.find("rank " + std::to_string(who) + " failed"), std::string::npos) << o.error;
    }
  }
}

TEST_P(AFailureInOneRanksStep, ThatCanBeRecoveredIsRecoveredByAll) {
  if (GetParam() == At::begin || GetParam() == At::end) return;  // phases without recovery
  for (int who = 0; who < 3; ++who) {
    const auto all = solve(3, who, Does::is_preempted, GetParam(), GetParam() == At::create ? 0 : 3);
    for (const Outcome& o : all) {
      EXPECT_EQ(o.error, "");
      EXPECT_EQ(o.recoveries, 1);
      EXPECT_EQ(o.ended, 10);
      EXPECT_EQ(o.steps, 10);
    }
  }
}

/// The lines of all ranks, sorted.
class Lines {
 public:
  Lines()
      : before_(cr::set_diagnostic_sink([](std::string_view line) {
          const std::lock_guard lock(mutex());
          all().emplace_back(line);
        })) {
    all().clear();
  }
  ~Lines() { cr::set_diagnostic_sink(before_); }
  std::vector<std::string> sorted() const {
    std::vector<std::string> lines = all();
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::vector<std::string>& all() {
    static std::vector<std::string> lines;
    return lines;
  }
  cr::DiagnosticSink before_;
};

/// Every session begins at step 1.
struct BeginsAtOne {
  void create_session(auto& session, auto&) { session.set_step(1); }
};

/// The lines of three ranks, of which `who` loses its session at step 3, up to the last line.
std::vector<std::string> lines_of_a_recovery(int who, const cr::RecoveryOptions& recovery) {
  const Lines lines;
  run_ranks(3, [&](ThreadRank me) {
    Act act{me.rank() == who ? Does::is_preempted : Does::nothing, At::before_run, 3};
    std::int64_t ended = 0;
    int errors = 0;
    cr::StepExecutor step{[](auto&) {}};
    cr::MonitoredSession session{cr::Parallel{step, me},
                                 cr::HookChain{Alone{&act, &ended, &errors}, cr::StopAtStep{.last_step = 5}},
                                 BeginsAtOne{}, cr::SessionOptions{.recovery = recovery}};
    try {
      cr::run_session(session, [](auto& s) {
        while (!s.should_stop()) s.run();
      });
    } catch (const cr::Error&) {
      EXPECT_EQ(recovery.max_attempts, 0);
    }
  });
  auto sorted = lines.sorted();
  std::erase_if(sorted, [](const std::string& line) { return line.starts_with("crochet: stopped at step 5"); });
  return sorted;
}

TEST(RankSteps, ALostSessionIsReportedByItsRankAndByTheChief) {
  const cr::RecoveryOptions once{.max_attempts = 1, .initial_backoff_secs = 0};
  const std::string goes_on = "crochet: the session goes on at step 1; steps lost: 2";
  const std::string lost = "the session was lost at step 3 and is created anew (attempt 1 of 1): ";
  EXPECT_EQ(lines_of_a_recovery(2, once),
            (std::vector<std::string>{"crochet: rank 0: " + lost + "crochet: rank 2 has lost its session",
                                      "crochet: rank 2: " + lost + "the machine is gone", goes_on}));
  EXPECT_EQ(lines_of_a_recovery(0, once),
            (std::vector<std::string>{"crochet: rank 0: " + lost + "the machine is gone", goes_on}));
}

TEST(RankSteps, ASessionThatIsGivenUpIsReportedByItsRankAndByTheChief) {
  const std::string given_up = "the session was lost and is given up after 0 attempts: ";
  EXPECT_EQ(lines_of_a_recovery(1, {.max_attempts = 0}),
            (std::vector<std::string>{"crochet: rank 0: " + given_up + "crochet: rank 1 has lost its session",
                                      "crochet: rank 1: " + given_up + "the machine is gone"}));
}

TEST(RankSteps, ThatOneRankCatchesAndRepeatsAreAnError) {
  std::vector<std::string> errors(2);
  run_ranks(2, [&](ThreadRank me) {
    int calls = 0;
    cr::StepExecutor step{[&](auto&) {
      if (++calls == 3 && me.rank() == 1) throw std::runtime_error("caught in the loop");
    }};
    cr::MonitoredSession session{cr::Parallel{step, me}, cr::HookChain{cr::StopAtStep{.last_step = 10}}};
    try {
      cr::run_session(session, [](auto& s) {
        while (!s.should_stop()) {
          try {
            s.run();
          } catch (const std::runtime_error& e) {
            if (std::string(e.what()) != "caught in the loop") throw;
          }
        }
      });
    } catch (const cr::FailedPreconditionError& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  EXPECT_NE(errors[0].find("has thrown on some ranks in a step that others have made"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[0], errors[1]);
}

TEST(RankSteps, MayAgreeOnAFailureBeforeTheyExchangeByThemselves) {
  for (int who = 0; who < 3; ++who) {
    std::vector<std::string> errors(3);
    run_ranks(3, [&](ThreadRank me) {
      const auto prepare = [&] { return me.rank() != who; };
      cr::StepExecutor step{[&](auto& out) {
        const bool ready = prepare();  // what may fail on one rank
        if (out.min_over_ranks(ready ? 1 : 0) == 0) throw std::runtime_error("a rank could not prepare its part");
      }};
      try {
        cr::run(cr::Parallel{step, me}, cr::HookChain{});
      } catch (const std::runtime_error& e) {
        errors[static_cast<std::size_t>(me.rank())] = e.what();
      }
    });
    EXPECT_EQ(errors, std::vector<std::string>(3, "a rank could not prepare its part"));
  }
}

/// The errors of two ranks that call run(session, rank).
template <class Run>
std::vector<std::string> errors_of(Run run) {
  std::vector<std::string> errors(2);
  run_ranks(2, [&](ThreadRank me) {
    Solver solver;
    cr::MonitoredSession session{cr::Parallel{step_of(solver), me}};
    try {
      cr::run_session(session, [&](auto& s) { run(s, me.rank()); });
    } catch (const cr::RanksDisagreeError& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
    EXPECT_EQ(solver.steps, 0);
  });
  return errors;
}

TEST(RankSteps, AreRefusedIfTheirRunsDiffer) {
  const auto fetched = errors_of([](auto& s, int rank) {
    if (rank == 0) {
      s.run(cr::fetches<"residual">);
    } else {
      s.run(cr::fetches<"x">);
    }
  });
  const auto fed = errors_of([](auto& s, int rank) {
    if (rank == 0) {
      s.run(cr::feed<"divisor">(4.0));
    } else {
      s.run();
    }
  });
  for (const auto& errors : {fetched, fed}) {
    EXPECT_NE(errors[0].find("run the same targets"), std::string::npos) << errors[0];
    EXPECT_EQ(errors[0], errors[1]);
  }
  const auto none = [](auto& s, int rank) {
    if (rank == 0) {
      s.run(cr::fetches<"residual", "x">);
    } else {
      s.run(cr::fetches<"x", "residual">);
    }
    throw cr::RanksDisagreeError("the order does not matter");
  };
  run_ranks(2, [&](ThreadRank me) {
    Solver solver;
    cr::MonitoredSession session{cr::Parallel{step_of(solver), me}};
    EXPECT_THROW(none(session, me.rank()), cr::RanksDisagreeError);
    EXPECT_EQ(solver.steps, 1);
    session.close();
  });
}

/// Counts its calls, and fetches the residual.
struct Counts {
  using handles = cr::Phases<cr::phase::begin, cr::phase::before_run, cr::phase::after_run, cr::phase::end>;
  void begin() { ++*calls; }
  auto before_run(auto&) { return cr::RunArgs{cr::fetches<"residual">}; }
  void after_run(auto& run, auto& values) {
    static_assert(requires { run.session().executor(); });
    *residual = values["residual"_n];
    ++*calls;
  }
  void end(auto&) { ++*calls; }
  int* calls;
  double* residual;
};
struct CountsOnChief : Counts {
  static constexpr auto runs_on = cr::RunsOn::chief;
};

TEST(RankSteps, CallEachHookInItsPlace) {
  struct Seen {
    int every = 0, chief = 0, second = 0, each = 0;
    double residual = 0, of_chief = 0, of_second = 0;
  };
  std::vector<Seen> all(3);
  run_ranks(3, [&](ThreadRank me) {
    Seen& seen = all[static_cast<std::size_t>(me.rank())];
    Solver solver{.x = 16};
    cr::run(
        cr::Parallel{step_of(solver), me},
        cr::HookChain{Counts{&seen.every, &seen.residual}, CountsOnChief{{&seen.chief, &seen.of_chief}},
                      cr::OnRank<1, cr::EveryN<2, Counts>>{{{&seen.second, &seen.of_second}}},
                      cr::OnEveryRank<CountsOnChief>{{{&seen.each, &seen.residual}}}, cr::StopAtStep{.last_step = 4}});
  });
  for (int r = 0; r < 3; ++r) {
    const Seen& seen = all[static_cast<std::size_t>(r)];
    EXPECT_EQ(seen.every, 6);
    EXPECT_EQ(seen.each, 6);
    EXPECT_EQ(seen.chief, r == 0 ? 6 : 0);
    EXPECT_EQ(seen.second, r == 1 ? 4 : 0);
    EXPECT_EQ(seen.residual, 3);
  }
  EXPECT_EQ(all[0].of_chief, 3);
  EXPECT_EQ(all[1].of_second, 3);
}

/// Requests a probe for each run, which notes the rank of the run's device.
struct NotesTheTask {
  struct Probe {
    std::vector<int>* tasks;
    void on_run_begin(const cr::ProbedRun& run) const { tasks->push_back(run.device.task); }
  };
  using probe = Probe;
  using handles = cr::Phases<cr::phase::before_run>;
  Probe notes;
  void before_run(auto& /*run*/) const {}
  Probe* due_probe() { return &notes; }
};
TEST(RankSteps, ShowTheirRankToProbes) {
  std::vector<std::vector<int>> tasks(2);
  run_ranks(2, [&](ThreadRank me) {
    Solver solver;
    cr::run(cr::Parallel{step_of(solver), me},
            cr::HookChain{NotesTheTask{{&tasks[static_cast<std::size_t>(me.rank())]}}, cr::StopAtStep{.last_step = 2}});
  });
  EXPECT_EQ(tasks[0], (std::vector<int>{0, 0}));
  EXPECT_EQ(tasks[1], (std::vector<int>{1, 1}));

  std::vector<int> alone;
  Solver solver;
  cr::run(step_of(solver), cr::HookChain{NotesTheTask{{&alone}}, cr::StopAtStep{.last_step = 1}});
  EXPECT_EQ(alone, std::vector<int>{-1}) << "on one machine there is no rank to name";
}

TEST(RankSteps, GetTheChiefsVariables) {
  run_ranks(3, [](ThreadRank me) {
    Solver solver{.steps = me.rank() + 7};
    cr::MonitoredSession session{cr::Parallel{step_of(solver), me}};
    EXPECT_EQ(solver.steps, 7);
    session.close();
  });
}

TEST(RankSteps, ThatChangeAVariableOnOneRankAreFound) {
  std::vector<std::string> errors(2);
  run_ranks(2, [&](ThreadRank me) {
    Solver solver;
    try {
      cr::run(
          cr::Parallel{
              cr::StepExecutor{[&](auto&) { solver.steps += 1 + me.rank(); }, cr::variable<"steps">(solver.steps)}, me},
          cr::HookChain{cr::StopAtStep{.last_step = 4}, cr::SameOnAllRanks{.every_steps = 2}});
    } catch (const cr::RanksDisagreeError& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  EXPECT_NE(errors[0].find("at step 2 variable 'steps' differs between ranks 0 and 1"), std::string::npos) << errors[0];
  EXPECT_EQ(errors[0], errors[1]);
}

}  // namespace ranks_step_test
