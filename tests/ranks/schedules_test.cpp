// SPDX-License-Identifier: Apache-2.0
// Random scripts of what ranks do alone, in random orders of the ranks: none waits for ever, all apply the same steps
// and end alike. CROCHET_RANK_SCHEDULES sets the number of scripts.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "script.hpp"

namespace ranks_schedules_test {

namespace cr = crochet;
using namespace cr::literals;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 2});
    const auto w = g.variable<float>("w", {2, 1}, cr::ones());
    const auto loss = g.name("loss", cr::reduce_mean(cr::square(cr::matmul(x, w))));
    g.name("train", cr::minimize(loss, cr::SGD{0.01}));
  }
};

enum class Does : int { throws, is_preempted, stops, ends_data, skips_to_other_run };
enum class At : int { loop, begin, create, before_run, after_run, side_run, end, after_end };
constexpr bool has_no_step(At at) { return at == At::begin || at == At::end || at == At::after_end; }
using ranks_script::Draws;
using Event = ranks_script::Event<At, Does>;
using Script = ranks_script::Script<At, Does>;

/// A hook with a part of the script, and every third step a run of its own that all ranks make.
struct Scripted {
  using handles = cr::Phases<cr::phase::begin, cr::phase::after_create_session, cr::phase::before_run,
                             cr::phase::after_run, cr::phase::end>;
  void begin() { script->fail(At::begin, 0); }
  void after_create_session(auto& session, auto&) { script->fail(At::create, session.step()); }
  cr::RunArgs<> before_run(auto& run) {
    script->fail(At::before_run, run.step());
    return {};
  }
  void after_run(auto& run, auto&) {
    ++*applied;
    if (script->happens(At::after_run, run.step(), Does::stops)) run.request_stop("scripted");
    script->fail(At::after_run, run.step());
    const bool own_clock = script->happens(At::side_run, run.step(), Does::skips_to_other_run);
    if (run.step() % 3 != 2 && !own_clock) return;
    script->fail(At::side_run, run.step());
    run.session().run(cr::fetches<"loss">, cr::feed<"x">(cr::TensorView<float, 2>{rows->data(), {1, 2}}));
  }
  void end(auto& session) {
    script->fail(At::end, session.step());
    session.run(cr::fetches<"loss">, cr::feed<"x">(cr::TensorView<float, 2>{rows->data(), {1, 2}}));
    script->fail(At::after_end, session.step());
  }

  Script* script;
  const std::vector<float>* rows;
  std::int64_t* applied;
};

struct Outcome {
  std::string how = "nothing";
  std::int64_t step = -1, applied = 0;
  int recoveries = 0;
  std::vector<float> w;
};

Outcome train(cr::testing::ThreadRank me, const std::vector<Event>& events, std::int64_t last_step) {
  Outcome out;
  Script script(events, me.rank());
  const std::vector<float> rows{1, static_cast<float>(me.rank())};
  try {
    cr::MonitoredSession session{
        cr::Parallel{cr::Cpu{.threads = 1}, me}.compile<Model>(),
        cr::HookChain{Scripted{&script, &rows, &out.applied}, cr::StopAtStep{.last_step = last_step}},
        cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
    try {
      cr::run_session(session, [&](auto& s) {
        while (!s.should_stop()) {
          script.fail(At::loop, s.step());
          if (script.happens(At::loop, s.step(), Does::ends_data)) throw cr::OutOfRangeError();
          if (script.happens(At::loop, s.step(), Does::stops)) s.request_stop("scripted");
          if (s.should_stop()) break;
          s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 2}}));
        }
      });
      out.how = "ended";
    } catch (const cr::RanksDisagreeError&) {
      out.how = "disagree";
    } catch (const cr::PeerFailedError&) {
      out.how = "failed";
    } catch (const std::runtime_error& e) {
      const bool scripted = std::string_view(e.what()) == "scripted";
      out.how = scripted ? "failed" : e.what();
    }
    out.step = session.step();
    out.recoveries = session.recoveries();
    std::as_const(session.executor()).for_each_variable([&](auto, auto elements, auto) {
      for (const auto e : elements) out.w.push_back(static_cast<float>(e));
      return true;
    });
  } catch (const std::logic_error&) {  // it would wait for ever
    throw;
  } catch (const std::exception&) {
    out.how = "failed before its first step";
  }
  return out;
}

