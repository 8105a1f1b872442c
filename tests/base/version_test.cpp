// SPDX-License-Identifier: Apache-2.0
// The macros and the package state the same version.
#include <crochet/crochet.hpp>

#include <gtest/gtest.h>

#include <string>

namespace version_test {

TEST(Version, OfTheMacrosIsThatOfThePackage) {
  const std::string macros = std::to_string(CROCHET_VERSION_MAJOR) + "." + std::to_string(CROCHET_VERSION_MINOR) + "." +
                             std::to_string(CROCHET_VERSION_PATCH);
  EXPECT_EQ(macros, CROCHET_PACKAGE_VERSION);
}

}  // namespace version_test
