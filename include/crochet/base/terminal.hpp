// SPDX-License-Identifier: Apache-2.0
// Is standard error a terminal, and how wide?
#pragma once

#if __has_include(<unistd.h>) && __has_include(<sys/ioctl.h>)
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace crochet::detail {

/// The columns of the terminal on standard error; 80 if it does not say, 0 if there is none.
inline int terminal_columns() {
#if __has_include(<unistd.h>) && __has_include(<sys/ioctl.h>)
  if (isatty(STDERR_FILENO) == 0) return 0;
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
#else
  return 0;
#endif
}

}  // namespace crochet::detail
