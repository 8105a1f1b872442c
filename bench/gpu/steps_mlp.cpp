// SPDX-License-Identifier: Apache-2.0
// W1: an MLP 784-128-10 under SGD.
#include "steps.hpp"

namespace bench {
namespace {

template <std::int64_t Batch>
void steps(const Options& options) {
  using Fed = Mlp<crochet::SGD>;
  using Resident = Mlp<crochet::SGD, Batch, Data::resident>;
  measure_training<Resident, Fed>("W1 b" + std::to_string(Batch), options, pixels(Batch * 784), classes(Batch));
}

}  // namespace

void steps_of_mlp(const Options& options) {
  steps<1>(options);
  if constexpr (is_gpu) {
    steps<32>(options);
    steps<128>(options);
    steps<1024>(options);
  }
}

}  // namespace bench
