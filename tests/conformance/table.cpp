// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace crochet::conformance {

namespace {

constexpr std::string_view session_test = "asserted by `monitored_session_test`";
constexpr std::string_view hooks_test = "asserted by `basic_session_run_hooks_test`";
constexpr std::string_view executed = "executed on TensorFlow 2.15, `compat.v1`";

constexpr std::array table_parts{
    Part{'T', 20, "Reference traces of a session", executed, true},
    Part{'F', 11, "Scaffold", session_test},
    Part{'M', 14, "MonitoredTrainingSession", session_test},
    Part{'W', 6, "A session around a session", session_test},
    Part{'C', 8, "The coordinated layer", session_test},
    Part{'R', 12, "The recoverable layer", session_test},
    Part{'H', 8, "The hooked layer", session_test},
    Part{'S', 22, "MonitoredSession", session_test},
    Part{'P', 14, "Step functions", session_test},
    Part{'G', 7, "SingularMonitoredSession", session_test},
    Part{'Y', 4, "SecondOrStepTimer", hooks_test},
    Part{'K', 4, "StopAtStep", hooks_test},
    Part{'L', 7, "LoggingTensor", hooks_test},
    Part{'V', 19, "CheckpointSaver", hooks_test},
    Part{'N', 7, "StepCounter", hooks_test},
    Part{'U', 6, "SummarySaver", hooks_test},
    Part{'X', 12, "GlobalStepWaiter, FinalOps, FeedFn, Profiler", hooks_test},
};

constexpr std::string_view preface = R"(# Conformance

crochet's hooks and sessions follow TensorFlow 1.x. This table has every behaviour that the original's own tests of
`monitored_session` and `basic_session_run_hooks` assert, and twenty reference traces of whole sessions, recorded with the
original. The test `Conformance.S10`, for example, in the file that the row names, runs the scenario of row S10. The program
`tests/conformance` fails if a row is missing, or if its test did not run and pass. All differences are intended;
[differences.md](differences.md) has the reasons and further differences.

In the traces `h.B` is `begin` of hook h, `h.C` `after_create_session`, `h.b` `before_run`, `h.a` `after_run`, `h.E(n)`
`end`, `h.X` `on_error`; `mk#n` is the creation of session n, `run#n` one run of the executor in it, `cl#n` its close.

That program generates this file (`conformance --write-docs`) and checks it.

)";

std::string id_of(const Part& part, int number) { return part.letter + std::to_string(number); }

const Row* find(const std::vector<Row>& all, std::string_view id) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Row& row) { return row.id == id; });
  return found == all.end() ? nullptr : &*found;
}

/// The existing rows of the part, in order.
std::vector<const Row*> rows_of(const Part& part, const std::vector<Row>& all) {
  std::vector<const Row*> found;
  for (int number = 1; number <= part.count; ++number) {
    if (const Row* row = find(all, id_of(part, number))) found.push_back(row);
  }
  return found;
}

struct Count {
  int wanted = 0, same = 0, different = 0, not_applicable = 0;

  [[nodiscard]] int there() const { return same + different + not_applicable; }
  void add(const Part& part, const std::vector<Row>& all) {
    wanted += part.count;
    for (const Row* row : rows_of(part, all)) {
      ++(row->verdict == Verdict::same ? same : row->verdict == Verdict::different ? different : not_applicable);
    }
  }
};

Count count(const std::vector<Row>& all, bool traces) {
  Count sum;
  for (const Part& part : parts()) {
    if (part.trace == traces) sum.add(part, all);
  }
  return sum;
}

std::string text_of(const Count& count, std::string_view what) {
  std::string text = std::to_string(count.there()) + " of " + std::to_string(count.wanted) + " ";
  text += std::string(what) + ": " + std::to_string(count.same) + " same, " + std::to_string(count.different) +
          " different on purpose";
  if (count.not_applicable > 0) {
    text += ", " + std::to_string(count.not_applicable) + " not applicable, each with its reason";
  }
  return text;
}

std::string verdict_text(const Row& row) {
  switch (row.verdict) {
    case Verdict::same:
      return "same";
    case Verdict::different:
      return "**different**: " + row.reason + " ([more](differences.md#" + row.section + "))";
    case Verdict::not_applicable:
      break;
  }
  return "**not applicable**: " + row.reason;
}

std::string markdown_of(const Row& row) {
  const std::string file = row.file.substr(row.file.find_last_of('/') + 1);
  return "| " + row.id + " | " + row.scenario + " | " + row.original + " | " + verdict_text(row) + " | [" + file +
         "](../tests/conformance/" + file + ") |\n";
}

bool was_shown(const Row& row) {
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(i);
    if (std::string_view{suite.name()} != "Conformance") continue;
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(j);
      if (test.name() == row.id) return test.should_run() && test.result()->Passed();
    }
  }
  return false;
}

}  // namespace

std::vector<Row>& rows() {
  static std::vector<Row> all;
  return all;
}

std::span<const Part> parts() { return table_parts; }

std::string table_mistakes(const std::vector<Row>& all) {
  std::map<std::string, int> seen;
  for (const Row& row : all) ++seen[row.id];
  std::string text;
  for (const Part& part : parts()) {
    for (int number = 1; number <= part.count; ++number) {
      const std::string id = id_of(part, number);
      const auto found = seen.find(id);
      if (found == seen.end()) {
        text += id + " is missing\n";
      } else if (found->second > 1) {
        text += id + " occurs " + std::to_string(found->second) + " times\n";
      }
      if (found != seen.end()) seen.erase(found);
    }
  }
  for (const auto& [id, times] : seen) text += id + " is no row of the table\n";
  for (const Row& row : all) {
    if (row.scenario.empty() || row.original.empty()) text += row.id + " does not say what it is about\n";
    if ((row.verdict == Verdict::same) != row.reason.empty()) text += row.id + " needs a reason, or has one too many\n";
    if ((row.verdict == Verdict::different) == row.section.empty()) text += row.id + " needs a section, or has one\n";
  }
  return text;
}

std::string rows_not_shown(const std::vector<Row>& all) {
  std::string text;
  for (const Row& row : all) {
    if (!was_shown(row)) text += row.id + " is shown by no test that ran and passed\n";
  }
  return text;
}

std::string summary(const std::vector<Row>& all) {
  return text_of(count(all, false), "behaviours") + "\n" + text_of(count(all, true), "reference traces") + "\n";
}

std::string as_markdown(const std::vector<Row>& all) {
  std::string text{preface};
  text +=
      "**" + text_of(count(all, false), "behaviours") + "; " + text_of(count(all, true), "reference traces") + ".**\n";
  for (const Part& part : parts()) {
    text += "\n## " + std::string(part.title) + "\n\nThe original: " + std::string(part.source) + ".\n\n";
    text += "| id | scenario | the original | crochet | test |\n|---|---|---|---|---|\n";
    for (const Row* row : rows_of(part, all)) text += markdown_of(*row);
  }
  return text;
}

}  // namespace crochet::conformance
