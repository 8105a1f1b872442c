// SPDX-License-Identifier: Apache-2.0
// Descriptors of files and sockets that stay open.
#pragma once

#if __has_include(<unistd.h>)
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace crochet::detail {

/// The descriptor, or another one for the same file if it is that of standard input, output or error: a program that
/// was started with one of these closed would write its lines into the file. A negative number stays, with errno.
/// Negative, with errno, if the process can have no further descriptor; the file is then closed. Any thread.
inline int beyond_standard_error(int opened) noexcept {
  if (opened < 0 || opened > STDERR_FILENO) return opened;
  const int other = ::fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int why = errno;
  ::close(opened);
  errno = why;
  return other;
}

}  // namespace crochet::detail
#endif
