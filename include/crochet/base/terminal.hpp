// SPDX-License-Identifier: Apache-2.0
// Whether standard error is a terminal, and its width.
#pragma once

#if __has_include(<unistd.h>) && __has_include(<sys/ioctl.h>)
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace crochet::detail {

/// Number of columns of the terminal on standard error: 80 if the terminal does not report it, 0 if there is no
/// terminal.
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
