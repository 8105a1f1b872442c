// SPDX-License-Identifier: Apache-2.0
// CsvLogger, JsonLinesLogger: rows of values in files.
#include <crochet/crochet.hpp>
#include <crochet/hook/describe.hpp>
#include <crochet/hooks/csv_logger.hpp>
#include <crochet/hooks/io/json_lines_logger.hpp>
#include <crochet/hooks/isolated.hpp>
#include <crochet/testing.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../io/current_folder.hpp"
#include "../../io/process.hpp"
#include "../../io/system_limit.hpp"
#include "../../io/temporary_folder.hpp"

namespace row_logger_test {

namespace cr = crochet;
using cr::value;
using cr::test::TemporaryFolder;
using cr::testing::ManualClock;
using cr::testing::Script;
using nlohmann::json;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void put(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
/// The part of a session or run that the hooks use: its step.
struct StartsAt {
  [[nodiscard]] std::int64_t step() const { return at; }
  std::int64_t at;
};

TEST(CsvField, IsQuotedOnlyWhereItHasTo) {
  EXPECT_EQ(cr::io::csv_field("loss"), "loss");
  EXPECT_EQ(cr::io::csv_field("a b;c"), "a b;c");
  EXPECT_EQ(cr::io::csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(cr::io::csv_field("say \"no\""), "\"say \"\"no\"\"\"");
  EXPECT_EQ(cr::io::csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(cr::io::csv_field(""), "");
}

TEST(CsvRow, WritesEachNanAsNan) {
  cr::io::CsvRow row(1);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  row.add("a", nan);
  row.add("b", std::copysign(nan, -1.0));  // 0.0 / 0 on x86
  row.add("c", std::copysign(static_cast<float>(nan), -1.0F));
  row.add("d", -std::numeric_limits<double>::infinity());
  EXPECT_EQ(row.text(), "1,nan,nan,nan,-inf");
}

TEST(RowFile, OfALinkIsTheFileThatItRefersTo) {
  const TemporaryFolder folder;
  const auto path = folder / "log.csv", target = folder / "target.csv";
  put(target, "step,loss\n1,0.5\n2,0.25\n");
  std::filesystem::create_symlink(target, path);
  cr::io::RowFile::resume(path, "step,loss", 1,
                          [](std::string_view line) { return std::optional<std::int64_t>(line.front() - '0'); });
  EXPECT_TRUE(std::filesystem::is_symlink(path));
  EXPECT_EQ(text_of(target), "step,loss\n1,0.5\n");
}

TEST(CsvLogger, StaysInItsFolderWhenTheProgramEntersAnother) {
  const TemporaryFolder here, there;
  std::optional<decltype(Script{cr::CsvLogger<"loss">{}})> run;
  {
    const cr::test::CurrentFolder current{here.path()};
    run.emplace(cr::CsvLogger<"loss">{.path = "log.csv", .every_steps = 1});
    run->step(value<"loss">(0.5F));
  }
  const cr::test::CurrentFolder current{there.path()};
  run->step(value<"loss">(0.25F));
  EXPECT_EQ(text_of(here / "log.csv"), "step,loss\n1,0.5\n2,0.25\n");
  EXPECT_TRUE(std::filesystem::is_empty(there.path()));
}

TEST(CsvLogger, WithEpochsRefusesAValueOfThatName) {
  cr::CsvLogger<"loss", "epoch"> epochs{.path = "log.csv", .every_epochs = 1}, steps{.path = "log.csv"};
  EXPECT_THROW(epochs.begin(), cr::LogicError);
  EXPECT_NO_THROW(steps.begin());
}

TEST(RowFile, LeavesNothingOfALineThatFails) {
  const TemporaryFolder folder;
  const auto path = folder / "log.csv";
  cr::io::RowFile::create(path, "step,loss");
  cr::io::RowFile::append(path, "1,0.5", "step,loss");
  {
    const crochet::test::FilesMayNotGrow full{text_of(path).size() + 3};
    EXPECT_THROW(cr::io::RowFile::append(path, "2,0.25", "step,loss"), cr::IoError);
  }
  cr::io::RowFile::append(path, "3,0.125", "step,loss");
  EXPECT_EQ(text_of(path), "step,loss\n1,0.5\n3,0.125\n") << "else a row would begin in the middle of another";
}

TEST(RowFile, LeavesNothingOfAFirstLineThatFails) {
  const TemporaryFolder folder;
  const auto path = folder / "log.csv";
  using Call = void (*)(const std::filesystem::path&);
  for (const Call begin : {Call{[](const auto& to) { cr::io::RowFile::create(to, "step,loss"); }},
                           Call{[](const auto& to) { cr::io::RowFile::append(to, "1,0.5", "step,loss"); }}}) {
    std::filesystem::remove(path);
    bool failed = false;
    {
      const crochet::test::FilesMayNotGrow full{3};  // this holds for the test's output, too
      try {
        begin(path);
      } catch (const cr::IoError&) {
        failed = true;
      }
    }
    EXPECT_TRUE(failed);
    cr::io::RowFile::append(path, "2,0.25", "step,loss");
    EXPECT_EQ(text_of(path), "step,loss\n2,0.25\n");
  }
}

TEST(RowFile, ResumesAFileWhoseFirstLineIsIncomplete) {
  const TemporaryFolder folder;
  const auto path = folder / "log.csv";
  for (const std::string part : {"", "step,lo", "step,loss"}) {
    put(path, part);
    cr::io::RowFile::resume(path, "step,loss", 0, [](std::string_view) { return std::optional<std::int64_t>{}; });
    EXPECT_EQ(text_of(path), "step,loss\n") << part;
  }
}

TEST(CsvLogger, WritesARowEveryNSteps) {
  const TemporaryFolder folder;
  Script run{cr::CsvLogger<"loss", "good, or not", "count">{.path = folder / "sub/log.csv", .every_steps = 2}};
  EXPECT_EQ(text_of(folder / "sub/log.csv"), "step,loss,\"good, or not\",count\n") << "at once";
  for (const float loss : {0.5f, 0.1f, 1e-8f, std::numeric_limits<float>::quiet_NaN()}) {
    run.step(value<"loss">(loss), value<"good, or not">(loss < 0.2f), value<"count">(std::int64_t{7}));
  }
  EXPECT_EQ(text_of(folder / "sub/log.csv"), "step,loss,\"good, or not\",count\n2,0.1,1,7\n4,nan,0,7\n");
}

TEST(CsvLogger, FetchesOnlyWhenARowIsDue) {
  const TemporaryFolder folder;
  Script run{cr::CsvLogger<"loss">{.path = folder / "log.csv", .every_steps = 3}, value<"loss">(0.5)};
  std::string fetched;
  for (int i = 0; i < 6; ++i) {
    run.step();
    fetched += run.fetched().empty() ? '.' : 'x';
  }
  EXPECT_EQ(fetched, "..x..x");
  EXPECT_EQ(run.log().reads["loss"], 2);
}

TEST(CsvLogger, BeginsARemovedFileAnewWithItsHeader) {
  const TemporaryFolder folder;
  const auto path = folder / "sub/log.csv";
  cr::testing::RecordingSink log;
  Script run{cr::CsvLogger<"loss">{.path = path, .every_steps = 1, .sink = log}, value<"loss">(2)};
  run.step();
  std::filesystem::remove(path);
  run.step();
  EXPECT_EQ(text_of(path), "step,loss\n2,2\n") << "without a header the next start refuses the file";
  put(path, "");
  run.step();
  EXPECT_EQ(text_of(path), "step,loss\n3,2\n");
  std::filesystem::remove_all(path.parent_path());
  run.step();
  run.step();
  EXPECT_EQ(text_of(path), "step,loss\n4,2\n5,2\n");
  ASSERT_EQ(log.lines().size(), 3U);
  EXPECT_EQ(log.lines()[0],
            "crochet: " + path.string() + " was removed or emptied while it was in use; it begins anew at step 2");
}

TEST(CsvLogger, OfTwoProcessesDoNotWriteOneFile) {
  const TemporaryFolder folder;
  const auto start = [&](const char* name) {
    static auto& kept = *new std::vector<cr::CsvLogger<"loss">>;
    kept.push_back({.path = folder / name, .every_steps = 1});
    cr::Coordinator coordinator;
    StartsAt session{0};
    kept.back().begin();
    kept.back().after_create_session(session, coordinator);
    return std::string("begun");
  };
  cr::test::Process first{[&] { return start("log.csv"); }};
  ASSERT_EQ(first.report(), "begun");
  put(folder / "log.csv", "step,loss\n1,1\n");
  try {
    start("log.csv");
    ADD_FAILURE() << "two processes write one file";
  } catch (const cr::FailedPreconditionError& error) {
    EXPECT_EQ(std::string(error.what()), "crochet: " + (folder / "log.csv").string() + " is in use by " + first.name() +
                                             "; end that program, or give this one another path");
  }
  EXPECT_EQ(text_of(folder / "log.csv"), "step,loss\n1,1\n") << "not even its old rows are touched";
  EXPECT_EQ(start("other.csv"), "begun") << "a file beside it is free";
  first.kill();
  EXPECT_EQ(start("log.csv"), "begun");
}

TEST(RowFile, OfALinkHasTheLockOfTheFileThatItRefersTo) {
  const TemporaryFolder folder;
  const auto a = folder / "a", b = folder / "b";
  for (const auto& one : {a, b}) {
    std::filesystem::create_directory(one);
    std::filesystem::create_symlink(folder / "log.csv", one / "log.csv");
  }
  const cr::io::PathLock lock = cr::io::RowFile::own(a / "log.csv");
  const cr::test::Process other{[&] {
    cr::io::RowFile::own(b / "log.csv");
    return std::string{};
  }};
  EXPECT_NE(other.report().find("log.csv is in use by process "), std::string::npos) << other.report();
}

TEST(RowFile, IsTheSameFileWhenItIsCutOff) {
  const TemporaryFolder folder;
  const auto path = folder / "log.csv", other = folder / "hard link";
  put(path, "step,loss\n1,0.5\n2,0.25\n");
  std::filesystem::create_hard_link(path, other);
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  cr::io::RowFile::resume(path, "step,loss", 1, &cr::io::CsvRow::step_of);
  EXPECT_EQ(text_of(other), "step,loss\n1,0.5\n");
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(RowFile, RefusesANamedPipe) {
  const TemporaryFolder folder;
  const auto path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(cr::io::RowFile::own(path), cr::IoError);
  EXPECT_THROW(cr::io::RowFile::create(path, "step"), cr::IoError);
}

// As with `program > file`: lines of the program are in the file too.
TEST(RowFile, OfTheStandardOutputOnlyAppends) {
  const TemporaryFolder folder;
  const auto file = folder / "output";
  const cr::test::Process program{[&] {
    const int output = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (::dup2(output, STDOUT_FILENO) < 0 || ::write(output, "begins\n", 7) != 7) return std::string{"no file"};
    const bool locked = cr::io::RowFile::own("/dev/stdout").taken();
    cr::io::RowFile::resume("/dev/stdout", "step,loss", 0, &cr::io::CsvRow::step_of);
    cr::io::RowFile::append("/dev/stdout", "1,0.5", "step,loss");
    return std::string{locked ? "locked" : "done"};
  }};
  EXPECT_EQ(program.report(), "done");
  EXPECT_EQ(text_of(file), "begins\nstep,loss\n1,0.5\n");
}

TEST(CsvLogger, InAFolderThatWasRemovedIsAnIoError) {
  const TemporaryFolder folder;
  const auto gone = folder / "gone";
  std::filesystem::create_directory(gone);
  const cr::test::CurrentFolder current{gone};
  std::filesystem::remove(gone);
  cr::CsvLogger<"loss"> logger{.path = "log.csv"};
  EXPECT_THROW(logger.begin(), cr::IoError);
}

TEST(RowFile, OfADeviceHasNoLock) { EXPECT_FALSE(cr::io::RowFile::own("/dev/null").taken()); }

TEST(CsvLogger, WritesToADevice) {
  Script run{cr::CsvLogger<"loss">{.path = "/dev/null", .every_steps = 1}, value<"loss">(2)};
  run.step();
  run.end();
}

TEST(CsvLogger, BySeconds) {
  const TemporaryFolder folder;
  ManualClock clock{9};
  Script run{cr::CsvLogger<"loss">{.path = folder / "log.csv", .every_seconds = 10, .clock = clock}, value<"loss">(2)};
  for (int i = 0; i < 5; ++i) {
    clock.advance(4);
    run.step();
  }
  EXPECT_EQ(text_of(folder / "log.csv"), "step,loss\n3,2\n") << "at 12 s; the next would be at 22 s";
}

TEST(CsvLogger, AResumedFileIsThatOfAnUndisturbedRun) {
  const TemporaryFolder folder;
  const auto path = folder / "log.csv";
  put(path, "step,loss\n100,1\n200,2\n300,3\n400,4\n50");  // saved at step 250, killed at 500
  cr::CsvLogger<"loss"> hook{.path = path, .every_steps = 100};
  cr::Coordinator coordinator;
  StartsAt session{250};
  hook.begin();
  hook.after_create_session(session, coordinator);
  EXPECT_EQ(text_of(path), "step,loss\n100,1\n200,2\n");
  StartsAt run{298};
  EXPECT_FALSE(hook.before_run(run));
  run.at = 299;
  EXPECT_TRUE(hook.before_run(run)) << "at 300 again, not at 350";
}

TEST(CsvLogger, AfterARecoveryTooAndEvenIfItWasToldToReplaceTheFile) {
  const TemporaryFolder folder;
  const auto path = folder / "log.csv";
  put(path, "step,loss\n5,5\n");
  cr::CsvLogger<"loss"> hook{.path = path, .every_steps = 1, .resume = false};
  cr::Coordinator coordinator;
  StartsAt session{0};
  hook.begin();
  hook.after_create_session(session, coordinator);
  EXPECT_EQ(text_of(path), "step,loss\n");
  cr::io::RowFile::append(path, "1,1", "step,loss");
  cr::io::RowFile::append(path, "2,2", "step,loss");
  session.at = 1;
  hook.after_create_session(session, coordinator);
  EXPECT_EQ(text_of(path), "step,loss\n1,1\n");
}

template <class Act>
std::string error_of(Act act) {
  try {
    act();
  } catch (const cr::Error& error) {
    return error.what();
  }
  return "";
}

TEST(CsvLogger, ErrorsNameTheFileAndTheCause) {
  const TemporaryFolder folder;
  const auto path = folder / "log.csv";
  put(path, "step,accuracy\n");
  const auto opens = [&](const std::filesystem::path& at) {
    return error_of([&] { Script{cr::CsvLogger<"loss">{.path = at}, value<"loss">(1.0)}; });
  };
  EXPECT_EQ(opens(path), "crochet: cannot write " + path.string() +
                             ": it exists and begins otherwise than with step,loss; give another path, or have it "
                             "replaced");
  EXPECT_NE(opens(path / "below").find("Not a directory"), std::string::npos);
  EXPECT_NE(opens(folder.path()).find(folder.path().string()), std::string::npos) << "a folder";
  EXPECT_NE(opens("").find("set the path"), std::string::npos);
  EXPECT_NE(error_of([&] { cr::CsvLogger<"loss">{.path = path, .every_steps = 0}.begin(); }), "");
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_NE(error_of([] { cr::io::RowFile::append("/dev/full", "1,2", ""); }).find("No space left"),
              std::string::npos);
  }
}

TEST(JsonLinesLogger, LeavesTheFileOfAnotherProgramAsItIs) {
  const TemporaryFolder folder;
  const auto path = folder / "notes.txt";
  put(path, "{\"step\":1,\"loss\":2}\nbuy milk\n");
  EXPECT_EQ(error_of([&] {
              Script{cr::JsonLinesLogger<"loss">{.path = path}, value<"loss">(1.0)};
            }),
            "crochet: cannot write " + path.string() +
                ": it exists, and a line of it has no step; give another path, or have it replaced");
  EXPECT_EQ(text_of(path), "{\"step\":1,\"loss\":2}\nbuy milk\n");
  put(path, "{\"rate\":0.1}");  // without an end of the line
  EXPECT_NE(error_of([&] { Script{cr::JsonLinesLogger<"loss">{.path = path}, value<"loss">(1.0)}; }), "");
  EXPECT_EQ(text_of(path), "{\"rate\":0.1}");
}

TEST(JsonLinesLogger, WritesAnObjectInEachLine) {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  const std::vector<float> cells{3, 0, 1, 4, 0.1f, std::numeric_limits<float>::infinity()};
  const cr::TensorView<float, 2> table{cells.data(), {2, 3}};
  Script run{cr::JsonLinesLogger<"loss", "table", "say \"\n\"", "many">{.path = path, .every_steps = 2}};
  for (int i = 0; i < 4; ++i) {
    run.step(value<"loss">(static_cast<float>(i) / 10.0f), value<"table">(table), value<"say \"\n\"">(i == 1),
             value<"many">(std::array<int, 2>{i, i}));
  }
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], R"({"step":2,"loss":0.1,"table":[[3.0,0.0,1.0],[4.0,0.1,null]],"say \"\n\"":true,"many":[1,1]})");
  EXPECT_EQ(json::parse(lines[1])["loss"].get<float>(), 0.3f);
}

TEST(JsonLinesLogger, GoesBackToTheStepOfTheSession) {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  const std::string kept = "{\"step\":1,\"loss\":1}\n{\"loss\":2,\"step\":2}\n";
  put(path, kept + "{\"step\":3}\n\n{\"st");
  cr::io::RowFile::resume(path, "", 2, &cr::io::JsonRow::step_of);
  EXPECT_EQ(text_of(path), kept);
  for (const std::string line : {"[1]\n", "{\"step\":2.5}\n", "not json\n"}) {
    put(path, kept + line);
    EXPECT_THROW(cr::io::RowFile::resume(path, "", 1, &cr::io::JsonRow::step_of), cr::IoError) << line;
    EXPECT_EQ(text_of(path), kept + line) << "unchanged";
  }
}

TEST(JsonRow, HasNoStepBeyondTheirType) {
  EXPECT_EQ(cr::io::JsonRow::step_of(R"({"step":9223372036854775807})"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(cr::io::JsonRow::step_of(R"({"step":-9223372036854775808})"), std::numeric_limits<std::int64_t>::min());
  for (const char* const line : {R"({"step":9223372036854775808})", R"({"step":18446744073709551615})",
                                 R"({"step":1.0})", R"({"loss":1})", "[1]", "{"}) {
    EXPECT_EQ(cr::io::JsonRow::step_of(line), std::nullopt) << line;
  }
}

TEST(RowLoggers, HaveTheNamesThatProgramsWrite) {
  const cr::HookChain chain{cr::CsvLogger<"loss", "accuracy">{.path = "a.csv"},
                            cr::Isolated{cr::JsonLinesLogger<"loss">{.path = "a.jsonl"}}};
  const std::string table = cr::describe(chain);
  EXPECT_NE(table.find("CsvLogger<\"loss\", \"accuracy\">"), std::string::npos) << table;
  EXPECT_NE(table.find("JsonLinesLogger<\"loss\">"), std::string::npos) << table;
  EXPECT_EQ(table.find("RowLogger"), std::string::npos) << table;
}

TEST(RowLoggers, KeepTheLaws) {
  const TemporaryFolder folder;
  cr::testing::LawOptions options{.says = [&] { return text_of(folder / "log"); }};
  options.except = {"copies", "begin"};  // all write one file, so a later session reads earlier rows
  const auto falling = cr::testing::series<"loss">(5.0f, 4.0f, 3.0f, 2.0f);
  EXPECT_EQ(
      broken_laws(cr::CsvLogger<"loss">{.path = folder / "log", .every_steps = 3, .resume = false}, options, falling),
      "");
  EXPECT_EQ(broken_laws(cr::JsonLinesLogger<"loss">{.path = folder / "log", .every_steps = 3, .resume = false}, options,
                        falling),
            "");
}

}  // namespace row_logger_test
