// SPDX-License-Identifier: Apache-2.0
// Sessions on several ranks: whatever one rank does alone, all end or recover at the same step.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/data/data_position.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/evaluate.hpp>
#include <crochet/hooks/nan_tensor.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/same_on_all_ranks.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/stop_when.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "../executor/device_under_test.hpp"

namespace ranks_session_test {

namespace cr = crochet;
using namespace cr::literals;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto w = g.variable<float>("w", {3, 1}, cr::ones());
    const auto loss = g.name("loss", cr::reduce_mean(cr::square(cr::matmul(x, w))));
    g.name("train", cr::minimize(loss, cr::SGD{0.01}));
    g.name("other", cr::minimize(cr::reduce_sum(cr::square(w)), cr::SGD{0.01}));
  }
};

/// What a rank does alone.
enum class Does { nothing, throws, is_preempted, stops };
enum class At { begin, create, before_run, after_run, end };

struct Alone {
  using handles = cr::Phases<cr::phase::begin, cr::phase::after_create_session, cr::phase::before_run,
                             cr::phase::after_run, cr::phase::end, cr::phase::on_error>;
  void begin() { act(At::begin, 0); }
  void after_create_session(auto& session, auto&) { act(At::create, session.step()); }
  cr::RunArgs<> before_run(auto& run) {
    act(At::before_run, run.step());
    return {};
  }
  void after_run(auto& run, auto&) {
    if (does == Does::stops && at == At::after_run && run.step() == step) run.request_stop("enough");
    act(At::after_run, run.step());
  }
  void end(auto& session) {
    *ended = session.step();
    act(At::end, step);
  }
  void on_error(std::exception_ptr) { ++*errors; }

  void act(At now, std::int64_t here) {
    if (now != at || here != step || does == Does::nothing || does == Does::stops || used) return;
    used = true;
    if (does == Does::throws) throw std::runtime_error("out of paper");
    throw cr::UnavailableError("the machine is gone");
  }

  Does does = Does::nothing;
  At at = At::before_run;
  std::int64_t step = 0;
  std::int64_t* ended;
  int* errors;
  bool used = false;
};

struct Outcome {
  std::string error;
  std::int64_t step = -1, ended = -1;
  int errors = 0, recoveries = 0;
  cr::StopReason why;
  std::vector<float> w;
};

/// Trains on `size` ranks, of which `who` does something alone.
std::vector<Outcome> train(int size, int who, Does does, At at, std::int64_t step, std::int64_t data_ends_at = 1000) {
  std::vector<Outcome> all(static_cast<std::size_t>(size));
  cr::testing::run_ranks(size, [&](cr::testing::ThreadRank me) {
    Outcome& out = all[static_cast<std::size_t>(me.rank())];
    const bool acts = me.rank() == who;
    std::vector<float> rows{1, 2, static_cast<float>(me.rank())};
    try {
      cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                   cr::HookChain{Alone{acts ? does : Does::nothing, at, step, &out.ended, &out.errors},
                                                 cr::StopAtStep{.last_step = 10}},
                                   cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
      try {
        cr::run_session(session, [&](auto& s) {
          while (!s.should_stop()) {
            if (acts && s.step() == data_ends_at) throw cr::OutOfRangeError();
            s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
          }
        });
      } catch (const std::exception& e) {
        out.error = e.what();
      }
      out.step = session.step();
      out.why = session.stop_reason();
      out.recoveries = session.recoveries();
      std::as_const(session.executor()).for_each_variable([&](std::string_view name, auto elements, auto) {
        if (name == "w")
          for (const auto e : elements) out.w.push_back(static_cast<float>(e));
        return true;
      });
    } catch (const std::exception& e) {
      out.error = e.what();
    }
  });
  return all;
}

