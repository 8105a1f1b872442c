// SPDX-License-Identifier: Apache-2.0
#include <crochet/executor/cpu_eigen.hpp>

#include "compete.hpp"

bench::Steps bench::compete_with_eigen(const Case& wanted, int threads) {
  return compete(wanted, crochet::EigenCpu{.threads = threads, .seed = 1});
}
