// SPDX-License-Identifier: Apache-2.0
// The name of a thread in the operating system.
#pragma once

#include <pthread.h>

#include <array>
#include <string>

namespace crochet::debug {

/// The calling thread's name, as set by pthread_setname_np; by default the program's name. At most 15 bytes on Linux.
inline std::string thread_name() {
  std::array<char, 64> name{};
  return ::pthread_getname_np(::pthread_self(), name.data(), name.size()) == 0 ? std::string(name.data())
                                                                               : std::string();
}

}  // namespace crochet::debug