void expect_equal_ends(const std::vector<Outcome>& all) {
  for (const Outcome& o : all) {
    EXPECT_EQ(o.step, all[0].step);
    EXPECT_EQ(o.w, all[0].w);
    EXPECT_EQ(o.recoveries, all[0].recoveries);
    EXPECT_EQ(o.error.empty(), all[0].error.empty()) << o.error;
  }
}

TEST(RankSessions, StopTogether) {
  const auto all = train(3, -1, Does::nothing, At::begin, 0);
  expect_equal_ends(all);
  EXPECT_EQ(all[0].step, 10);
  EXPECT_EQ(all[2].ended, 10);
}

TEST(RankSessions, AStopOfOneRankStopsAllAtTheSameStep) {
  const auto all = train(3, 1, Does::stops, At::after_run, 4);
  expect_equal_ends(all);
  for (const Outcome& o : all) EXPECT_EQ(o.ended, 4);
  EXPECT_EQ(all[1].why.reason, "enough");
  EXPECT_EQ(all[2].why.reason, "enough");
  EXPECT_EQ(all[2].why.hook.substr(0, 8), "rank 1: ");
}

TEST(RankSessions, TheEndOfOneRanksDataIsTheEndOfAll) {
  const auto all = train(3, 2, Does::nothing, At::begin, 0, 6);
  expect_equal_ends(all);
  for (const Outcome& o : all) EXPECT_EQ(o.ended, 6);
}

TEST(RankSessions, TheReturnOfOneRanksLoopEndsAllAndIsTheirReason) {
  std::vector<cr::StopReason> why(3);
  cr::testing::run_ranks(3, [&](cr::testing::ThreadRank me) {
    std::vector<float> rows{1, 2, 3};
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(), cr::HookChain{}};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop() && !(me.rank() == 1 && s.step() == 2))
        s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
    });
    EXPECT_EQ(session.step(), 2);
    why[static_cast<std::size_t>(me.rank())] = session.stop_reason();
  });
  for (const std::size_t r : {0U, 2U}) EXPECT_EQ(to_string(why[r]), "rank 1: its loop returned");
}

class AFailureOfOneRank : public testing::TestWithParam<At> {};
INSTANTIATE_TEST_SUITE_P(Phases, AFailureOfOneRank,
                         testing::Values(At::begin, At::create, At::before_run, At::after_run, At::end));

TEST_P(AFailureOfOneRank, FailsAll) {
  const bool early = GetParam() == At::begin || GetParam() == At::create;
  for (int who = 0; who < 3; ++who) {
    const auto all = train(3, who, Does::throws, GetParam(), early ? 0 : 3);
    for (int r = 0; r < 3; ++r) {
      const Outcome& o = all[static_cast<std::size_t>(r)];
      EXPECT_NE(o.error.find("out of paper"), std::string::npos) << o.error;
      if (r != who) {
        EXPECT_NE(o.error.find("rank " + std::to_string(who) + " failed"), std::string::npos) << o.error;
      }
      if (!early) {
        EXPECT_EQ(o.step, all[0].step);
      }
      if (GetParam() != At::create) {  // the rank that fails has no session, and the others have made no step
        EXPECT_EQ(o.w, all[0].w);
      }
    }
  }
}

TEST_P(AFailureOfOneRank, ThatCanBeRecoveredIsRecoveredByAll) {
  if (GetParam() == At::begin || GetParam() == At::end) return;  // phases without recovery
  for (int who = 0; who < 3; ++who) {
    const auto all = train(3, who, Does::is_preempted, GetParam(), GetParam() == At::create ? 0 : 3);
    expect_equal_ends(all);
    EXPECT_EQ(all[0].error, "");
    EXPECT_EQ(all[0].recoveries, 1);
    EXPECT_EQ(all[0].ended, 10);
  }
}

struct SetsVariables {
  void create_session(auto& session, cr::Coordinator&) const {
    session.executor().initialize();
    for (float& w : session.executor().variable(cr::Name<"w">{})) w = value;
  }
  float value;
};

