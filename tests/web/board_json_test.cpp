// SPDX-License-Identifier: Apache-2.0
// The text of a board: what has changed, within limits, and nothing that a browser could take for HTML.
#include <crochet/web/board_json.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <string>
#include <vector>

namespace board_json_test {

namespace web = crochet::web;

std::string json(std::string_view text) {
  std::string out;
  web::append_json(out, text);
  return out;
}

TEST(BoardJson, TextsAreEscaped) {
  EXPECT_EQ(json("</script>&\"\\\n"), R"("\u003c/script\u003e\u0026\u0022\u005c\u000a")");
  EXPECT_EQ(json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
  EXPECT_EQ(json("\xff|\xc0\xaf|\xed\xa0\x80|\xe2\x82"), R"("\ufffd|\ufffd\ufffd|\ufffd\ufffd\ufffd|\ufffd\ufffd")");
}

TEST(BoardJson, AllOfABoardAndThenTheChangesOnly) {
  web::Board board;
  board.begin();
  board.progress({.step = 20, .total = 50, .rate = 2.5, .elapsed = 8});
  board.scalar("loss", 10, 0.5);
  board.scalar("loss", 20, std::numeric_limits<double>::quiet_NaN());
  board.chain("A\nB");
  const auto all = board.changes(0);
  EXPECT_EQ(web::board_json(all),
            R"({"version":6,"step":20,"total":50,"rate":2.5,"elapsed":8,"state":"running","running":true,)"
            R"("stopping":false,"curves":[{"name":"loss","from":0,"stride":1,"points":[[10,10,0.5,0.5,0.5,0],)"
            R"([20,20,null,null,null,1]]}],"histograms":[],"lines":[],"chain":"A\u000aB"})");
  board.scalar("loss", 30, 1);
  board.hooks({{"NanTensor<\"loss\">", {2, 0.25}, {3, 0.5}}});
  board.line("step 30");
  board.request_stop();
  board.ended("ended");
  EXPECT_EQ(web::board_json(board.changes(all.version)),
            R"({"version":10,"step":20,"total":50,"rate":2.5,"elapsed":8,"state":"ended","running":false,)"
            R"("stopping":true,"curves":[{"name":"loss","from":2,"stride":1,"points":[[30,30,1,1,1,0]]}],)"
            R"("histograms":[],"lines":["step 30"],)"
            R"("hooks":[{"hook":"NanTensor\u003c\u0022loss\u0022\u003e","before":[2,0.25],"after":[3,0.5]}]})");
}

TEST(BoardJson, LinesAndHistogramsAreSentOnce) {
  web::Board board;
  board.histogram("first", web::Bars{});
  board.line("one");
  const auto version = board.changes(0).version;
  board.histogram("second", web::Bars{});
  board.line("two");
  const auto changes = board.changes(version);
  ASSERT_EQ(changes.histograms.size(), 1U);
  EXPECT_EQ(changes.histograms[0].first, "second");
  EXPECT_EQ(changes.lines, std::vector<std::string>{"two"});
  board.histogram("first", web::Bars{});
  EXPECT_EQ(board.changes(changes.version).histograms.size(), 1U) << "it has changed";
}

TEST(BoardJson, AHistogramHasItsBarsAndTheNumberOfInfiniteValues) {
  const std::vector<double> values{-1, 1, 1, std::numeric_limits<double>::infinity()};
  web::Board board;
  board.histogram("h", web::Bars::of(std::span<const double>(values), 7));
  std::string bars = "1";
  for (int i = 1; i < 39; ++i) bars += ",0";
  EXPECT_NE(web::board_json(board.changes(0))
                .find(R"([{"name":"h","step":7,"least":-1,"greatest":1,"nonFinite":1,"bars":[)" + bars + ",2]}]"),
            std::string::npos);
}

TEST(BoardJson, LimitsHold) {
  web::Board board({.curves = 2, .histograms = 1, .lines = 3, .line_bytes = 4, .points = 8});
  for (int i = 0; i < 100; ++i) {
    board.scalar("curve " + std::to_string(i % 10), i, i);
    board.line("line " + std::to_string(i));
    board.histogram("h" + std::to_string(i), web::Bars{});
  }
  const auto all = board.changes(0);
  EXPECT_EQ(all.curves.size(), 2U);
  EXPECT_EQ(all.histograms.size(), 1U);
  EXPECT_EQ(all.lines, (std::vector<std::string>{"line", "line", "line"}));
}

TEST(BoardJson, BarsCountEachValueOnce) {
  const std::vector<double> values{-1, 1, 1, 0, std::numeric_limits<double>::infinity()};
  const auto bars = web::Bars::of(std::span<const double>(values), 7);
  EXPECT_EQ(bars.step, 7);
  EXPECT_EQ(bars.least, -1);
  EXPECT_EQ(bars.greatest, 1);
  EXPECT_EQ(bars.non_finite, 1U);
  EXPECT_EQ(bars.bars.front(), 1U);
  EXPECT_EQ(bars.bars[20], 1U);
  EXPECT_EQ(bars.bars.back(), 2U);
  const double most = std::numeric_limits<double>::max();
  const std::vector<double> far{-most, most};
  EXPECT_EQ(web::Bars::of(std::span<const double>(far), 0).bars.back(), 1U);
  const std::vector<double> equal{3, 3};
  EXPECT_EQ(web::Bars::of(std::span<const double>(equal), 0).bars.front(), 2U);
  EXPECT_EQ(web::Bars::of(std::span<const double>(), 0).non_finite, 0U);
}

}  // namespace board_json_test