std::string text_of(const std::vector<Event>& events) {
  std::string text;
  for (const Event& e : events) {
    text += " (rank " + std::to_string(e.rank) + " place " + std::to_string(static_cast<int>(e.at)) + " step " +
            std::to_string(e.step) + " does " + std::to_string(static_cast<int>(e.does)) + ")";
  }
  return text;
}

/// Runs one script; returns how it ended.
std::string check(int size, const std::vector<Event>& events, std::int64_t last_step, std::uint64_t seed) {
  std::vector<Outcome> all(static_cast<std::size_t>(size));
  cr::testing::run_ranks(
      size,
      [&](cr::testing::ThreadRank me) { all[static_cast<std::size_t>(me.rank())] = train(me, events, last_step); },
      seed);
  const Outcome* first = nullptr;
  for (const Outcome& o : all) {
    if (o.step < 0) continue;  // its session was never made, and the others have made no step
    if (first == nullptr) first = &o;
    EXPECT_EQ(o.how, first->how) << text_of(events);
    EXPECT_EQ(o.step, first->step) << text_of(events);
    EXPECT_EQ(o.w, first->w) << text_of(events);
    EXPECT_EQ(o.recoveries, first->recoveries) << text_of(events);
  }
  for (const Outcome& o : all) {
    if (o.step < 0 && first != nullptr) {
      EXPECT_EQ(first->how, "failed") << text_of(events);
    }
  }
  return first == nullptr ? "failed" : first->how;
}

std::vector<Event> drawn_script(Draws& draw, int size, int last_step) {
  std::vector<Event> events;
  for (int n = draw(4); n > 0; --n) {
    Event e{draw(size), static_cast<At>(draw(8)), draw(last_step), static_cast<Does>(draw(2))};
    if (e.at == At::loop) e.does = static_cast<Does>(draw(4));
    if (e.at == At::after_run && draw(3) == 0) e.does = Does::stops;
    if (e.at == At::side_run && draw(8) == 0) e.does = Does::skips_to_other_run;
    events.push_back(e);
  }
  return events;
}

class Quiet : public testing::Test {
 protected:
  void SetUp() override {
    cr::set_diagnostic_sink([](std::string_view) {});
  }
  void TearDown() override { cr::set_diagnostic_sink({}); }
};

TEST_F(Quiet, RandomScriptsEndAlikeOnAllRanks) {
  const char* const wanted = std::getenv("CROCHET_RANK_SCHEDULES");
  const int scripts = wanted != nullptr ? std::atoi(wanted) : 1000;
  std::map<std::string, int> ends;
  for (int k = 1; k <= scripts && !HasFailure(); ++k) {
    Draws draw(static_cast<std::uint64_t>(k));
    const int size = 2 + draw(3), last_step = 2 + draw(5);
    ++ends[check(size, drawn_script(draw, size, last_step), last_step, static_cast<std::uint64_t>(k))];
  }
  for (const auto& [how, count] : ends) {
    RecordProperty(how, count);
    std::printf("%-10s %d\n", how.c_str(), count);
  }
  EXPECT_GT(ends["ended"], 0);
  EXPECT_GT(ends["failed"], 0);
  EXPECT_EQ(ends.size(), ends.count("disagree") + 2) << "an end that is none of these";
}

TEST_F(Quiet, EveryPlaceWhereOneRankFailsFailsAll) {
  for (int rank = 0; rank < 3; ++rank) {
    for (int place = 0; place < 8; ++place) {
      for (std::int64_t step = 0; step < 4; ++step) {
        for (const Does does : {Does::throws, Does::is_preempted, Does::stops, Does::ends_data}) {
          check(3, {{rank, static_cast<At>(place), step, does}}, 4, 7);
        }
      }
    }
  }
}

}  // namespace ranks_schedules_test