TEST(RankSessions, GetTheChiefsVariables) {
  std::vector<float> found(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                 cr::HookChain<>{}, SetsVariables{static_cast<float>(me.rank() + 7)}};
    found[static_cast<std::size_t>(me.rank())] = session.executor().variable(cr::Name<"w">{})[2];
    session.close();
  });
  EXPECT_EQ(found, (std::vector<float>{7, 7}));
}

struct FailsAtThree {
  int rank;
  void after_run(auto& run, const auto&) const {
    if (rank == 1 && run.step() == 3) throw cr::IoError("the disk is gone");
  }
};
TEST(RankSessions, ALoopWithoutRunSessionPassesOnTheErrorThatEndsIt) {
  std::vector<std::string> errors(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    std::vector<float> rows{1, 2, 3};
    try {
      cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                   cr::HookChain{FailsAtThree{me.rank()}, cr::StopAtStep{.last_step = 10}}};
      while (!session.should_stop()) {
        session.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
      }
      session.close();
    } catch (const std::exception& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  EXPECT_EQ(errors[1], "the disk is gone");
  EXPECT_NE(errors[0].find("rank 1 failed: the disk is gone"), std::string::npos) << errors[0];
}

TEST(RankSessions, RefuseDifferentRuns) {
  std::vector<std::string> errors(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>()};
    std::vector<float> rows{1, 2, 3};
    try {
      cr::run_session(session, [&](auto& s) {
        const auto x = cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}});
        if (me.rank() == 0) {
          s.run("train"_n, x);
        } else {
          s.run(cr::fetches<"loss">, x);
        }
      });
    } catch (const cr::RanksDisagreeError& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  EXPECT_NE(errors[0], "");
  EXPECT_EQ(errors[0], errors[1]);
}

TEST(RankSessions, ASessionThatIsNotClosedIsAFailure) {
  std::string error;
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>()};
    if (me.rank() == 1) return;
    std::vector<float> rows{1, 2, 3};
    try {
      cr::run_session(session, [&](auto& s) {
        s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
      });
    } catch (const cr::PeerFailedError& e) {
      error = e.what();
    }
  });
  EXPECT_NE(error.find("rank 1 failed: a session was destroyed"), std::string::npos) << error;
}

/// Its probe cannot begin to record a run, for example because the disk is full.
struct Records {
  struct Probe {
    static void on_run_begin(const cr::ProbedRun&) { throw std::runtime_error("the disk is full"); }
  };
  using handles = cr::Phases<cr::phase::begin>;
  using probe = Probe;
  static void begin() {}
  Probe* due_probe() { return is_due ? &records : nullptr; }

  bool is_due;
  Probe records{};
};
/// Counts what it is shown of runs whose beginning it has not seen.
struct Watches {
  struct Probe {
    void on_run_begin(const cr::ProbedRun&) { begun = true; }
    template <std::size_t I>
    void on_node_begin(int) {
      *early += begun ? 0 : 1;
    }
    bool begun = false;
    int* early = nullptr;
  };
  using handles = cr::Phases<cr::phase::begin>;
  using probe = Probe;
  static void begin() {}
  Probe* due_probe() { return &watches; }

  Probe watches{};
};

