// SPDX-License-Identifier: Apache-2.0
// CommandInput: the lines of commands that come from a file descriptor.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace crochet::debugd {

/// Commands from a file, a pipe or a terminal, for poll(). A program in the background of its terminal reads nothing,
/// since the system would stop it with all its streams; the terminal's input is the shell's. It reads when it is in the
/// foreground. The program ignores SIGTTIN, because the shell may move it between a look and the read.
class CommandInput {
 public:
  explicit CommandInput(int file) : file_(file) {}

  /// For poll(): the descriptor; -1, which poll() leaves out, in the background and at the end of the input.
  [[nodiscard]] int descriptor() const { return ended_ || in_background() ? -1 : file_; }
  /// For poll(): the milliseconds until descriptor() may change; -1: it does not.
  [[nodiscard]] int timeout() const { return !ended_ && in_background() ? 1000 : -1; }

  /// Reads what there is, and calls act(line) for each line; the last one may have no end. Returns false when an act
  /// does. A line is cut behind 64 KiB.
  template <class Act>
  bool read(const Act& act) {
    if (in_background()) return true;
    char bytes[4096];
    const ssize_t count = ::read(file_, bytes, sizeof bytes);
    if (count < 0 && (errno == EINTR || (errno == EIO && in_background()))) return true;
    if (count <= 0) {
      ended_ = true;
      return line_.empty() || act(std::exchange(line_, {}));
    }
    return take({bytes, static_cast<std::size_t>(count)}, act);
  }

 private:
  template <class Act>
  bool take(std::string_view bytes, const Act& act) {
    bool goes_on = true;
    for (const char c : bytes) {
      if (c != '\n') {
        if (line_.size() < 65'536) line_ += c;
      } else if (!act(std::exchange(line_, {}))) {
        goes_on = false;
      }
    }
    return goes_on;
  }
  /// Whether the file is the terminal of this process, and another group of processes has it.
  [[nodiscard]] bool in_background() const {
    const pid_t front = tcgetpgrp(file_);
    return front >= 0 && front != getpgrp();
  }

  int file_;
  std::string line_;  ///< incomplete
  bool ended_ = false;
};

}  // namespace crochet::debugd
