// SPDX-License-Identifier: Apache-2.0
// The training on a GPU, which is compiled in its own file.
#pragma once
#include "options.hpp"

namespace char_lm {

/// Throws crochet::DeviceError if there is no GPU.
void learn_and_write_on_gpu(const Options& options);

}  // namespace char_lm