// The other ranks are in the exchanges of the run, so this one makes the run before it fails.
TEST(RankSessions, AProbeThatFailsOnOneRankFailsOnAll) {
  std::vector<std::string> errors(3);
  std::vector<int> early(3);
  cr::testing::run_ranks(3, [&](cr::testing::ThreadRank me) {
    std::vector<float> rows{1, 2, 3};
    try {
      cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                   cr::HookChain{cr::StopAtStep{.last_step = 10}, Records{me.rank() == 1},
                                                 Watches{{.early = &early[static_cast<std::size_t>(me.rank())]}}}};
      cr::run_session(session, [&](auto& s) {
        while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
      });
    } catch (const std::exception& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  EXPECT_EQ(errors[1], "the disk is full");
  EXPECT_EQ(errors[0], "crochet: rank 1 failed: the disk is full");
  EXPECT_EQ(errors[2], errors[0]);
  EXPECT_EQ(early, std::vector<int>(3)) << "probes behind one that fails are shown nothing of the run";
}

struct HasNoState {
  using handles = cr::Phases<cr::phase::after_run, cr::phase::save_state, cr::phase::load_state>;
  void after_run(auto& /*run*/, const auto& /*values*/) const {}
  void save_state(auto& /*out*/) const { throw std::runtime_error("no state today"); }
  void load_state(auto& /*in*/) const {}
};
TEST(RankSessions, AStateThatTheChiefCannotSaveFailsAll) {
  std::vector<std::string> errors(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    try {
      cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                   cr::HookChain{HasNoState{}}};
    } catch (const std::exception& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  EXPECT_EQ(errors[0], "no state today");
  EXPECT_EQ(errors[1], "crochet: rank 0 failed: no state today");
}

// A device checks such values behind each run, and skips the runs behind one that fails. Here it may not: the others
// run.
TEST(RankSessions, AValueOfTheWholeBatchFailsOrStopsAllAtTheSameStep) {
  const auto train_with = [](auto hook, float at_step_3) {
    std::vector<std::string> ends(3);
    cr::testing::run_ranks(3, [&](cr::testing::ThreadRank me) {
      std::string& end = ends[static_cast<std::size_t>(me.rank())];
      cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                   cr::HookChain{hook, cr::StopAtStep{.last_step = 10}}};
      try {
        cr::run_session(session, [&](auto& s) {
          while (!s.should_stop()) {
            const float last = s.step() == 2 && me.rank() == 1 ? at_step_3 : 1;
            std::vector<float> rows{1, 1, last};
            s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
          }
        });
      } catch (const std::exception& e) {
        end = e.what();
      }
      end += " (" + std::to_string(session.step()) + ")";
    });
    return ends;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string& end : train_with(cr::NanTensor<"loss">{}, nan)) {
    EXPECT_NE(end.find("loss is NaN at step 3"), std::string::npos) << end;
  }
  for (const std::string& end : train_with(cr::StopWhen<"loss">{.above = 1e4}, 1e4F)) {
    EXPECT_EQ(end, " (3)");
  }
}

/// A device that one rank cannot open.
struct MissingOnRank1 : cr::DeviceUnderTest {
  int rank = 0;
  [[nodiscard]] auto settings_of_rank(cr::kernel::Exchange* exchange) const {
    if (rank == 1) throw cr::DeviceError("there is no GPU 1");
    return cr::DeviceUnderTest::settings_of_rank(exchange);
  }
};
TEST(RankSessions, ADeviceThatOneRankCannotOpenFailsAll) {
  std::vector<std::string> errors(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    try {
      MissingOnRank1 device;
      device.rank = me.rank();
      cr::MonitoredSession session{cr::Parallel{device, me}.compile<Model>(), cr::HookChain{}};
    } catch (const std::exception& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  EXPECT_EQ(errors[1], "there is no GPU 1");
  EXPECT_EQ(errors[0], "crochet: rank 1 failed: there is no GPU 1");
}

/// Counts the ranks on which it runs.
struct Counts {
  using handles = cr::Phases<cr::phase::begin, cr::phase::before_run, cr::phase::after_run, cr::phase::end>;
  void begin() { ++*calls; }
  auto before_run(auto&) { return cr::RunArgs{cr::fetches<"loss">}; }
  void after_run(auto&, auto& values) {
    *loss = values[cr::Name<"loss">{}];
    ++*calls;
  }
  void end(auto&) { ++*calls; }
  int* calls;
  float* loss;
};
struct CountsOnChief : Counts {
  static constexpr auto runs_on = cr::RunsOn::chief;
};

TEST(RankSessions, CallEachHookInItsPlace) {
  struct Seen {
    int every = 0, chief = 0, second = 0, each = 0;
    float loss = 0, chiefs_loss = 0, seconds_loss = 0;
  };
  std::vector<Seen> all(3);
  cr::testing::run_ranks(3, [&](cr::testing::ThreadRank me) {
    Seen& seen = all[static_cast<std::size_t>(me.rank())];
    cr::HookChain chain{Counts{&seen.every, &seen.loss}, CountsOnChief{{&seen.chief, &seen.chiefs_loss}},
                        cr::OnRank<1, Counts>{{&seen.second, &seen.seconds_loss}},
                        cr::OnEveryRank<CountsOnChief>{{{&seen.each, &seen.loss}}}, cr::StopAtStep{.last_step = 4}};
    std::vector<float> rows{1, 2, static_cast<float>(me.rank())};
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                 std::move(chain)};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
    });
  });
  for (int r = 0; r < 3; ++r) {
    const Seen& seen = all[static_cast<std::size_t>(r)];
    EXPECT_EQ(seen.every, 6);
    EXPECT_EQ(seen.each, 6);
    EXPECT_EQ(seen.chief, r == 0 ? 6 : 0);
    EXPECT_EQ(seen.second, r == 1 ? 6 : 0);
    EXPECT_EQ(seen.loss, all[0].loss);  // of the whole batch
  }
  EXPECT_EQ(all[0].chiefs_loss, all[0].loss);
  EXPECT_EQ(all[1].seconds_loss, all[0].loss);
}

TEST(RankSessions, PlaceTheHooksOfNestedChains) {
  std::vector<std::pair<int, int>> calls(3);
  std::vector<float> losses(6);
  cr::testing::run_ranks(3, [&](cr::testing::ThreadRank me) {
    const auto r = static_cast<std::size_t>(me.rank());
    std::vector<float> rows{1, 2, static_cast<float>(me.rank())};
    const auto next = [&] { return cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}); };
    cr::train<Model>(cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}, next,
                     cr::HookChain{cr::StopAtStep{.last_step = 4}, cr::HookChain<>{},
                                   cr::HookChain{Counts{&calls[r].first, &losses[r]},
                                                 CountsOnChief{{&calls[r].second, &losses[r + 3]}}}});
  });
  EXPECT_EQ(calls, (std::vector<std::pair<int, int>>{{6, 6}, {6, 0}, {6, 0}}));
}

