// SPDX-License-Identifier: Apache-2.0
// Descriptors of files and sockets that stay open.
#pragma once

#if __has_include(<unistd.h>)
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace crochet::detail {

/// The descriptor, or another one for the same file if it is that of standard input, output or error. A program that
/// was started with one of these closed would write its lines into the file. Negative, with errno: of a failed open, or
/// no further descriptor. Any thread.
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
