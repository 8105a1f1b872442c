// SPDX-License-Identifier: Apache-2.0
// State of step functions that differs between ranks: one checkpoint has all of it, of one step, and a restart goes on
// with the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/checkpoint/monitored_training_session.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/moving_average.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/same_on_all_ranks.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/io/file_writer_cache.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "../io/temporary_folder.hpp"

namespace ranks_step_state_test {

namespace cr = crochet;
namespace fs = std::filesystem;
using namespace cr::literals;
using cr::testing::run_ranks;
using cr::testing::ThreadRank;
using crochet::test::TemporaryFolder;

constexpr std::int64_t rows = 13, columns = 3;

/// A field of 13 rows, of which each rank has some, and a random generator of each rank. The field has the same bits on
/// any number of ranks, as long as no random numbers are added.
struct Solver {
  Solver(int rank, int size, bool noisy)
      : first(rows * rank / size),
        here(rows * (rank + 1) / size - first),
        u(static_cast<std::size_t>(here * columns)),
        random(rank + 1),
        draws(noisy) {
    for (std::size_t i = 0; i < u.size(); ++i)
      u[i] = static_cast<double>(first * columns + static_cast<std::int64_t>(i));
  }
  void advance(auto& out) {
    std::int64_t sum = 0;
    for (const double x : u) sum += static_cast<std::int64_t>(x * 1024);
    const double mean = static_cast<double>(out.sum_over_ranks(sum)) / (1024 * rows * columns);
    random = (random * 1103515245 + 12345) % 2147483648;
    const double noise = draws ? static_cast<double>(random) * 1e-9 : 0;
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += 0.125 * (mean - u[i]) + noise;
    time += 0.5;
  }

