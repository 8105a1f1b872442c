// SPDX-License-Identifier: Apache-2.0
// The text of an error of use.
#pragma once

#include <string>

#include <crochet/base/error.hpp>

namespace crochet::test {

/// The text of the LogicError that `act` throws; empty if it throws none.
template <class Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const LogicError& error) {
    return error.what();
  }
  return "";
}

}  // namespace crochet::test
