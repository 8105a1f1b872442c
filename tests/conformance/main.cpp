// SPDX-License-Identifier: Apache-2.0
// Runs every scenario, then checks the table as a whole. `--write-docs` writes docs/conformance.md.
#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "scenario.hpp"
#include "table.hpp"

namespace crochet::conformance {

namespace {

std::vector<std::string>& said_lines() {
  static std::vector<std::string> lines;
  return lines;
}

/// Clears the list of diagnostics before each test.
class EachTest : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { said_lines().clear(); }
};

}  // namespace

const std::vector<std::string>& said() { return said_lines(); }

}  // namespace crochet::conformance

namespace {

using namespace crochet::conformance;

const std::filesystem::path document{CROCHET_CONFORMANCE_DOCUMENT};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The anchors of a document's headings: "How it stops" is how-it-stops.
std::set<std::string> anchors_of(const std::string& markdown) {
  std::set<std::string> anchors;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("## ")) continue;
    std::string anchor = line.substr(3);
    for (char& letter : anchor) letter = letter == ' ' ? '-' : static_cast<char>(std::tolower(letter));
    anchors.insert(anchor);
  }
  return anchors;
}

TEST(Table, HasEveryRowOnce) { EXPECT_EQ(table_mistakes(rows()), ""); }

TEST(Table, IsTheCommittedDocument) {
  EXPECT_TRUE(as_markdown(rows()) == text_of(document))
      << "docs/conformance.md is not this table; run this program with --write-docs";
}

/// Every word of the text that begins with `tests/`.
std::vector<std::string> files_named_in(const std::string& text) {
  std::vector<std::string> files;
  for (std::size_t at = text.find("tests/"); at != std::string::npos; at = text.find("tests/", at + 1)) {
    files.push_back(text.substr(at, text.find_first_of(") ,;", at) - at));
  }
  return files;
}

TEST(Table, NamesFilesThatAreThere) {
  const std::filesystem::path root = document.parent_path().parent_path();
  for (const Row& row : rows()) {
    for (const std::string& file : files_named_in(row.reason)) {
      EXPECT_TRUE(std::filesystem::is_regular_file(root / file)) << row.id << " names " << file;
    }
  }
}

TEST(Table, NamesSectionsOfTheListOfDifferences) {
  const std::set<std::string> sections = anchors_of(text_of(document.parent_path() / "differences.md"));
  for (const Row& row : rows()) {
    if (row.verdict == Verdict::different) {
      EXPECT_TRUE(sections.contains(row.section)) << row.id << ": " << row.section;
    }
  }
}

TEST(Table, FindsAMissingRowASecondOneAndOneThatIsNone) {
  std::vector<Row> all = rows();
  std::erase_if(all, [](const Row& row) { return row.id == "H5"; });
  all.push_back({"Y1", "again", "again"});
  all.push_back({"Z9", "no", "no"});
  all.push_back({"H1", "twice", "different", Verdict::different, ""});
  const std::string mistakes = table_mistakes(all);
  for (const char* wanted : {"H5 is missing", "Y1 occurs 2 times", "Z9 is no row", "H1 needs a reason"}) {
    EXPECT_NE(mistakes.find(wanted), std::string::npos) << wanted << " in:\n" << mistakes;
  }
}

TEST(Table, FindsARowWhoseTestDidNotRun) {
  EXPECT_EQ(rows_not_shown({{"Z9", "no", "no"}}), "Z9 is shown by no test that ran and passed\n");
}

/// Only a run of all tests can show that none is missing.
bool everything_ran() { return testing::GTEST_FLAG(filter) == "*"; }

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && std::string_view{argv[1]} == "--write-docs") {
    std::ofstream(document) << as_markdown(rows());
    return 0;
  }
  testing::UnitTest::GetInstance()->listeners().Append(new EachTest);
  crochet::set_diagnostic_sink([](std::string_view line) {
    static std::mutex any_thread;
    const std::lock_guard lock(any_thread);
    said_lines().emplace_back(line);
  });
  const int failed = RUN_ALL_TESTS();
  if (!everything_ran()) return failed;
  const std::string missing = rows_not_shown(rows());
  std::printf("%s%s", missing.c_str(), summary(rows()).c_str());
  return failed != 0 || !missing.empty() ? 1 : 0;
}
