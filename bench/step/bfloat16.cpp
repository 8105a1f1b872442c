// SPDX-License-Identifier: Apache-2.0
#include <crochet/executor/cpu/bfloat16.hpp>

#include "steps.hpp"

void bench::add_steps_with_bfloat16() { add_networks("bfloat16", crochet::Bfloat16Cpu{.seed = 1}); }
