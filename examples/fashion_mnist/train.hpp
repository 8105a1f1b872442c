// SPDX-License-Identifier: Apache-2.0
// The trainings, each compiled in a file of its own: training.hpp and debugging.hpp have them.
#pragma once
#include "options.hpp"

namespace demo {

struct Mlp;
struct Cnn;

/// Trains, evaluates after every epoch, and prints the last accuracy, also when a resumed training was finished.
template <class Model>
void train(const Options& options);
/// The same under hooks that look into steps.
template <class Model>
void train_debugging(const Options& options);

extern template void train<Mlp>(const Options& options);
extern template void train<Cnn>(const Options& options);
extern template void train_debugging<Mlp>(const Options& options);
extern template void train_debugging<Cnn>(const Options& options);

}  // namespace demo
