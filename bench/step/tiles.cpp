// SPDX-License-Identifier: Apache-2.0
#include <crochet/executor/cpu.hpp>

#include "steps.hpp"

void bench::add_steps_with_tiles() { add_networks("tiles", crochet::Cpu{.seed = 1}); }
