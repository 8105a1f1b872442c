// SPDX-License-Identifier: Apache-2.0
// A second process of a test: it calls a function, reports the result, and lives until the test ends it.
#pragma once

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace crochet::test {

class Process {
 public:
  /// Forks. The child calls `act`. report() is its return value, or the message of its exception.
  explicit Process(const std::function<std::string()>& act) {
    int report[2], life[2];
    if (::pipe(report) != 0 || ::pipe(life) != 0) std::perror("pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(report[0]);
      ::close(life[1]);
      run(act, report[1], life[0]);
    }
    ::close(report[1]);
    ::close(life[0]);
    life_ = life[1];
    char byte = 0;
    while (::read(report[0], &byte, 1) == 1 && byte != '\0') report_ += byte;
    ::close(report[0]);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { end(); }

  /// The report of the child. The child still lives, with every object that `act` did not destroy.
  const std::string& report() const { return report_; }
  pid_t pid() const { return pid_; }
  std::string name() const { return "process " + std::to_string(pid_); }

  /// Kills the child and waits for its end.
  void kill() {
    ::kill(pid_, SIGKILL);
    end();
  }
  /// Ends the child without destructors and waits for its end.
  void end() {
    if (pid_ <= 0) return;
    ::close(life_);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

 private:
  [[noreturn]] static void run(const std::function<std::string()>& act, int report, int life) {
    std::string text;
    try {
      text = act();
    } catch (const std::exception& error) {
      text = error.what();
    }
    text += '\0';
    if (::write(report, text.data(), text.size()) < 0) ::_exit(1);
    ::close(report);
    char byte = 0;
    while (::read(life, &byte, 1) > 0) {
    }
    ::_exit(0);
  }

  pid_t pid_ = -1;
  int life_ = -1;
  std::string report_;
};

}  // namespace crochet::test
