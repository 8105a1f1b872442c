// SPDX-License-Identifier: Apache-2.0
// Random scripts of what ranks do alone around and in their step functions, in random orders of the ranks: none waits
// for ever, all end alike, and what the chief reads of the state of all ranks is of one step. CROCHET_RANK_SCHEDULES
// sets the number of scripts.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/diagnostics.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "script.hpp"

namespace ranks_step_schedules_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::testing::ThreadRank;

enum class Does : int { throws, is_preempted, stops, ends_data };
enum class At : int { loop, begin, create, before_run, in_step, behind_exchange, after_run, end };
constexpr bool has_no_step(At at) { return at == At::begin || at == At::end; }
using ranks_script::Draws;
using Event = ranks_script::Event<At, Does>;
struct Script : ranks_script::Script<At, Does> {
  using ranks_script::Script<At, Does>::Script;
  void act(At at, std::int64_t step) {
    fail(at, step);
    const bool runs = !has_no_step(at) && at != At::create;
    if (runs && happens(at, step, Does::ends_data)) throw cr::OutOfRangeError();
  }
};

/// What a rank has for itself: the steps that it made, and the passes of its loop between them.
struct Own {
  std::vector<std::int64_t> steps, passes;
};
/// The chief's copy of the state of all ranks.
struct Saved {
  std::vector<std::int64_t> steps, passes;
  std::int64_t step = 0;
};

/// Reads the state of all ranks after each second step, at creation and at the end. All ranks have made as many steps.
struct Saves {
  static constexpr auto runs_on = cr::RunsOn::chief;
  void after_create_session(auto& session, auto& /*coordinator*/) { save(session); }
  void after_run(auto& run, const auto& /*values*/) {
    if (run.step() % 2 == 0) save(run.session());
  }
  void end(auto& session) { save(session); }

  void save(const auto& session) const {
    session.executor().for_each_variable([&](std::string_view name, auto elements, auto /*shape*/) {
      (name == "steps" ? saved->steps : saved->passes).assign(elements.begin(), elements.end());
    });
    saved->step = session.step();
    for (const std::int64_t steps : saved->steps) EXPECT_EQ(steps, saved->step) << *text;
    for (const std::int64_t passes : saved->passes) EXPECT_EQ(passes, saved->passes[0]) << *text;
  }
  Saved* saved;
  const std::string* text;
};
/// Goes on from the chief's copy.
struct Restores {
  Saved* saved;
  void create_session(auto& session, cr::Coordinator& /*coordinator*/) const {
    session.executor().for_each_variable([&](std::string_view name, auto elements, auto /*shape*/) {
      const auto& from = name == "steps" ? saved->steps : saved->passes;
      for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = from.empty() ? 0 : from[i];
    });
    session.set_step(saved->step);
  }
};

struct Scripted {
  void begin() { script->act(At::begin, 0); }
  void after_create_session(auto& session, auto&) { script->act(At::create, session.step()); }
  cr::RunArgs<> before_run(auto& run) {
    script->act(At::before_run, run.step());
    return {};
  }
  void after_run(auto& run, const auto& /*values*/) {
    if (script->happens(At::after_run, run.step(), Does::stops)) run.request_stop("scripted");
    script->act(At::after_run, run.step());
  }
  void end(auto& session) { script->act(At::end, session.step()); }
  Script* script;
};

struct Outcome {
  std::string how = "nothing";
  std::int64_t step = -1;
  int recoveries = 0;
};

bool is_torn(const std::exception& e) {
  return std::string_view(e.what()).find("has thrown on some ranks") != std::string_view::npos;
}

