// SPDX-License-Identifier: Apache-2.0
#include "models.hpp"
#include "on_cpu.hpp"

template void demo::train<demo::Cnn>(const Options& options);
