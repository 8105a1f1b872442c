// SPDX-License-Identifier: Apache-2.0
#include "debugging.hpp"
#include "models.hpp"

template void demo::train_debugging<demo::Cnn>(const Options& options);
