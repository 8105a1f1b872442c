// SPDX-License-Identifier: Apache-2.0
// Naps: a Sleep that takes no time.
#pragma once

#include <crochet/base/sleep.hpp>

#include <functional>

namespace crochet::test {

/// Counts the sleeps of a hook, and calls a function in each.
struct Naps {
  Sleep sleep() {
    return [this](double seconds) {
      total += seconds;
      ++count;
      if (in_each) in_each();
    };
  }
  double total = 0;
  int count = 0;
  std::function<void()> in_each{};
};

}  // namespace crochet::test
