// SPDX-License-Identifier: Apache-2.0
// The signal that asked the program to stop, for every loop and every wait of the library: Coordinator::should_stop
// looks at it. Set by the hook StopOnSignal (crochet/hooks/stop_on_signal.hpp); without it nobody sets it.
#pragma once

#include <csignal>
#include <string>

#include <crochet/base/atomic.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/message.hpp>

namespace crochet::detail {

/// The number of the signal, 0 while there was none. Lock-free, so that a signal handler may store to it.
inline Atomic<int> stop_signal{0};

/// "SIGTERM".
CROCHET_COLD inline std::string name_of_signal(int number) {
  if (number == SIGINT) return "SIGINT";
  if (number == SIGTERM) return "SIGTERM";
  return message({"signal ", number});
}

}  // namespace crochet::detail
