// SPDX-License-Identifier: Apache-2.0
// The parts of the program, one translation unit each.
#pragma once

namespace bench {

void add_steps_with_tiles();
void add_steps_with_eigen();
void add_steps_with_bfloat16();
void add_session_overhead();

}  // namespace bench
