// SPDX-License-Identifier: Apache-2.0
// The trainings, each compiled in its own file: on_cpu.hpp and on_gpu.hpp define them.
#pragma once
#include "options.hpp"

namespace demo {

struct Mlp;
struct Cnn;

/// Trains, evaluates after every epoch, and prints the last accuracy, also for a resumed training that is complete.
template <class Model>
void train(const Options& options);
/// train with hooks that inspect steps.
template <class Model>
void train_debugging(const Options& options);
/// train on a GPU. Throws crochet::DeviceError if there is none, crochet::LogicError if a hook is to inspect steps.
template <class Model>
void train_on_gpu(const Options& options);
/// train on one of several ranks, in a process that a launcher of MPI has started.
template <class Model>
void train_on_ranks(const Options& options);

extern template void train<Mlp>(const Options& options);
extern template void train<Cnn>(const Options& options);
extern template void train_debugging<Mlp>(const Options& options);
extern template void train_debugging<Cnn>(const Options& options);
extern template void train_on_gpu<Mlp>(const Options& options);
extern template void train_on_gpu<Cnn>(const Options& options);
extern template void train_on_ranks<Mlp>(const Options& options);
extern template void train_on_ranks<Cnn>(const Options& options);

}  // namespace demo