TEST(RankSessions, WriteTheLineOfAnEvaluationOnce) {
  std::vector<std::vector<std::string>> lines(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    std::vector<float> rows{1, 2, static_cast<float>(me.rank())};
    const auto feeds = cr::feeds(cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
    auto& mine = lines[static_cast<std::size_t>(me.rank())];
    const auto keep = [&mine](std::string_view line) { mine.emplace_back(line.substr(0, 13)); };
    cr::Evaluate passes{cr::fetches<"loss">, std::vector{feeds}, {.every_steps = 2, .at_end = false, .sink = keep}};
    cr::train<Model>(
        cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}, [&] { return feeds; },
        cr::HookChain{cr::StopAtStep{.last_step = 4}, std::move(passes)});
  });
  EXPECT_EQ(lines[0], (std::vector<std::string>{"step 2: loss ", "step 4: loss "}));
  EXPECT_EQ(lines[1], std::vector<std::string>{});
}

/// A source of batches that counts.
struct Counter {
  cr::DataPosition position() const { return {0, taken}; }
  void seek(cr::DataPosition to) { taken = to.batch; }
  std::int64_t taken = 0;
};
/// A writer of state that keeps the number of the batch.
struct Batch {
  void put(std::string_view key, std::int64_t value) {
    if (key == "batch") number = value;
  }
  std::int64_t number = -1;
};
struct SavesAtEnd {
  using handles = cr::Phases<cr::phase::end>;
  void end(auto&) {
    Batch out;
    pipeline().save_state(out);
    *batch = out.number;
  }
  std::function<cr::CheckpointInputPipeline<Counter>&()> pipeline;
  std::int64_t* batch;
};

