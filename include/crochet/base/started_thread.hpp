// SPDX-License-Identifier: Apache-2.0
// started_thread: a thread, or an exception of this library.
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>

namespace crochet::detail {

/// A Thread (std::thread or std::jthread) that calls `body`. Throws ResourceExhaustedError if the system cannot start
/// one; `what`: "the events of /tmp/run".
template <class Thread, class Body>
CROCHET_COLD Thread started_thread(std::string_view what, Body body) {
  try {
    return Thread(std::move(body));
  } catch (const std::system_error& error) {
    throw ResourceExhaustedError("crochet: the system cannot start a thread for " + std::string(what) + ": " +
                                 error.code().message() + "; raise the limit of processes (ulimit -u) or free memory");
  }
}

}  // namespace crochet::detail
