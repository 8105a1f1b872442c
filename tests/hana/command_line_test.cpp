// SPDX-License-Identifier: Apache-2.0
#include <crochet/hana/command_line.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <crochet/hooks/stop_at_step.hpp>

#include "options.hpp"

BOOST_HANA_ADAPT_STRUCT(crochet::StopAtStep, last_step, num_steps);

namespace crochet {
namespace command_line_test {

void parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 requires
  app.parse(arguments);
}

TEST(HanaCommandLine, SetsEveryMember) {
  Options options;
  CLI::App app;
  add_options(app, options);
  parse(app, {"--patience", "3", "--min-delta=0.5", "--verbose", "--mode", "1", "--name", "accuracy", "--milestones",
              "1", "2", "3", "--range", "2", "4", "--rule.rate", "0.25", "--rule.floor", "1"});
  EXPECT_EQ(options.patience, 3);
  EXPECT_EQ(options.min_delta, 0.5);
  EXPECT_TRUE(options.verbose);
  EXPECT_EQ(options.mode, Mode::fast);
  EXPECT_EQ(options.name, "accuracy");
  EXPECT_EQ(options.milestones, (std::vector{1, 2, 3}));
  EXPECT_EQ(options.range, (std::array<double, 2>{2, 4}));
  EXPECT_EQ(options.rule.rate, 0.25);
  EXPECT_EQ(options.rule.floor, 1);
}

TEST(HanaCommandLine, LeavesMembersThatItDoesNotName) {
  Options options{.patience = 7, .verbose = true};
  CLI::App app;
  add_options(app, options);
  parse(app, {"--no-verbose"});
  EXPECT_EQ(options.patience, 7);
  EXPECT_FALSE(options.verbose);
}

TEST(HanaCommandLine, HasSections) {
  Options first, second;
  CLI::App app;
  add_options(app, first, "first");
  add_options(app, second, "second");
  parse(app, {"--first.patience", "1", "--second.patience", "2", "--second.rule.rate", "3", "--second.verbose"});
  EXPECT_EQ(first.patience, 1);
  EXPECT_EQ(second.patience, 2);
  EXPECT_EQ(second.rule.rate, 3);
  EXPECT_TRUE(second.verbose);
  const std::string help = app.help();
  EXPECT_NE(help.find("second:"), std::string::npos) << help;
  EXPECT_NE(help.find("second.rule:"), std::string::npos) << help;
  const auto has = [&](const char* text) { return help.find(text) != std::string::npos; };  // CLI11 to 2.3, and later
  EXPECT_TRUE(has("--first.min-delta FLOAT=1e-05") || has("--first.min-delta FLOAT [1e-05]")) << help;
  EXPECT_TRUE(has("--first.mode ENUM=0") || has("--first.mode ENUM [0]")) << help;
  EXPECT_NE(help.find("default: false"), std::string::npos) << help;
}

TEST(HanaCommandLine, OfAStockHook) {
  StopAtStep stop{.last_step = 100};
  CLI::App app;
  add_options(app, stop, "stop");
  parse(app, {"--stop.last-step", "200"});
  EXPECT_EQ(stop.last_step, 200);
}

TEST(HanaCommandLine, RefusesWhatNoMemberHas) {
  Options options;
  CLI::App app;
  add_options(app, options);
  EXPECT_THROW(parse(app, {"--patiense", "3"}), CLI::ParseError);
  EXPECT_THROW(parse(app, {"--patience", "three"}), CLI::ParseError);
}

}  // namespace command_line_test
}  // namespace crochet
