// SPDX-License-Identifier: Apache-2.0
// A program of two files with the definitions of the compiled parts in the headers: every definition is inline.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/io/event_reader.hpp>
#include <crochet/io/json_row.hpp>

#include <gtest/gtest.h>

#include "temporary_folder.hpp"

std::string write_an_event(const std::filesystem::path& folder);  // defined in header_only_part.cpp

namespace header_only_test {

namespace cr = crochet;

double value_after_a_step(double begin, const cr::Saver<>& saver) {
  double x = begin;
  cr::StepExecutor step{[&](auto&) { x += 1; }, cr::variable<"x">(x)};
  cr::MonitoredSession session{
      std::move(step), cr::HookChain{cr::CheckpointSaver{saver, {.save_steps = 1, .sink = [](std::string_view) {}}}},
      cr::restore_latest(saver)};
  cr::run_session(session, [](auto& s) { s.run(); });
  return x;
}

TEST(HeaderOnly, SavesRestoresAndWritesEvents) {
  const crochet::test::TemporaryFolder folder;
  const cr::Saver saver{folder / "checkpoints", {.say = [](std::string_view) {}}};
  EXPECT_EQ(value_after_a_step(41, saver), 42);
  EXPECT_EQ(value_after_a_step(0, saver), 43);
}

TEST(HeaderOnly, BothFilesShareTheFunctions) {
  const crochet::test::TemporaryFolder folder;
  cr::io::EventReader events{write_an_event(folder / "events")};
  EXPECT_EQ(events.next()->step, 0);
  EXPECT_EQ(std::get<cr::io::EventScalar>(events.next()->content).value, 0.5);
  cr::io::JsonRow row{3};
  row.add("loss", 0.5F);
  EXPECT_EQ(row.text(), R"({"step":3,"loss":0.5})");
}

}  // namespace header_only_test