TEST(RankSessions, ABatchForARunThatIsNotMadeIsTakenAgain) {
  std::vector<std::int64_t> saved(2), taken(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    const auto r = static_cast<std::size_t>(me.rank());
    Counter data;
    cr::CheckpointInputPipeline<Counter>* hook = nullptr;
    std::vector<float> rows{1, 2, 3};
    const auto pipeline = [&]() -> cr::CheckpointInputPipeline<Counter>& { return *hook; };
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                 cr::HookChain{cr::CheckpointInputPipeline{data}, SavesAtEnd{pipeline, &saved[r]}}};
    hook = &session.hooks().get<cr::CheckpointInputPipeline<Counter>>();
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) {
        if (me.rank() == 1 && s.step() == 3) return;  // rank 0 has taken its batch by then, or will
        ++data.taken;
        s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
      }
    });
    taken[r] = data.taken;
  });
  EXPECT_EQ(taken, (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(saved, (std::vector<std::int64_t>{3, 3}));
}

TEST(RankSessions, FindAVariableThatDiffers) {
  std::vector<std::string> errors(3);
  for (const bool changes : {false, true}) {
    cr::testing::run_ranks(3, [&](cr::testing::ThreadRank me) {
      std::vector<float> rows{1, 2, 3};
      cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                   cr::HookChain{cr::SameOnAllRanks{.every_steps = 2}, cr::StopAtStep{.last_step = 6}}};
      try {
        cr::run_session(session, [&](auto& s) {
          while (!s.should_stop()) {
            if (changes && me.rank() == 2 && s.step() == 3) s.executor().variable(cr::Name<"w">{})[1] = 9;
            s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
          }
        });
      } catch (const cr::RanksDisagreeError& e) {
        errors[static_cast<std::size_t>(me.rank())] = e.what();
      }
    });
    EXPECT_EQ(errors[0].empty(), !changes);
  }
  EXPECT_NE(errors[0].find("at step 4 variable 'w' differs between ranks 0 and 2"), std::string::npos) << errors[0];
  EXPECT_EQ(errors, std::vector<std::string>(3, errors[0]));
}

/// Makes two sessions, one after the other, with one chain.
TEST(RankSessions, ASecondSessionReadsNothingOfTheFirst) {
  struct Position {
    std::int64_t epoch = 0, batch = 0;
  };
  struct Source {
    Position at;
    [[nodiscard]] Position position() const { return at; }
    void seek(Position to) { at = to; }
  };
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    Source data;
    std::vector<float> rows{1, 2, 3};
    cr::HookChain chain{cr::CheckpointInputPipeline{data}, cr::StopAtStep{.num_steps = 2}};
    auto executor = cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>();
    using Session = cr::MonitoredSession<decltype(executor)&, decltype(chain)&>;
    for (int program = 0; program < 2; ++program) {
      const auto session = std::make_unique<Session>(executor, chain);  // freed: a read of it would be an error
      cr::run_session(*session, [&](auto& s) {
        while (!s.should_stop()) {
          ++data.at.batch;
          s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
        }
      });
    }
    EXPECT_EQ(data.at.batch, 4);
  });
}

TEST(RankSessions, EvaluateByTheClockIsRefused) {
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    std::vector<float> rows{1, 2, 3};
    const auto batch = cr::feeds(cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
    try {
      cr::MonitoredSession session{
          cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
          cr::HookChain{cr::Evaluate{cr::fetches<"loss">,
                                     std::vector(1, batch),
                                     {.every_seconds = 10, .at_end = false, .sink = cr::no_lines}}}};
      ADD_FAILURE() << "the ranks would disagree";
    } catch (const cr::Error& error) {
      EXPECT_NE(std::string(error.what()).find("the clocks of ranks differ"), std::string::npos) << error.what();
    }
  });
}

}  // namespace ranks_session_test
