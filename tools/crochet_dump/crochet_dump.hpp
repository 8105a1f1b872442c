// SPDX-License-Identifier: Apache-2.0
// The program crochet-dump as a function.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace crochet_dump {

/// Runs the command of the arguments (without the program's name). Results go to `out`, errors to `err`. The exit
/// status is 0, 1 or 2, as `--help` describes. Throws nothing.
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace crochet_dump
