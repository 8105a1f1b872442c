// SPDX-License-Identifier: Apache-2.0
// HookLaws: a test of hooks against the laws, with a clock and a sink for the hooks. Its program includes
// counting_new.hpp.
#pragma once

#include <crochet/testing.hpp>
#include <crochet/testing/counting_new.hpp>

#include <gtest/gtest.h>

namespace crochet::test {

class HookLaws : public ::testing::Test {
 protected:
  testing::ManualClock clock{};
  testing::RecordingSink sink{};
  testing::LawOptions all{.says = [this] { return sink.text(); },
                          .before_step = [this](int step) { clock.set(step); },
                          .allocations = testing::allocations};
};

}  // namespace crochet::test
