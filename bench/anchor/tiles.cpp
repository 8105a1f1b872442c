// SPDX-License-Identifier: Apache-2.0
#include <crochet/executor/cpu.hpp>

#include "compete.hpp"

bench::Steps bench::compete_with_tiles(const Case& wanted, int threads) {
  return compete(wanted, crochet::Cpu{.threads = threads, .seed = 1});
}
