// SPDX-License-Identifier: Apache-2.0
#include <crochet/executor/cpu/eigen.hpp>

#include "steps.hpp"

void bench::add_steps_with_eigen() { add_networks("eigen", crochet::EigenCpu{.seed = 1}); }
