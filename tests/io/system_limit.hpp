// SPDX-License-Identifier: Apache-2.0
// A smaller limit of the operating system for this process, as on a full disk or in a process without descriptors.
#pragma once

#include <cerrno>
#include <csignal>
#include <system_error>

#include <sys/resource.h>

namespace crochet::test {

/// While it lives, the soft limit of `resource` (RLIMIT_NOFILE, RLIMIT_FSIZE, ...) is `most`. Throws std::system_error
/// if the limit cannot be set. A sanitizer needs descriptors to check the type of an object at its first use: use an
/// error's text where RLIMIT_NOFILE is as before, and each of the other types once before.
class SystemLimit {
 public:
  SystemLimit(__rlimit_resource resource, rlim_t most) : resource_(resource) {
    getrlimit(resource, &before_);
    set({.rlim_cur = most, .rlim_max = before_.rlim_max});
  }
  SystemLimit(const SystemLimit&) = delete;
  SystemLimit& operator=(const SystemLimit&) = delete;
  ~SystemLimit() { setrlimit(resource_, &before_); }

 private:
  void set(const rlimit& limit) const {
    if (setrlimit(resource_, &limit) != 0) throw std::system_error(errno, std::generic_category(), "setrlimit");
  }

  __rlimit_resource resource_;
  rlimit before_{};
};

/// While it lives, no file may grow beyond the given size in bytes, and a write that would is an error, not a signal.
class FilesMayNotGrow {
 public:
  explicit FilesMayNotGrow(rlim_t bytes) : limit_(RLIMIT_FSIZE, bytes) {}
  FilesMayNotGrow(const FilesMayNotGrow&) = delete;
  FilesMayNotGrow& operator=(const FilesMayNotGrow&) = delete;
  ~FilesMayNotGrow() { std::signal(SIGXFSZ, signal_); }

 private:
  void (*signal_)(int) = std::signal(SIGXFSZ, SIG_IGN);
  SystemLimit limit_;
};

}  // namespace crochet::test
