// SPDX-License-Identifier: Apache-2.0
// gpu_steps [--filter TEXT] [--seconds S]: microseconds of a training step of W1 to W6 on a GPU.
#include "steps.hpp"

int main(int count, char** words) {
  return bench::program(count, words, [](const bench::Options& options) {
    bench::steps_of_mlp(options);
    bench::steps_of_cnn(options);
    bench::steps_of_encoder(options);
    bench::steps_of_other(options);
    bench::steps_of_wide(options);
  });
}
