// SPDX-License-Identifier: Apache-2.0
// The two ends of crochet-debugd's terminal: a reader of its output that does not read, and input in the background.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

#include "command_input.hpp"
#include "output.hpp"

namespace tools_crochet_debugd_output_test {

using crochet::debugd::CommandInput;
using crochet::debugd::Output;

/// A pipe whose reader reads nothing until `open`.
class Pager : public std::streambuf {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_writer() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return comes_; });
  }
  std::string text;

 protected:
  std::streamsize xsputn(const char* from, std::streamsize count) override {
    std::unique_lock lock(mutex_);
    comes_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    text.append(from, static_cast<std::size_t>(count));
    return count;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false, comes_ = false;
};

TEST(DebugdOutput, DoesNotWaitForItsReader) {
  Pager pager;
  std::ostream out(&pager);
  {
    Output output{out, false, 8};
    output.line({}, "one");
    pager.wait_for_writer();
    for (const char* line : {"two", "three", "4", "five"}) output.line({}, line);
    EXPECT_EQ(output.unread(0), 5U);
    pager.open();
    EXPECT_EQ(output.unread(60), 0U);
    output.line({}, "six");
  }
  EXPECT_EQ(pager.text, "one\ntwo\n3 lines were dropped: the output was not read\nsix\n");
}

TEST(DebugdOutput, WritesTheNumberOfDroppedLinesAsJson) {
  Pager pager;
  std::ostream out(&pager);
  {
    Output output{out, true, 1};
    output.line({{"event", "a"}}, "");
    output.line({{"event", "b"}}, "");
    pager.open();
  }
  EXPECT_EQ(pager.text, "{\"event\":\"a\"}\n{\"event\":\"dropped\",\"lines\":1}\n");
}

/// Reads `input` to its end.
std::vector<std::string> lines_of(const std::string& input) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
  close(ends[1]);
  CommandInput commands{ends[0]};
  std::vector<std::string> lines;
  while (commands.descriptor() >= 0) {
    commands.read([&](const std::string& line) {
      lines.push_back(line);
      return true;
    });
  }
  close(ends[0]);
  EXPECT_EQ(commands.timeout(), -1);
  return lines;
}
TEST(DebugdInput, HasALineForEachLine) {
  EXPECT_EQ(lines_of("list\nquit"), (std::vector<std::string>{"list", "quit"}));
  EXPECT_EQ(lines_of("list\n\n"), (std::vector<std::string>{"list", ""}));
  EXPECT_EQ(lines_of(""), std::vector<std::string>());
}
TEST(DebugdInput, EndsWithTheFirstLineThatEndsIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "quit\nlist\n", 10), 10);
  CommandInput commands{ends[0]};
  EXPECT_FALSE(commands.read([](const std::string& line) { return line != "quit"; }));
  close(ends[0]), close(ends[1]);
}

/// In the background of its terminal: 0 if it reads nothing, and all in the foreground.
int reads_in_the_foreground(int terminal) {
  setpgid(0, 0);
  std::string got;
  const auto act = [&](const std::string& line) {
    got += line;
    return true;
  };
  CommandInput commands{terminal};
  if (commands.descriptor() != -1 || commands.timeout() < 0) return 1;
  if (!commands.read(act) || !got.empty()) return 2;
  std::signal(SIGTTOU, SIG_IGN);
  tcsetpgrp(terminal, getpgrp());
  if (commands.descriptor() != terminal || commands.timeout() != -1) return 3;
  return commands.read(act) && got == "list" ? 0 : 4;
}
/// The status of a process in the background of a new terminal, on which "list" has been typed.
int status_in_the_background(int keyboard) {
  setsid();
  const int terminal = open(ptsname(keyboard), O_RDWR);  // of this session from here on
  if (terminal < 0 || write(keyboard, "list\n", 5) != 5) return 10;
  const pid_t job = fork();
  if (job == 0) _exit(reads_in_the_foreground(terminal));
  int status = 0;
  waitpid(job, &status, WUNTRACED);
  if (WIFSTOPPED(status)) kill(job, SIGKILL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 11;
}
TEST(DebugdInput, IsNotReadInTheBackgroundOfATerminal) {
  const int keyboard = posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_TRUE(keyboard >= 0 && grantpt(keyboard) == 0 && unlockpt(keyboard) == 0);
  const pid_t shell = fork();
  if (shell == 0) _exit(status_in_the_background(keyboard));
  int status = 0;
  ASSERT_EQ(waitpid(shell, &status, 0), shell);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(keyboard);
}

}  // namespace tools_crochet_debugd_output_test
