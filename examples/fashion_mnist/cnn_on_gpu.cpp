// SPDX-License-Identifier: Apache-2.0
#include "models.hpp"
#include "on_gpu.hpp"

template void demo::train_on_gpu<demo::Cnn>(const Options& options);
