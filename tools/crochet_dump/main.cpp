// SPDX-License-Identifier: Apache-2.0
// crochet-dump: reads dumps of the debugger, TensorFlow's or crochet's.
#include <iostream>
#include <string>
#include <vector>

#include "crochet_dump.hpp"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return crochet_dump::run(std::vector<std::string>(argv + (argc > 0), argv + argc), std::cout, std::cerr);
}
