// SPDX-License-Identifier: Apache-2.0
#include "models.hpp"
#include "on_ranks.hpp"

template void demo::train_on_ranks<demo::Cnn>(const Options& options);