Outcome solve(ThreadRank me, const std::vector<Event>& events, std::int64_t last_step, Saved& saved,
              const std::string& text) {
  Outcome out;
  Script script(events, me.rank());
  Own own{std::vector<std::int64_t>(1), std::vector<std::int64_t>(1)};
  cr::StepExecutor step{[&](auto& o) {
                          script.act(At::in_step, own.steps[0]);
                          const auto all = o.sum_over_ranks(own.steps[0]);
                          EXPECT_EQ(all, me.size() * own.steps[0]) << text;
                          script.act(At::behind_exchange, own.steps[0]);
                          ++own.steps[0];
                        },
                        cr::variable_by_rows<"steps">(own.steps), cr::variable_by_rows<"passes">(own.passes)};
  try {
    cr::MonitoredSession session{
        cr::Parallel{step, me},
        cr::HookChain{Scripted{&script}, Saves{&saved, &text}, cr::StopAtStep{.last_step = last_step}},
        Restores{&saved}, cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
    try {
      cr::run_session(session, [&](auto& s) {
        while (!s.should_stop()) {
          script.act(At::loop, s.step());
          if (script.happens(At::loop, s.step(), Does::stops)) s.request_stop("scripted");
          if (s.should_stop()) break;
          s.run();
          own.passes[0] = own.steps[0];  // between the steps, which the chief's copy never sees of some ranks only
        }
      });
      out.how = "ended";
    } catch (const cr::FailedPreconditionError& e) {
      out.how = is_torn(e) ? "torn" : e.what();
    } catch (const cr::PeerFailedError& e) {
      out.how = is_torn(e) ? "torn" : "failed";
    } catch (const std::runtime_error& e) {
      out.how = std::string_view(e.what()) == "scripted" ? "failed" : e.what();
    }
    out.step = session.step();
    out.recoveries = session.recoveries();
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
  Saved saved;
  const std::string text = text_of(events);
  cr::testing::run_ranks(
      size,
      [&](ThreadRank me) { all[static_cast<std::size_t>(me.rank())] = solve(me, events, last_step, saved, text); },
      seed);
  const Outcome* first = nullptr;
  for (const Outcome& o : all) {
    if (o.step < 0) continue;  // its session was never made, and the others have made no step
    if (first == nullptr) first = &o;
    EXPECT_EQ(o.how, first->how) << text;
    EXPECT_EQ(o.recoveries, first->recoveries) << text;
    if (first->how == "ended") {
      EXPECT_EQ(o.step, first->step) << text;
      EXPECT_EQ(saved.step, first->step) << text;
    }
  }
  for (const Outcome& o : all) {
    if (o.step < 0 && first != nullptr) {
      EXPECT_EQ(first->how, "failed") << text;
    }
  }
  return first == nullptr ? "failed" : first->how;
}

std::vector<Event> drawn_script(Draws& draw, int size, int last_step) {
  std::vector<Event> events;
  for (int n = draw(4); n > 0; --n) {
    Event e{draw(size), static_cast<At>(draw(8)), draw(last_step), static_cast<Does>(draw(2))};
    if (e.at == At::loop || draw(4) == 0) e.does = static_cast<Does>(draw(4));
    events.push_back(e);
  }
  return events;
}

class QuietSteps : public testing::Test {
 protected:
  void SetUp() override {
    cr::set_diagnostic_sink([](std::string_view) {});
  }
  void TearDown() override { cr::set_diagnostic_sink({}); }
};

TEST_F(QuietSteps, RandomScriptsEndAlikeOnAllRanks) {
  const char* const wanted = std::getenv("CROCHET_RANK_SCHEDULES");
  const int scripts = wanted != nullptr ? std::atoi(wanted) : 1000;
  std::map<std::string, int> ends;
  for (int k = 1; k <= scripts && !HasFailure(); ++k) {
    Draws draw(static_cast<std::uint64_t>(k));
    const int size = 2 + draw(3), last_step = 2 + draw(5);
    ++ends[check(size, drawn_script(draw, size, last_step), last_step, static_cast<std::uint64_t>(k))];
  }
  for (const auto& [how, count] : ends) std::printf("%-10s %d\n", how.c_str(), count);
  EXPECT_GT(ends["ended"], 0);
  EXPECT_GT(ends["failed"], 0);
  EXPECT_EQ(ends.size(), ends.count("torn") + 2) << "an end that is none of these";
}

TEST_F(QuietSteps, EveryPlaceWhereOneRankFailsFailsAll) {
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

}  // namespace ranks_step_schedules_test
