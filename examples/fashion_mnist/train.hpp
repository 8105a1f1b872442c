// SPDX-License-Identifier: Apache-2.0
// The two trainings, each compiled in a file of its own: training.hpp has them.
#pragma once
#include "options.hpp"

namespace demo {

struct Mlp;
struct Cnn;

/// Trains, evaluates after every epoch, and prints the last accuracy.
template <class Model>
void train(const Options& options);

extern template void train<Mlp>(const Options& options);
extern template void train<Cnn>(const Options& options);

}  // namespace demo
