// SPDX-License-Identifier: Apache-2.0
// The flag of a received stop signal, for every loop and every wait of the library: Coordinator::should_stop reads it.
// Only the hook StopOnSignal (crochet/hooks/stop_on_signal.hpp) sets it.
#pragma once

#include <csignal>
#include <string>

#include <crochet/base/atomic.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/message.hpp>

namespace crochet::detail {

/// The number of the received signal; 0 if none. Lock-free, so that a signal handler may store to it.
inline Atomic<int> received_signal{0};

/// The name of the signal: "SIGTERM".
CROCHET_COLD inline std::string name_of_signal(int number) {
  if (number == SIGINT) return "SIGINT";
  if (number == SIGTERM) return "SIGTERM";
  return message({"signal ", number});
}

}  // namespace crochet::detail
