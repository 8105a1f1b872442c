// SPDX-License-Identifier: Apache-2.0
// The name of a thread, as the operating system has it.
#pragma once

#include <pthread.h>

#include <array>
#include <string>

namespace crochet::debug {

/// The calling thread's: what pthread_setname_np gave it, at first the program's. At most 15 bytes on Linux.
inline std::string thread_name() {
  std::array<char, 64> name{};
  return ::pthread_getname_np(::pthread_self(), name.data(), name.size()) == 0 ? std::string(name.data())
                                                                               : std::string();
}

}  // namespace crochet::debug