  std::int64_t first, here;
  std::vector<double> u;
  double time = 0;
  std::int64_t random;
  bool draws;
};
/// For `variable_of_rank<"random">`: all ranks of a restart are as many.
auto step_of(Solver& s) {
  return cr::StepExecutor{[&s](auto& out) { s.advance(out); }, cr::variable<"time">(s.time),
                          cr::variable_by_rows<"u">(s.u, {s.here, columns}), cr::variable_of_rank<"random">(s.random)};
}
/// All state is the same on all ranks or divided by rows.
auto elastic_step_of(Solver& s) {
  return cr::StepExecutor{[&s](auto& out) { s.advance(out); }, cr::variable<"time">(s.time),
                          cr::variable_by_rows<"u">(s.u, {s.here, columns})};
}

/// The state of all ranks after a run.
struct State {
  std::vector<double> u;
  std::vector<double> times;
  std::vector<std::int64_t> randoms;
  bool operator==(const State&) const = default;
};

cr::Saver<> quiet_saver(const fs::path& folder) {
  return cr::Saver<>{folder, {.say = [](std::string_view) {}}};
}

/// Runs body(rank, solver) on `size` ranks; returns the state behind it.
template <class Body>
State solve(int size, bool noisy, Body body) {
  std::vector<std::optional<Solver>> solvers(static_cast<std::size_t>(size));
  run_ranks(size, [&](ThreadRank me) {
    auto& solver = solvers[static_cast<std::size_t>(me.rank())];
    solver.emplace(me.rank(), size, noisy);
    body(me, *solver);
  });
  State all;
  for (const auto& s : solvers) {
    all.u.insert(all.u.end(), s->u.begin(), s->u.end());
    all.times.push_back(s->time);
    all.randoms.push_back(s->random);
  }
  return all;
}

/// Goes on from the checkpoints of a folder to `last_step`.
template <class Step>
State go_on(int size, const fs::path& folder, std::int64_t last_step, bool noisy, Step step_for) {
  return solve(size, noisy, [&](ThreadRank me, Solver& solver) {
    const auto saver = quiet_saver(folder);
    cr::MonitoredSession session{
        cr::Parallel{step_for(solver), me},
        cr::HookChain{cr::StopAtStep{.last_step = last_step}, cr::CheckpointSaver{saver, {.save_steps = 3}}},
        cr::restore_latest(saver)};
    cr::run_session(session, [](auto& s) {
      while (!s.should_stop()) s.run();
    });
  });
}
const auto with_random = [](Solver& s) { return step_of(s); };
const auto by_rows_only = [](Solver& s) { return elastic_step_of(s); };

TEST(RankStepState, GoesOnWithTheSameBitsOnAsManyRanks) {
  for (const int size : {1, 2, 3, 4}) {
    const TemporaryFolder undisturbed, stopped;
    const State expected = go_on(size, undisturbed / "c", 20, true, with_random);
    for (const std::int64_t stop : {1, 8, 15, 20}) {
      const State now = go_on(size, stopped / "c", stop, true, with_random);
      EXPECT_EQ(now.times, std::vector<double>(static_cast<std::size_t>(size), 0.5 * static_cast<double>(stop)));
    }
    EXPECT_EQ(go_on(size, stopped / "c", 20, true, with_random), expected);
  }
}

TEST(RankStepState, DividedByRowsGoesOnWithAnyNumberOfRanks) {
  const TemporaryFolder undisturbed, moved;
  const State expected = go_on(1, undisturbed / "c", 16, false, by_rows_only);
  std::int64_t stop = 0;
  for (const int size : {3, 1, 4, 2, 5}) {
    const State now = go_on(size, moved / "c", stop += 3, false, by_rows_only);
    EXPECT_EQ(now.u.size(), static_cast<std::size_t>(rows * columns));
  }
  EXPECT_EQ(go_on(2, moved / "c", 16, false, by_rows_only).u, expected.u);
}

TEST(RankStepState, IsThatOfAProgramOnOneMachine) {
  const TemporaryFolder test;
  Solver alone(0, 1, false);
  {
    const auto saver = quiet_saver(test / "c");
    cr::run(cr::Parallel{step_of(alone), cr::Solo{}},
            cr::HookChain{cr::StopAtStep{.last_step = 5}, cr::CheckpointSaver{saver, {.save_steps = 5}}});
  }
  const State one = go_on(1, test / "c", 5, false, with_random);
  EXPECT_EQ(one.u, alone.u);
  EXPECT_EQ(one.randoms[0], alone.random);
}

/// The errors of `size` ranks that begin with the checkpoints of a folder.
template <class Step>
std::vector<std::string> errors_of(int size, const fs::path& folder, Step step_for) {
  std::vector<std::string> errors(static_cast<std::size_t>(size));
  solve(size, false, [&](ThreadRank me, Solver& solver) {
    const auto saver = quiet_saver(folder);
    try {
      cr::MonitoredSession session{cr::Parallel{step_for(solver), me}, cr::HookChain{}, cr::restore_latest(saver)};
      session.close();
    } catch (const std::exception& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  return errors;
}

TEST(RankStepState, OfEachRankNeedsAsManyRanks) {
  const TemporaryFolder test;
  go_on(2, test / "c", 4, true, with_random);
  for (const int size : {1, 3}) {
    const auto errors = errors_of(size, test / "c", with_random);
    EXPECT_NE(errors[0].find(size == 1 ? "random int64 [] is not in it" : "random/rank_0_of_3 int64 [] is not in it"),
              std::string::npos)
        << errors[0];
    EXPECT_NE(errors[0].find("random/rank_0_of_2: each rank has its own, so restore it on as many ranks"),
              std::string::npos)
        << errors[0];
    for (const auto& e : errors) EXPECT_NE(e.find("is not a checkpoint of this model"), std::string::npos) << e;
  }
}

TEST(RankStepState, WithOtherRowsIsRefused) {
  const TemporaryFolder test;
  go_on(2, test / "c", 4, false, by_rows_only);
  const auto errors = errors_of(3, test / "c", [](Solver& s) {
    s.u.resize(static_cast<std::size_t>(2 * columns));
    return cr::StepExecutor{[](auto&) {}, cr::variable<"time">(s.time), cr::variable_by_rows<"u">(s.u, {2, columns})};
  });
  EXPECT_NE(errors[0].find("u is float64 [13, 3] in it and float64 [6, 3] here"), std::string::npos) << errors[0];
  EXPECT_NE(errors[2].find("rank 0 failed"), std::string::npos) << errors[2];
}

/// The errors of three ranks whose parts have these shapes, when the first checkpoint is due.
std::vector<std::string> errors_of_parts(std::vector<std::int64_t> columns_of, std::vector<std::size_t> sizes) {
  const TemporaryFolder test;
  std::vector<std::string> errors(3);
  run_ranks(3, [&](ThreadRank me) {
    const auto r = static_cast<std::size_t>(me.rank());
    std::vector<double> u(sizes[r]);
    const auto saver = quiet_saver(test / "c");
    cr::StepExecutor step{[](auto&) {}, cr::variable_by_rows<"u">(u, {2, columns_of[r]})};
    try {
      cr::run(cr::Parallel{step, me},
              cr::HookChain{cr::StopAtStep{.last_step = 2}, cr::CheckpointSaver{saver, {.save_steps = 1}}});
    } catch (const std::exception& e) {
      errors[r] = e.what();
    }
  });
  EXPECT_FALSE(fs::exists(test / "c" / "checkpoint"));
  return errors;
}

TEST(RankStepState, WhosePartsDoNotFitIsAnErrorOfAll) {
  const auto differ = errors_of_parts({3, 3, 4}, {6, 6, 8});
  EXPECT_NE(differ[0].find("the parts of \"u\" on ranks 0 and 2 differ in extent 1"), std::string::npos) << differ[0];
  const auto wrong = errors_of_parts({3, 3, 3}, {6, 5, 6});
  EXPECT_NE(wrong[1].find("\"u\" has 5 elements, but the extents of its shape make 6"), std::string::npos) << wrong[1];
  EXPECT_NE(wrong[0].find("rank"), std::string::npos) << wrong[0];
  for (const auto& errors : {differ, wrong}) EXPECT_NE(errors[2], "");
}

/// Reads and changes the state of all ranks, on one.
struct Doubles {
  void after_run(auto& run, const auto& /*values*/) {
    if (run.step() != 2) return;
    run.session().executor().for_each_variable([&]<class T>(std::string_view name, std::span<T> elements, auto) {
      names->emplace_back(name);
      if (name == "time") return false;
      for (T& x : elements) x = static_cast<T>(2 * x);
      return true;
    });
  }
  std::vector<std::string>* names;
};

TEST(RankStepState, IsReadAndWrittenByAHookOfOneRank) {
  for (const int size : {2, 3}) {
    std::vector<std::string> names;
    const State plain = solve(size, false, [](ThreadRank me, Solver& s) {
      cr::run(cr::Parallel{step_of(s), me}, cr::HookChain{cr::StopAtStep{.last_step = 2}});
    });
    const State doubled = solve(size, false, [&](ThreadRank me, Solver& s) {
      cr::run(cr::Parallel{step_of(s), me},
              cr::HookChain{cr::OnRank<1, Doubles>{{&names}}, cr::StopAtStep{.last_step = 2}});
    });
    for (std::size_t i = 0; i < plain.u.size(); ++i) EXPECT_EQ(doubled.u[i], 2 * plain.u[i]);
    for (std::size_t r = 0; r < plain.randoms.size(); ++r) EXPECT_EQ(doubled.randoms[r], 2 * plain.randoms[r]);
    EXPECT_EQ(names.front(), "time");
    EXPECT_EQ(names.back(), "random/rank_" + std::to_string(size - 1) + "_of_" + std::to_string(size));
  }
}

// Each rank reads all of it, and all ranks the same.
TEST(RankStepState, OfAHookOnEveryRankIsTheWhole) {
  solve(3, false, [](ThreadRank me, Solver& s) {
    const cr::WeightAverages averages;
    cr::run(cr::Parallel{elastic_step_of(s), me},
            cr::HookChain{cr::MovingAverage{.averages = averages, .decay = 0.5}, cr::StopAtStep{.last_step = 3},
                          cr::SameOnAllRanks{.every_steps = 1}});
    EXPECT_EQ(averages.names(), (std::vector<std::string>{"time", "u"}));
    EXPECT_EQ(averages.updates(), 3);
  });
}

/// Halves all variables after the second step.
struct Halves {
  using handles = cr::Phases<cr::phase::after_run>;
  void after_run(auto& run, const auto&) const {
    if (run.step() != 2) return;
    run.session().executor().for_each_variable([](std::string_view, auto elements, auto) {
      if constexpr (std::is_floating_point_v<typename decltype(elements)::element_type>) {
        for (auto& x : elements) x *= 0.5;
      }
    });
  }
};
TEST(RankStepState, IsWrittenOnceByAHookOnEveryRank) {
  const auto halved = [](int size) {
    return solve(size, false, [](ThreadRank me, Solver& s) {
      cr::run(cr::Parallel{elastic_step_of(s), me}, cr::HookChain{Halves{}, cr::StopAtStep{.last_step = 3}});
    });
  };
  const State alone = halved(1);
  EXPECT_EQ(halved(2).u, alone.u);
  EXPECT_EQ(halved(3).u, alone.u);
}
/// The averages are the weights during a pass, and the pass changes nothing.
TEST(RankStepState, IsSwappedWithItsAveragesOnEveryRank) {
  const auto swapped = [](int size) {
    return solve(size, false, [](ThreadRank me, Solver& s) {
      const cr::WeightAverages averages;
      cr::MonitoredSession session{cr::Parallel{elastic_step_of(s), me},
                                   cr::HookChain{cr::MovingAverage{.averages = averages, .decay = 0.5}}};
      for (int step = 0; step < 3; ++step) session.run();
      for (int swap = 0; swap < 2; ++swap) averages.swap();
      session.close();
    });
  };
  EXPECT_EQ(swapped(3).u, swapped(1).u);
}

/// The errors of three ranks, of which one throws behind the exchange of its third step. `Error`: what it throws.
template <class Error, class Creator>
std::vector<std::string> errors_of_a_step(State& end, Creator creator_for) {
  std::vector<std::string> errors(3);
  bool thrown = false;
  end = solve(3, true, [&](ThreadRank me, Solver& s) {
    cr::StepExecutor step{[&](auto& out) {
                            const bool throws = me.rank() == 1 && s.time == 1 && !thrown;
                            s.advance(out);
                            if (throws) {
                              thrown = true;
                              throw Error("the machine is gone");
                            }
                          },
                          cr::variable<"time">(s.time), cr::variable_by_rows<"u">(s.u, {s.here, columns}),
                          cr::variable_of_rank<"random">(s.random)};
    try {
      cr::MonitoredSession session{cr::Parallel{step, me}, creator_for.chain(), creator_for.creator(),
                                   cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
      cr::run_session(session, [](auto& each) {
        while (!each.should_stop()) each.run();
      });
    } catch (const std::exception& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  return errors;
}
struct FromCheckpoints {
  fs::path folder;
  auto chain() const {
    return cr::HookChain{cr::StopAtStep{.last_step = 7}, cr::CheckpointSaver{quiet_saver(folder), {.save_steps = 2}}};
  }
  auto creator() const { return cr::restore_latest(quiet_saver(folder)); }
};
struct WithoutCheckpoints {
  auto chain() const { return cr::HookChain{cr::StopAtStep{.last_step = 7}}; }
  auto creator() const { return cr::InitializeCreator{}; }
};

TEST(RankStepState, IsRecoveredFromACheckpoint) {
  const TemporaryFolder test;
  State recovered;
  const auto errors = errors_of_a_step<cr::AbortedError>(recovered, FromCheckpoints{test / "c"});
  EXPECT_EQ(errors, std::vector<std::string>(3));
  EXPECT_EQ(recovered, solve(3, true, [](ThreadRank me, Solver& s) {
              cr::run(cr::Parallel{step_of(s), me}, cr::HookChain{cr::StopAtStep{.last_step = 7}});
            }));
}

TEST(RankStepState, OfTwoStepsIsNotGoneOnWith) {
  State end;
  const auto lost = errors_of_a_step<cr::AbortedError>(end, WithoutCheckpoints{});
  EXPECT_NE(lost[0].find("ranks 0 and 1 have lost their session at steps 3 and 2, and their states differ"),
            std::string::npos)
      << lost[0];
  EXPECT_EQ(lost, std::vector<std::string>(3, lost[0]));

  const auto torn = errors_of_a_step<cr::StopIteration>(end, WithoutCheckpoints{});
  EXPECT_NE(torn[0].find("the step function has thrown on some ranks in a step that others have made"),
            std::string::npos)
      << torn[0];
  EXPECT_EQ(torn, std::vector<std::string>(3, torn[0]));

  const TemporaryFolder test;
  const auto saved = errors_of_a_step<cr::StopIteration>(end, FromCheckpoints{test / "c"});
  for (const std::string& e : saved) EXPECT_NE(e.find("has thrown on some ranks"), std::string::npos) << e;
}

TEST(RankStepState, IsNotReadOutsideASession) {
  solve(2, false, [](ThreadRank me, Solver& s) {
    cr::Parallel step{step_of(s), me};
    const auto read = [&] { step.for_each_variable([](std::string_view, auto, auto) { return false; }); };
    EXPECT_THROW(read(), cr::LogicError);
    cr::MonitoredSession session{step, cr::HookChain{}};
    read();  // on all ranks
    session.close();
    EXPECT_THROW(read(), cr::LogicError);
  });
}

TEST(RankStepState, IsSavedByAMonitoredTrainingSessionAndInTheBackground) {
  const TemporaryFolder test;
  const auto run_to = [&](std::int64_t last_step) {
    return solve(3, true, [&](ThreadRank me, Solver& s) {
      cr::MonitoredTrainingSession session{cr::Parallel{step_of(s), me},
                                           cr::HookChain{cr::StopAtStep{.last_step = last_step}},
                                           {.checkpoint_dir = test / "m", .save_checkpoint_steps = 2}};
      cr::run_session(session, [](auto& each) {
        while (!each.should_stop()) each.run();
      });
    });
  };
  const State expected = solve(3, true, [](ThreadRank me, Solver& s) {
    cr::run(cr::Parallel{step_of(s), me}, cr::HookChain{cr::StopAtStep{.last_step = 9}});
  });
  run_to(5);
  EXPECT_EQ(run_to(9), expected);
  cr::io::FileWriterCache::clear();  // before the folder is removed

  const auto in_background = [&](std::int64_t last_step) {
    return solve(3, true, [&](ThreadRank me, Solver& s) {
      const auto saver = quiet_saver(test / "a");
      cr::MonitoredSession session{cr::Parallel{step_of(s), me},
                                   cr::HookChain{cr::StopAtStep{.last_step = last_step},
                                                 cr::CheckpointSaver{cr::AsyncSaver{saver}, {.save_steps = 1}}},
                                   cr::restore_latest(saver)};
      cr::run_session(session, [](auto& each) {
        while (!each.should_stop()) each.run();
      });
    });
  };
  in_background(5);
  EXPECT_EQ(in_background(9), expected);
}

}  // namespace ranks_step_state_test
