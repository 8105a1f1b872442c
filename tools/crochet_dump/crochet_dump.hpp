// SPDX-License-Identifier: Apache-2.0
// The program crochet-dump, without its process.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace crochet_dump {

/// Does what the arguments (without the program's name) say. Results go to `out`, complaints to `err`; the exit status
/// is 0, 1 or 2, as `--help` says. Throws nothing.
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace crochet_dump
