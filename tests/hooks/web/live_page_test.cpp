// SPDX-License-Identifier: Apache-2.0
// LivePage: what it fetches, shows and stops, by its board and over HTTP.
#include <crochet/crochet.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/kit/summary_sink.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/web/live_page.hpp>
#include <crochet/storage/summary.hpp>
#include <crochet/testing.hpp>
#include <crochet/web/board_json.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../../web/raw_client.hpp"

namespace live_page_test {

namespace cr = crochet;
using cr::value;
using cr::testing::ManualClock;
using cr::testing::RecordingSink;
using cr::testing::Script;
using raw_client::exchange;
using namespace cr::literals;

/// The reply to a request of the page, with the token of its address.
std::string answer_of(const cr::web::Page& page, const std::string& method, const std::string& path) {
  const std::string token = page.url().substr(page.url().find("token="));
  const std::string target = path + (path.find('?') == std::string::npos ? "?" : "&") + token;
  return exchange(page.port(), method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

TEST(LivePage, FetchesItsScalarsInDueRunsOnlyAndDrawsThem) {
  ManualClock clock;
  RecordingSink out;
  const cr::web::Page page;
  Script run{cr::LivePage<"loss", "acc">{.every_steps = 2, .total = 10, .page = page, .clock = clock, .sink = out}};
  std::string fetched;
  for (int i = 0; i < 4; ++i) {
    clock.advance(0.5);
    run.step(value<"loss">(static_cast<float>(i)), value<"acc">(0.25));
    fetched += run.fetched() + "|";
  }
  EXPECT_EQ(fetched, "|loss acc||loss acc|");
  EXPECT_EQ(out.lines(), std::vector<std::string>{"crochet: live page at " + page.url()});
  const auto all = page.board().changes(0);
  ASSERT_EQ(all.curves.size(), 2U);
  EXPECT_EQ(all.curves[1].name, "loss");
  ASSERT_EQ(all.curves[1].buckets.size(), 2U);
  EXPECT_EQ(all.curves[1].buckets[1].first, 4);
  EXPECT_EQ(all.curves[1].buckets[1].sum, 3);
  EXPECT_EQ(all.progress.step, 4);
  EXPECT_EQ(all.progress.total, 10);
  EXPECT_EQ(all.progress.rate, 2);
  EXPECT_EQ(all.progress.elapsed, 2);
  EXPECT_EQ(all.state, "running");
  run.end();
  EXPECT_EQ(page.board().changes(0).state, "ended");
}

TEST(LivePage, ThePostOfTheButtonStopsAtTheNextRun) {
  const cr::web::Page page;
  Script run{cr::LivePage<>{.every_steps = 1000, .page = page, .sink = RecordingSink{}}};
  run.step();
  EXPECT_NE(exchange(page.port(), "POST /stop HTTP/1.1\r\nHost: localhost\r\n\r\n").find(" 403 "), std::string::npos);
  EXPECT_NE(answer_of(page, "GET", "/stop").find(" 405 "), std::string::npos);
  run.step();
  EXPECT_FALSE(run.should_stop());
  EXPECT_NE(answer_of(page, "POST", "/stop").find(" 200 "), std::string::npos);
  run.step();
  EXPECT_TRUE(run.should_stop());
  EXPECT_EQ(run.stop_reason(), "the stop button of the live page");
  EXPECT_NE(answer_of(page, "GET", "/data").find("\"running\":false,\"stopping\":true"), std::string::npos);
  EXPECT_EQ(page.board().changes(0).state, "interrupted");
}

TEST(LivePage, ShowsTheNextSessionOnTheSamePage) {
  const cr::web::Page page;
  RecordingSink out;
  const auto hook = [&] { return cr::LivePage<>{.chain = "A chain", .page = page, .sink = out}; };
  {
    Script first{hook()};
    EXPECT_EQ(page.board().changes(0).chain, "A chain");
    page.board().request_stop();
    first.step();
    EXPECT_TRUE(first.should_stop());
  }
  const int port = page.port();
  Script second{hook()};
  second.step();
  EXPECT_FALSE(second.should_stop()) << "the stop was that of the session before";
  EXPECT_EQ(page.board().changes(0).state, "running");
  EXPECT_EQ(page.port(), port);
  EXPECT_EQ(out.lines().size(), 1U) << "the address is printed once";
}

TEST(LivePage, TheRateIsSmoothed) {
  ManualClock clock;
  const cr::web::Page page;
  Script run{cr::LivePage<>{.every_steps = 1, .page = page, .clock = clock, .sink = RecordingSink{}}};
  for (const double seconds : {1.0, 0.5}) {
    clock.advance(seconds);
    run.step();
  }
  EXPECT_DOUBLE_EQ(page.board().changes(0).progress.rate, 0.7 * 1 + 0.3 * 2);
  run.end();
  EXPECT_DOUBLE_EQ(page.board().changes(0).progress.rate, 1.3) << "the end makes no step";
}

/// Creates sessions that begin at step 500.
struct BeginsAt500 {
  void create_session(auto& session, auto& /*coordinator*/) const { session.set_step(500); }
};

TEST(LivePage, TheRateOfAResumedSessionIsThatOfItsOwnSteps) {
  ManualClock clock;
  const cr::web::Page page;
  cr::MonitoredSession session{
      cr::StepExecutor{[](auto&) {}},
      cr::HookChain{cr::LivePage<>{.every_steps = 2, .page = page, .clock = clock, .sink = RecordingSink{}}},
      BeginsAt500{}};
  EXPECT_EQ(page.board().changes(0).progress.step, 500);
  for (int i = 0; i < 2; ++i) {
    clock.advance(1);
    session.run();
  }
  EXPECT_EQ(page.board().changes(0).progress.step, 502);
  EXPECT_EQ(page.board().changes(0).progress.rate, 1);
  session.close();
}

TEST(LivePage, ShowsTheLinesAndSummariesOfOtherHooks) {
  const cr::web::Page page;
  RecordingSink out;
  page.sink(out)("step 1: loss = 0.5");
  EXPECT_EQ(out.lines(), std::vector<std::string>{"step 1: loss = 0.5"});
  const cr::SummarySink summaries{page};
  const std::vector<float> weights{1, 2, 3};
  summaries.add(cr::io::Summary{}.histogram("kernel", std::span<const float>(weights)).text("note", "<b>"), 5);
  summaries.scalar("rate", 0.5, 5);
  const std::string json = cr::web::board_json(page.board().changes(0));
  EXPECT_NE(json.find(R"("lines":["step 1: loss = 0.5","note: \u003cb\u003e"])"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("name":"kernel","step":5,"least":1,"greatest":3)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("name":"rate","from":0,"stride":1,"points":[[5,5,0.5,0.5,0.5,0]])"), std::string::npos);
}

TEST(LivePage, AnErrorIsShownAsTheEnd) {
  const cr::web::Page page;
  Script run{cr::LivePage<>{.page = page, .sink = RecordingSink{}}};
  run.step();
  run.fail(std::runtime_error("x"));
  EXPECT_EQ(page.board().changes(0).state, "ended by an error");
}

TEST(LivePage, KeepsTheLawsOfHooks) {
  const auto make = [] { return cr::LivePage<"loss">{.every_steps = 2, .sink = RecordingSink{}}; };
  EXPECT_EQ(cr::testing::broken_laws(make, value<"loss">(1.0f)), "");
}

TEST(LivePage, ReportsWrongOptions) {
  EXPECT_THROW((Script{cr::LivePage<>{.every_steps = 0}}), cr::LogicError);
  EXPECT_THROW((Script{cr::LivePage<>{.every_steps = 1, .every_seconds = 1.0}}), cr::LogicError);
  EXPECT_THROW((Script{cr::LivePage<>{.port = -1}}), cr::LogicError);
}

TEST(LivePage, MeasuresTheHooksOfTheRunsThatItShows) {
  const cr::web::Page page;
  {
    float x = 64;
    cr::StepExecutor step{[&](auto& out) { out["loss"_n] = x /= 2; }, cr::output<float, "loss">};
    cr::MonitoredSession session{
        std::move(step),
        cr::HookChain{cr::StopAtStep{.last_step = 6},
                      cr::LivePage<"loss">{.every_steps = 2, .page = page, .sink = RecordingSink{}},
                      cr::LoggingTensor<"loss">{.every_steps = 3, .sink = page.sink(RecordingSink{})}}};
    while (!session.should_stop()) session.run();
    session.close();
  }
  const auto all = page.board().changes(0);
  ASSERT_TRUE(all.hooks);
  ASSERT_EQ(all.hooks->size(), 3U);
  const std::vector<std::string> names{"StopAtStep", "LivePage<\"loss\">", "LoggingTensor<\"loss\">"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const cr::web::HookCost& cost = (*all.hooks)[i];
    EXPECT_EQ(cost.hook, names[i]);
    EXPECT_EQ(cost.before_run.calls, i == 0 ? 0 : 3);  // StopAtStep has none
    EXPECT_EQ(cost.after_run.calls, 3);
    EXPECT_GT(cost.after_run.seconds, 0);
  }
  ASSERT_EQ(all.curves.size(), 1U);
  EXPECT_EQ(all.curves[0].buckets.back().sum, 1);
  EXPECT_EQ(all.lines.size(), 2U);
}

TEST(LivePage, MeasuresThemInsideADecoratorToo) {
  const cr::web::Page page;
  {
    float x = 64;
    cr::StepExecutor step{[&](auto& out) { out["loss"_n] = x /= 2; }, cr::output<float, "loss">};
    cr::MonitoredSession session{
        std::move(step),
        cr::HookChain{cr::StopAtStep{.last_step = 6},
                      cr::EveryN<2, cr::LivePage<"loss">>{{.every_steps = 2, .page = page, .sink = RecordingSink{}}}}};
    while (!session.should_stop()) session.run();
    session.close();
  }
  const auto all = page.board().changes(0);
  ASSERT_TRUE(all.hooks);
  ASSERT_EQ(all.hooks->size(), 2U);
  EXPECT_EQ((*all.hooks)[0].hook, "StopAtStep");
  EXPECT_EQ((*all.hooks)[0].after_run.calls, 3);
}

}  // namespace live_page_test
